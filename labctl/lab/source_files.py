"""The connector files of the sources that a lab has."""

from __future__ import annotations

from labctl.kafkaconnect.files import ConnectorFile, read_connector
from labctl.lab.lab import Lab

__all__ = ["source_files"]


def source_files(lab: Lab) -> list[ConnectorFile]:
    """The files of the source connectors that `lab.toml` names."""
    folder = lab.project / "connectors"
    return [read_connector(folder / f"{s.connector}.json") for s in lab.config.sources.values()]
