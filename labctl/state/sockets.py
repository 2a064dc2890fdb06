"""The loopback ports that are free, and those that a lab may keep permanently."""

from __future__ import annotations

import os
import pwd
import random
import re
from pathlib import Path

import psutil

from labctl.errors import ExitCode, LabError
from labctl.state.holds import LOOPBACK, bindable
from labctl.state.listeners import listeners_on

__all__ = [
    "EPHEMERAL_RANGE",
    "LOOPBACK",
    "RANGE_VARIABLE",
    "free_port",
    "is_free",
    "kept_range",
    "own_range",
    "owner_of",
]

EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST_KEPT = 20_000
"""Lower ports include the well-known ports of programs."""
RANGE_VARIABLE = "LABCTL_PORTS"
"""Variable with a range such as `20000-23999`; a new lab takes its ports only from that range. Two
programs that start labs with separate state folders can use separate ranges. Then neither takes a
port of the other's stopped service."""


def is_free(port: int) -> bool:
    """Return whether this process could listen on `port` now and clients would reach only it.

    The port must be free on the loopback addresses of both families: many clients resolve
    `localhost` to `::1`.
    """
    return bindable(port)


def owner_of(port: int) -> str:
    """Describe the process that has `port`, as far as visible: `name (process 123)`."""
    for connection in psutil.net_connections(kind="tcp"):
        if connection.status != psutil.CONN_LISTEN or tuple(connection.laddr)[1:2] != (port,):
            continue
        if connection.pid is None:
            return _user_at(port)
        try:
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
        except psutil.Error:
            return _user_at(port)
    return "a process that listens to nobody now, such as the supervisor of another lab"


def _user_at(port: int) -> str:
    """Describe `port`'s listener by its user, which the kernel shows to every user."""
    for listener in listeners_on(port):
        try:
            return f"a process of user {pwd.getpwuid(listener.user_id).pw_name}"
        except KeyError:
            return f"a process of the user with the id {listener.user_id}"
    return "another process"


def free_port(taken: set[int]) -> int:
    """Return a random free port below the ephemeral range, so that it can be kept.

    A client might use an ephemeral port when the service starts the next time.
    Raises LabError (ENVIRONMENT) if no port is free.
    """
    candidates = own_range() or kept_range()
    for port in random.sample(candidates, len(candidates)):
        if port not in taken and is_free(port):
            return port
    raise LabError(
        f"No port from {candidates.start} to {candidates.stop - 1} is free",
        hint="stop other programs or labs",
        exit_code=ExitCode.ENVIRONMENT,
    )


def kept_range() -> range:
    """Return the ports above the well-known ones and below the ephemeral range."""
    first_of_clients = _clients().start
    return range(min(LOWEST_KEPT, first_of_clients - 1), first_of_clients)


def _clients() -> range:
    """Return the ephemeral range: ports that the kernel gives to outgoing connections."""
    first, last = EPHEMERAL_RANGE.read_text(encoding="ascii").split()
    return range(int(first), int(last) + 1)


def own_range() -> range | None:
    """Return the range in $LABCTL_PORTS; None if unset. Raise LabError (USAGE) if unusable."""
    text = os.environ.get(RANGE_VARIABLE, "")
    if not text:
        return None
    match = re.fullmatch(r"([0-9]{1,5})-([0-9]{1,5})", text)
    if match and 0 < (first := int(match[1])) <= (last := int(match[2])) < 2**16:
        clients = _clients()
        if first < clients.stop and last >= clients.start:
            raise LabError(
                f"{RANGE_VARIABLE}={text} has ports that this machine gives to outgoing "
                f"connections ({clients.start}-{clients.stop - 1})",
                hint=f"choose others, {RANGE_VARIABLE}=20000-23999: a client that tries again and "
                "again to reach a dead service would in the end hold that service's port",
                exit_code=ExitCode.USAGE,
            )
        return range(first, last + 1)
    raise LabError(
        f"{RANGE_VARIABLE}={text} is no range of ports",
        hint=f"write the first and the last, {RANGE_VARIABLE}=20000-23999",
        exit_code=ExitCode.USAGE,
    )
