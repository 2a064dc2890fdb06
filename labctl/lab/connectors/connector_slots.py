"""The replication slots of a lab's servers: what they keep of the log, and for which connector."""

from __future__ import annotations

from dataclasses import replace

from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.source_files import source_files
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, connect_server, endpoint_of
from labctl.sources.engine_registry import engine_of_connector
from labctl.sources.log_slots import Slot

__all__ = ["drop_slot", "read_slots", "slot_of"]


def slot_of(file: ConnectorFile) -> str | None:
    """Return the slot that a connector reads from; None if its engine has none."""
    engine = engine_of_connector(file.config["connector.class"])
    if engine is None or engine.slots is None:
        return None
    return engine.slots.of_connector(file.config)


def read_slots(lab: Lab) -> list[Slot]:
    """Return the slots of the sources' servers, sorted by name; none if no engine has them.

    Raises LabError (NOT_READY) if a server does not answer.
    """
    # All sources of an engine are on one server.
    of_engine = {source.engine: name for name, source in lab.endpoints.sources.items()}
    owners = {slot_of(file): file.name for file in source_files(lab)}
    found: list[Slot] = []
    for engine, name in of_engine.items():
        if (slots := ENGINES[engine].slots) is not None:
            with connect_server(lab.endpoints, name) as server:
                found += slots.read(server)
    return [replace(slot, connector=owners.get(slot.name)) for slot in found]


def drop_slot(lab: Lab, source_name: str, name: str) -> bool:
    """Drop a slot of a source once its connector has left it; return whether there was one.

    Raises LabError if a client still reads from it.
    """
    slots = ENGINES[endpoint_of(lab.endpoints, source_name).engine].slots
    if slots is None:
        return False
    with connect_server(lab.endpoints, source_name) as server:
        return slots.drop(server, name)
