"""The tables of a lab: each with its source, its topic and its silver table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from labctl.config.lab_config import LabConfig, Source
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError, did_you_mean
from labctl.kafkaconnect.connector_files import read_connector
from labctl.kafkaconnect.topic_names import table_of, topic_of
from labctl.sources import ENGINES
from lakecontract.errors import ConfigurationError
from lakecontract.properties import TOPIC_KEY, TableConfig, load_tables
from lakecontract.table_names import AmbiguousTableError, find_table

__all__ = ["CONNECTORS", "GOLD", "PROPERTIES", "LabTable", "full_name", "lab_tables"]

PROPERTIES = Path("spark", "properties")
"""Default folder of the tables' properties files; `lab.toml` may set others."""
CONNECTORS = Path("connectors")
"""Folder of the connector files, relative to the project."""
GOLD = Path("gold")
"""Folder of the views' files, relative to the project."""


@dataclass(frozen=True)
class LabTable:
    """A table, from its source to silver."""

    source: str
    """Name of the source in `lab.toml`."""
    engine: EngineName
    """The source's engine."""
    db_schema: str
    """The table's schema in the source; for MySQL, its database."""
    source_name: str
    """The table's name in that schema."""
    properties: TableConfig
    """Settings from its file in `spark/properties/`."""

    @property
    def name(self) -> str:
        """Name of the silver table, `database.table`."""
        return self.properties.name

    @property
    def topic(self) -> str:
        return self.properties.topic

    @property
    def without_source(self) -> str:
        """Message for a table missing from its database: file, line and what to do."""
        return (
            f"{self.properties.place_of(TOPIC_KEY)}: {self.topic} is the topic of "
            f"{self.db_schema}.{self.source_name}, a table that sources.{self.source} does not "
            "have: correct the topic, remove the file, or make the table and run `labctl "
            "connectors apply`"
        )


def full_name(
    name: str,
    names: Iterable[str],
    *,
    word: str = "table",
    words: str = "tables",
    place: str = "",
) -> str:
    """Return the entry of `names`, each `database.table`, that `name` stands for.

    Raises LabError (USAGE) if none or several match; the message calls it a `word`, all of them
    `words`, and ends with `place`.
    """
    known = list(names)
    try:
        full = find_table(name, known)
    except AmbiguousTableError as error:
        raise LabError(
            f"There is more than one {word} {name!r}{place}",
            hint=f"write the database, too: {', '.join(error.tables)}",
            exit_code=ExitCode.USAGE,
        ) from None
    if full is None:
        raise LabError(
            f"There is no {word} {name!r}{place}",
            hint=f"{did_you_mean(name, known)}{words}: {', '.join(known) or 'none yet'}",
            exit_code=ExitCode.USAGE,
        )
    return full


def lab_tables(project: Path, config: LabConfig) -> list[LabTable]:
    """Return the tables with a properties file, in the order of their files.

    Raises LabError (USAGE) naming a file that cannot be used, or a topic that not exactly one
    source writes.
    """
    try:
        configured = load_tables([project / folder for folder in config.silver.properties])
    except ConfigurationError as error:
        raise LabError(str(error), exit_code=ExitCode.USAGE) from None
    connectors = {
        source.connector: _naming_topics(project / CONNECTORS / f"{source.connector}.json")
        for source in config.sources.values()
    }
    tables = []
    for properties in configured:
        found = list(_sources_of(properties, config, connectors))
        if len(found) != 1:
            raise _not_one_source(properties, config, connectors, [table.source for table in found])
        tables += found
    return tables


def _naming_topics(path: Path) -> dict[str, str]:
    """Return the configuration of the connector that determines how its topics begin."""
    config = read_connector(path).config
    if not config.get("topic.prefix"):
        raise LabError(
            f"{path} is not a usable connector file: topic.prefix is missing",
            hint="write what the names of its topics begin with",
            exit_code=ExitCode.USAGE,
        )
    return config


def _sources_of(
    properties: TableConfig, config: LabConfig, connectors: Mapping[str, Mapping[str, str]]
) -> Iterator[LabTable]:
    for name, source in config.sources.items():
        for schema in source.schemas:
            table = table_of(
                connectors[source.connector], properties.topic, schema, database=_in_topic(source)
            )
            if table is not None:
                yield LabTable(name, source.engine, schema, table, properties)


def _in_topic(source: Source) -> str | None:
    """Return the database where Debezium puts it into a topic's name."""
    return source.database if ENGINES[source.engine].database_in_topic else None


def _not_one_source(
    properties: TableConfig,
    config: LabConfig,
    connectors: Mapping[str, Mapping[str, str]],
    found: list[str],
) -> LabError:
    place = properties.place_of(TOPIC_KEY)
    if found:
        return LabError(
            f"{place}: the topic {properties.topic!r} of table {properties.name} is written by "
            f"{' and '.join(f'sources.{name}' for name in found)}",
            hint="give one of their connectors another topic.prefix",
            exit_code=ExitCode.USAGE,
        )
    written = [
        topic_of(connectors[source.connector], schema, "…", database=_in_topic(source))
        for source in config.sources.values()
        for schema in source.schemas
    ]
    return LabError(
        f"{place}: no source of lab.toml writes the topic {properties.topic!r} of table "
        f"{properties.name}",
        hint=f"topics are {', '.join(written)}: correct the topic, add the source to lab.toml, "
        "or remove the file",
        exit_code=ExitCode.USAGE,
    )
