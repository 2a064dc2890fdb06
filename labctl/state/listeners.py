"""The processes that listen on a port of the loopback address.

labctl checks this before every probe. psutil would take tens of milliseconds: it reads the open
files of every process and the kernel's text of all connections.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Listener", "has_open", "listeners_on"]

_REACHED = {
    socket.AF_INET: (
        socket.inet_pton(socket.AF_INET, "127.0.0.1"),
        socket.inet_pton(socket.AF_INET, "0.0.0.0"),  # noqa: S104 - what others listen on
    ),
    socket.AF_INET6: (
        socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"),
        socket.inet_pton(socket.AF_INET6, "::"),
    ),
}
"""Addresses at which a client of 127.0.0.1 may find a listener."""

_SOCK_DIAG = 4
"""The kernel protocol that `ss` uses: https://man7.org/linux/man-pages/man7/sock_diag.7.html"""
_BY_FAMILY, _ERROR, _DONE = 20, 2, 3
_REQUEST_DUMP = 0x301
_LISTEN = 10
_HEAD = struct.Struct("=IHHII")
"""Length, type, flags, number and sender of a message."""
_QUESTION = struct.Struct("=BBxxI")
"""Family, protocol and states. The address follows; if it is empty, only its port filters."""
_PLACE = struct.Struct(">HH16s16s12x")
"""Both ports and both addresses; interface and cookie are skipped."""
_ANSWER_HEAD = 4
_REST = struct.Struct("=IIIII")
"""The fields after `_PLACE`: time left, two queues, user and inode."""
_TAKEN_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Listener:
    """A listening socket."""

    inode: int
    """The socket's inode number."""
    user_id: int


def listeners_on(port: int) -> list[Listener]:
    """Return the sockets that may serve a client of 127.0.0.1:`port`. Raises OSError."""
    found = []
    for family, addresses in _REACHED.items():
        for address, listener in _asked(family, port):
            if address[: len(addresses[0])] in addresses:
                found.append(listener)
    return found


def _asked(family: int, port: int) -> Iterable[tuple[bytes, Listener]]:
    """Query the kernel; yield the address and listener of each listening socket on `port`."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        question = _QUESTION.pack(family, socket.IPPROTO_TCP, 1 << _LISTEN)
        question += _PLACE.pack(port, 0, b"", b"")
        length = _HEAD.size + len(question)
        kernel.send(_HEAD.pack(length, _BY_FAMILY, _REQUEST_DUMP, 0, 0) + question)
        while True:
            answer = kernel.recv(_TAKEN_AT_ONCE)
            while answer:
                length, kind, *_ = _HEAD.unpack_from(answer)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    (code,) = struct.unpack_from("=i", answer, _HEAD.size)
                    raise OSError(-code, os.strerror(-code))
                place = _HEAD.size + _ANSWER_HEAD
                _, _, address, _ = _PLACE.unpack_from(answer, place)
                *_, user_id, inode = _REST.unpack_from(answer, place + _PLACE.size)
                yield address, Listener(inode, user_id)
                answer = answer[(length + 3) & ~3 :]


def has_open(pids: Iterable[int], listener: Listener) -> bool:
    """Return whether one of the processes has the listener's socket open.

    If a process's open files cannot be read, compare its user instead: root in a container may
    lack the right to read those of PostgreSQL, which runs as another user.
    """
    link = f"socket:[{listener.inode}]"
    for pid in pids:
        try:
            with os.scandir(f"/proc/{pid}/fd") as entries:
                if any(_leads_to(entry.path) == link for entry in entries):
                    return True
        except PermissionError:
            if _effective_user(pid) == listener.user_id:
                return True
        except (FileNotFoundError, ProcessLookupError):
            continue
    return False


def _leads_to(file: str) -> str | None:
    """Return the target of an open file's link; None if it was closed in the meantime."""
    with suppress(FileNotFoundError):
        return os.readlink(file)  # noqa: PTH115 - called hundreds of times; Path doubles the cost
    return None


def _effective_user(pid: int) -> int | None:
    """Return a process's effective user id; None if the process has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("Uid:"):
                return int(line.split()[2])
    return None
