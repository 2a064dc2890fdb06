"""Which processes listen on a port of the loopback address.

psutil reads what every process of the machine has open, and the kernel's text of all connections:
tens of milliseconds. This is asked before every probe.
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
"""The kernel's protocol that `ss` speaks: https://man7.org/linux/man-pages/man7/sock_diag.7.html"""
_BY_FAMILY, _ERROR, _DONE = 20, 2, 3
_REQUEST_DUMP = 0x301
_LISTEN = 10
_HEAD = struct.Struct("=IHHII")
"""Length, type, flags, number and sender of a message."""
_QUESTION = struct.Struct("=BBxxI")
"""Family, protocol and states; the address follows, without which its port is the filter."""
_PLACE = struct.Struct(">HH16s16s12x")
"""Both ports, both addresses; interface and cookie are not of interest."""
_ANSWER_HEAD = 4
_REST = struct.Struct("=IIIII")
"""Behind the place: time left, two queues, user and inode."""
_TAKEN_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Listener:
    """A socket that listens."""

    inode: int
    """Its number among all sockets."""
    user_id: int


def listeners_on(port: int) -> list[Listener]:
    """Sockets that a client of 127.0.0.1:`port` may be connected to. Raises OSError."""
    found = []
    for family, addresses in _REACHED.items():
        for address, listener in _asked(family, port):
            if address[: len(addresses[0])] in addresses:
                found.append(listener)
    return found


def _asked(family: int, port: int) -> Iterable[tuple[bytes, Listener]]:
    """The kernel's answer: each listener on `port`, with its address."""
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
    """Whether one of the processes has the listener's socket open.

    Of a process that may not be looked into, its user has to do: root in a container may lack the
    right to look into PostgreSQL, which it runs as another user.
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
    """What an open file is; None when it was closed meanwhile."""
    with suppress(FileNotFoundError):
        return os.readlink(file)  # noqa: PTH115 - of hundreds, and Path costs as much again
    return None


def _effective_user(pid: int) -> int | None:
    """A process's effective user id; None when it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("Uid:"):
                return int(line.split()[2])
    return None
