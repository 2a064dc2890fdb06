"""Keeps a lab's ports while a service does not listen: a part of the lab's supervisord.

supervisord loads it as an RPC interface: https://supervisord.org/api.html. Nothing of labctl but
`holds` is imported, so that supervisord stays small.
"""

from __future__ import annotations

from typing import Any

from supervisor import events

from labctl.home.holds import Hold

__all__ = ["PortKeeper", "port_keeper"]


class PortKeeper:
    """The methods `ports.…` of supervisord's API.

    A port is lent to its service while that runs. Else nobody on the machine can listen there: no
    other program is taken for the service, or is told its password.
    """

    def __init__(self) -> None:
        self._holds: dict[str, dict[int, Hold]] = {}
        self._running: set[str] = set()
        events.subscribe(events.ProcessStateEvent, self._changed)

    def keep(self, service: str, ports: list[int]) -> list[int]:
        """Keep exactly these ports for a service; those that somebody else has.

        Each was taken by a command of this user, which gives it up afterwards.
        """
        held = self._holds.setdefault(service, {})
        for port in set(held).difference(ports):
            held.pop(port).close()
        lost = []
        for port in set(ports).difference(held):
            try:
                held[port] = Hold.share(port)
            except OSError:
                lost.append(port)
        self._lend_or_keep(service)
        return sorted(lost)

    def kept(self) -> list[int]:
        """Every port that is kept."""
        return sorted(port for held in self._holds.values() for port in held)

    def _changed(self, event: Any) -> None:
        """Called by supervisord before a process is started, and after one has ended."""
        service = event.process.config.name
        if isinstance(event, (events.ProcessStateStartingEvent, events.ProcessStateRunningEvent)):
            self._running.add(service)
        else:
            self._running.discard(service)
        self._lend_or_keep(service)

    def _lend_or_keep(self, service: str) -> None:
        for hold in self._holds.get(service, {}).values():
            if service in self._running:
                hold.lend()
            else:
                hold.keep()


def port_keeper(supervisord: object, **settings: str) -> PortKeeper:
    """Make the interface, as supervisord asks for it."""
    del supervisord, settings
    return PortKeeper()
