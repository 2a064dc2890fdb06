"""The connector files of the sources that a lab has."""

from __future__ import annotations

from labctl.kafkaconnect.connector_files import ConnectorFile, read_connector
from labctl.lab.lab import Lab
from labctl.tables import CONNECTORS

__all__ = ["source_file", "source_files"]


def source_files(lab: Lab) -> list[ConnectorFile]:
    """Return the connector files of the lab's sources, in the order of `lab.toml`."""
    return [source_file(lab, name) for name in lab.config.sources]


def source_file(lab: Lab, source: str) -> ConnectorFile:
    """Return the connector file of the source of that name."""
    connector = lab.config.sources[source].connector
    return read_connector(lab.project / CONNECTORS / f"{connector}.json")
