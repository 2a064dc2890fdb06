"""Ports of the loopback addresses that are kept while nothing listens on them.

The kernel is the lock: a socket that is bound and does not listen keeps every other program and
user of the machine, and of the network namespace, from the port. Python's own modules alone are
imported: the lab's supervisor imports this one.
"""

from __future__ import annotations

import socket
from errno import EADDRNOTAVAIL, EAFNOSUPPORT
from typing import Self

__all__ = ["LOOPBACK", "Hold", "bindable"]

LOOPBACK = "127.0.0.1"
"""Where services listen."""
MARK = "127.108.97.98"
"""An address where no service listens. A lab keeps its ports there even while a service starts,
when LOOPBACK has to let somebody in."""
ADDRESSES = (MARK, LOOPBACK, "::1")
"""All that a port is kept at. For many clients `localhost` is the last of them."""
_NO_SUCH_ADDRESS = (EADDRNOTAVAIL, EAFNOSUPPORT)
"""Errors of a machine without IPv6."""


class Hold:
    """One port that this process keeps: nobody can listen there until it is lent or closed."""

    def __init__(self, port: int, sockets: dict[str, socket.socket]) -> None:
        self.port = port
        self._sockets = sockets

    @classmethod
    def take(cls, port: int) -> Self:
        """Keep a port that nobody else keeps or listens on. Raises OSError when somebody does."""
        return cls._made(port, exclusive=True)

    @classmethod
    def share(cls, port: int) -> Self:
        """Keep a port that another process of this user has taken, without a gap between the two.

        Raises OSError when somebody else keeps it or listens there.
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
                # Else it would let in whoever sets it too.
                _set(bound, socket.SO_REUSEADDR, False)
                # Among this user's processes: the next that keeps the port.
                _set(bound, socket.SO_REUSEPORT, exclusive)
                if exclusive:
                    # It listens no more, and stays bound.
                    bound.shutdown(socket.SHUT_RD)
        except BaseException:
            hold.close()
            raise
        return hold

    def lend(self) -> None:
        """Let one program listen on LOOPBACK, if it sets SO_REUSEADDR, as servers do."""
        _set(self._sockets[LOOPBACK], socket.SO_REUSEADDR, True)

    def keep(self) -> None:
        """Let nobody listen, once whoever listens now has closed its socket."""
        _set(self._sockets[LOOPBACK], socket.SO_REUSEADDR, False)

    def close(self) -> None:
        """Give the port up."""
        for bound in self._sockets.values():
            bound.close()


def bindable(port: int) -> bool:
    """Whether nobody keeps `port` or listens on it now, at any of the addresses."""
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
    """A socket bound to `port` at `address`; None where the machine has no such address."""
    try:
        bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    except OSError as error:
        if error.errno in _NO_SUCH_ADDRESS:
            return None
        raise
    try:
        # Connections that have ended keep a port for a minute from whoever does not set it.
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
    """Make a bound socket the only one: of several that are bound, one alone can listen."""
    bound.listen(1)


def _set(bound: socket.socket, option: int, value: bool) -> None:
    bound.setsockopt(socket.SOL_SOCKET, option, value)
