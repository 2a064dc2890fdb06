"""Plugin of the lab's supervisord that keeps a lab's ports while no service listens on them.

supervisord loads it as an RPC interface: https://supervisord.org/api.html. It imports only `holds`
from labctl so that supervisord stays small.
"""

from __future__ import annotations

from typing import Any

from supervisor import events

from labctl.state.holds import Hold

__all__ = ["PortKeeper", "port_keeper"]


class PortKeeper:
    """The methods `ports.…` of supervisord's API.

    A port is lent to its service while the service runs. Otherwise no program on the machine can
    listen there, so that no client mistakes it for the service or sends it the password.
    """

    def __init__(self) -> None:
        self._holds: dict[str, dict[int, Hold]] = {}
        self._running: set[str] = set()
        events.subscribe(events.ProcessStateEvent, self._changed)

    def keep(self, service: str, ports: list[int]) -> list[int]:
        """Keep exactly these ports for a service; return the ports that could not be kept.

        A command of this user has already taken each port and releases it afterwards.
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
        """Return all ports that are kept."""
        return sorted(port for held in self._holds.values() for port in held)

    def _changed(self, event: Any) -> None:
        """Lend or keep ports; supervisord calls this before a process starts and after it ends."""
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
    """Create the RPC interface; supervisord calls this factory."""
    del supervisord, settings
    return PortKeeper()
