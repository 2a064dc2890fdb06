"""Reservations of loopback ports on which nothing listens.

A bound socket that does not listen keeps all other programs and users of the machine (and of the
network namespace) from the port. This module imports only the standard library because the lab's
supervisor imports it.
"""

from __future__ import annotations

import socket
from errno import EADDRNOTAVAIL, EAFNOSUPPORT
from typing import Self

__all__ = ["LOOPBACK", "Hold", "bindable"]

LOOPBACK = "127.0.0.1"
"""The address on which services listen."""
MARK = "127.108.97.98"
"""An address on which no service listens. A lab keeps its ports there even while a service starts
and LOOPBACK has to admit it."""
ADDRESSES = (MARK, LOOPBACK, "::1")
"""All addresses at which a port is kept. Many clients resolve `localhost` to the last one."""
_NO_SUCH_ADDRESS = (EADDRNOTAVAIL, EAFNOSUPPORT)
"""Errors of a machine without IPv6."""


class Hold:
    """A port that this process keeps: no program can listen there until it is lent or closed."""

    def __init__(self, port: int, sockets: dict[str, socket.socket]) -> None:
        self.port = port
        self._sockets = sockets

    @classmethod
    def take(cls, port: int) -> Self:
        """Keep a port. Raise OSError if another process keeps it or listens on it."""
        return cls._made(port, exclusive=True)

    @classmethod
    def share(cls, port: int) -> Self:
        """Keep a port that another process of this user has taken, without a gap at the handover.

        Raises OSError if anyone else keeps it or listens there.
        """
        return cls._made(port, exclusive=False)

    @classmethod
    def _made(cls, port: int, *, exclusive: bool) -> Self:
        hold = cls(port, {})
        try:
            for address in ADDRESSES:
                if (bound := _bound(address, port, share=not exclusive)) is None:
                    continue
                hold._sockets[address] = bound
                if exclusive:
                    _claim(bound)
                # Otherwise any program that sets it too could bind the port.
                _set(bound, socket.SO_REUSEADDR, False)
                # Lets the next process of this user share the port.
                _set(bound, socket.SO_REUSEPORT, exclusive)
                if exclusive:
                    # The socket stops listening but stays bound.
                    bound.shutdown(socket.SHUT_RD)
        except BaseException:
            hold.close()
            raise
        return hold

    def lend(self) -> None:
        """Let one program listen on LOOPBACK if it sets SO_REUSEADDR, as servers do."""
        _set(self._sockets[LOOPBACK], socket.SO_REUSEADDR, True)

    def keep(self) -> None:
        """Let no program listen once the current listener has closed its socket."""
        _set(self._sockets[LOOPBACK], socket.SO_REUSEADDR, False)

    def close(self) -> None:
        """Release the port."""
        for bound in self._sockets.values():
            bound.close()


def bindable(port: int) -> bool:
    """Return whether no process keeps `port` or listens on it at any of the addresses."""
    bound: list[socket.socket] = []
    try:
        for address in ADDRESSES:
            if (found := _bound(address, port)) is not None:
                bound.append(found)
    except OSError:
        return False
    finally:
        for one in bound:
            one.close()
    return True


def _bound(address: str, port: int, *, share: bool = False) -> socket.socket | None:
    """Return a socket bound to `port` at `address`; None if the machine lacks that address."""
    try:
        bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    except OSError as error:
        if error.errno in _NO_SUCH_ADDRESS:
            return None
        raise
    try:
        # Without it, closed connections (TIME_WAIT) block the port for a minute.
        _set(bound, socket.SO_REUSEADDR, True)
        _set(bound, socket.SO_REUSEPORT, share)
        bound.bind((address, port))
    except OSError as error:
        bound.close()
        if error.errno in _NO_SUCH_ADDRESS:
            return None
        raise
    except BaseException:
        bound.close()
        raise
    return bound


def _claim(bound: socket.socket) -> None:
    """Make this the only socket on its port: of several bound sockets only one can listen."""
    bound.listen(1)


def _set(bound: socket.socket, option: int, value: bool) -> None:
    bound.setsockopt(socket.SOL_SOCKET, option, value)
