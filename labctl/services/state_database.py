"""The lab's own database server, in which services keep their durable state."""

from __future__ import annotations

from labctl.config.endpoints import Database, Endpoints
from labctl.sources import ENGINES

__all__ = ["STATE_SERVICE", "state_server"]

STATE_SERVICE = next(engine.name for engine in ENGINES.values() if engine.holds_state)
"""Name of the service; every lab has it."""


def state_server(endpoints: Endpoints) -> Database:
    """Return where it answers, with the administrator's login."""
    return endpoints.servers[STATE_SERVICE]
