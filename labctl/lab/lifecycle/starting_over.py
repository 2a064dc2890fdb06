"""Load everything again from the sources alone, after Kafka has lost its data."""

from __future__ import annotations

from labctl.kafka.offsets import end_offsets
from labctl.kafkaconnect.apply import Applied
from labctl.lab.connectors.connector_states import apply_and_wait, snapshot_again
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import restart_service
from labctl.services import connect_service

__all__ = ["apply_and_start_over"]


def apply_and_start_over(lab: Lab) -> list[Applied]:
    """Apply the connectors, and have each source connector load its tables into empty topics.

    Silver and bronze are written from those topics alone; the old bronze files are kept in
    `retired`. The result is the same whatever Kafka still has, and the call may be repeated. Raises
    LabError if a service does not answer, or a connector does not run.
    """
    own = end_offsets(lab.endpoints.kafka, connect_service.INTERNAL_TOPICS.values())
    if not all(own.values()):
        # A worker that lost them reports running tasks, but waits for Kafka without end.
        restart_service(lab, connect_service.SERVICE.name, SilentReporter())
    applied = apply_and_wait(lab)
    for source in lab.config.sources.values():
        snapshot_again(lab, source.connector, start_over=True)
    return applied
