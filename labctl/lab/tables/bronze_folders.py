"""A lab's bronze files, in the folders that the sink connectors' files name."""

from __future__ import annotations

from labctl.kafkaconnect.connector_files import resolve_references
from labctl.lab.lab import Lab
from labctl.lake.bronze_records import Bronze

__all__ = ["lab_bronze"]


def lab_bronze(lab: Lab) -> Bronze:
    """Return the bronze files of `lab`.

    Raises LabError (USAGE) if a sink connector's file cannot be read.
    """
    found = (resolve_references(sink.topics_dir, lab.state.secrets) for sink in lab.sinks)
    folders = dict.fromkeys(folder.strip("/") for folder in found)
    return Bronze(lab.endpoints.objectstore, folders=tuple(folders))
