"""A lab's bronze files, where the sink connector's file says they are."""

from __future__ import annotations

from labctl.kafkaconnect.files import read_connector, resolve_references
from labctl.lab.lab import Lab
from labctl.lake.bronze import Bronze
from labctl.services.silver import SINK_CONNECTOR

__all__ = ["lab_bronze"]


def lab_bronze(lab: Lab) -> Bronze:
    """The bronze files of `lab`.

    Raises LabError (USAGE) when the sink connector's file cannot be read.
    """
    sink = read_connector(lab.project / "connectors" / f"{SINK_CONNECTOR}.json").config
    store = lab.endpoints.objectstore
    if "topics.dir" not in sink:
        return Bronze(store)
    folder = resolve_references(sink["topics.dir"], lab.state.secrets)
    return Bronze(store, folder=folder.strip("/"))
