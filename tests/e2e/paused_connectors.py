"""A source connector that pauses, so that changes wait in its database's log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab
from labctl.testing.eventually import Eventually
from tests.e2e.fault_trial import RECOVERY_SECONDS

__all__ = ["connector_pauses"]


@contextmanager
def connector_pauses(lab: Lab, source: str, eventually: Eventually) -> Iterator[None]:
    """Pause the connector of a source of the lab while the block runs."""
    name = lab.config.sources[source].connector
    client = connect_client(lab.endpoints.connect)

    def is_paused() -> bool:
        status = client.status(name)
        return {part["state"] for part in (status["connector"], *status["tasks"])} == {"PAUSED"}

    client.act(name, "pause")
    try:
        eventually(is_paused, seconds=RECOVERY_SECONDS)
        yield
    finally:
        client.act(name, "resume")
