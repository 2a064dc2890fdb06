"""The tables of a lab: captured from which source, by which topic, into which silver table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labctl.config.model import LabConfig, SourceEngine
from labctl.errors import ExitCode, LabError
from lakehouse.errors import ConfigurationError
from lakehouse.properties import TableConfig, load_tables

__all__ = ["PROPERTIES", "LabTable", "lab_tables"]

PROPERTIES = Path("spark", "properties")
"""Folder of the tables' properties files, below the project's."""
_TOPIC_PARTS = 3


@dataclass(frozen=True)
class LabTable:
    """One table on its whole way."""

    engine: SourceEngine
    """The source service: `postgres`, `mysql`, `sqlserver`."""
    db_schema: str
    """For MySQL: the database."""
    source_name: str
    """Its name in that schema."""
    properties: TableConfig
    """As in `spark/properties/`."""

    @property
    def name(self) -> str:
        """Name of the silver table."""
        return self.properties.name

    @property
    def topic(self) -> str:
        return self.properties.topic


def lab_tables(project: Path, config: LabConfig) -> list[LabTable]:
    """The tables with a properties file whose source the lab runs.

    Raises LabError (USAGE) naming the file that cannot be used.
    """
    by_schema = {source.db_schema: engine for engine, source in config.sources.items()}
    try:
        configured = load_tables([project / PROPERTIES])
    except ConfigurationError as error:
        raise LabError(str(error), exit_code=ExitCode.USAGE) from None
    tables = []
    for properties in configured:
        parts = properties.topic.split(".")
        if len(parts) != _TOPIC_PARTS or not all(parts):
            raise LabError(
                f"{project / PROPERTIES}: table {properties.name} reads the topic "
                f"{properties.topic!r}, which is not PREFIX.SCHEMA.TABLE",
                hint="a connector that names its topics otherwise needs a route transform, as in "
                "connectors/source_connector_mssql_kafka_avro_tickit.json",
                exit_code=ExitCode.USAGE,
            )
        _, schema, name = parts
        if engine := by_schema.get(schema):
            tables.append(LabTable(engine, schema, name, properties))
    return tables
