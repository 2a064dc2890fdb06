"""The sinks of a lab: which connector file writes the bronze files of which topics.

A lab uses a sink if the sink takes the topic of one of the lab's tables. It ignores other sinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import ConnectorFile, connector_files
from labctl.tables import CONNECTORS, LabTable
from lakecontract.bronze_partitioner import is_by_value
from lakecontract.properties import BRONZE_ROOT_KEY, TOPIC_KEY
from lakecontract.sink_config import sink_problems, topics_taken

__all__ = ["Sink", "check_sinks", "require_readable", "sink_files", "used_sinks"]

_TOPICS_DIR = "topics"
"""The connector's default folder if its file sets no `topics.dir`."""


@dataclass(frozen=True)
class Sink:
    """A sink connector's file, with the lab's tables that use it."""

    file: ConnectorFile
    tables: tuple[LabTable, ...]
    """The tables whose topics the sink takes."""

    @property
    def topics_dir(self) -> str:
        """The folder that holds the topics' folders. It may be an unresolved reference."""
        return self.file.config.get("topics.dir", _TOPICS_DIR).strip("/")

    @property
    def is_by_value(self) -> bool:
        """True if a partition has files in several folders open at a time."""
        return is_by_value(self.file.config)

    @property
    def place(self) -> str:
        """File and line of the setting that names its topics."""
        return f"{self.file.path}:{self.file.line_of(self.topics_key)}"

    @property
    def topics_key(self) -> str:
        return "topics.regex" if "topics.regex" in self.file.config else "topics"


def sink_files(project: Path) -> list[ConnectorFile]:
    """Return the file of every sink connector, by name."""
    return [file for file in connector_files(project / CONNECTORS) if file.name.startswith("sink_")]


def used_sinks(files: Iterable[ConnectorFile], tables: Sequence[LabTable]) -> list[Sink]:
    """Return the sinks among `files` that take the topic of a table, by name."""
    sinks = [
        Sink(file, tuple(table for table in tables if topics_taken(file.config, [table.topic])))
        for file in files
        if file.name.startswith("sink_")
    ]
    return [sink for sink in sinks if sink.tables]


def check_sinks(project: Path, tables: Sequence[LabTable], *, written_by_spark: bool) -> list[Sink]:
    """Return the lab's sinks after checking that each topic has exactly one.

    Raises LabError (USAGE) for a topic that no sink or more than one sink takes, and for a table
    that reads its bronze files from another folder. If bronze is `written_by_spark`, also raises
    it for sink settings that the Spark application does not support.
    """
    sinks = used_sinks(sink_files(project), tables)
    for sink in sinks if written_by_spark else ():
        if problems := sink_problems(sink.file.config):
            raise _error(
                f"{sink.file.path}: {problems[0]}",
                "correct the file: the Spark application writes bronze by it",
                *problems[1:],
            )
    for table in tables:
        taking = [sink for sink in sinks if table in sink.tables]
        if len(taking) != 1:
            raise _not_one_sink(table, taking, sink_files(project))
        _check_folder(table, taking[0])
    return sinks


def require_readable(sinks: Iterable[Sink]) -> None:
    """Raise LabError (USAGE) if a sink's partitioner writes bronze that silver cannot read.

    Such a sink has several files of a partition open at a time. Nothing then shows which of them
    belong together as a complete set.
    """
    for sink in sinks:
        if sink.is_by_value:
            raise LabError(
                f"{sink.file.path}: folders are named after what is in the records, and silver "
                "cannot read bronze (silver.source) as the sink connector then writes it",
                hint='set source = "kafka" in lab.toml, or another partitioner.class',
                exit_code=ExitCode.USAGE,
            )


def _not_one_sink(table: LabTable, taking: list[Sink], files: list[ConnectorFile]) -> LabError:
    if taking:
        return _error(
            f"{taking[0].place} and {taking[1].place} both take the topic {table.topic!r} of table "
            f"{table.name}: its records would be in bronze twice",
            "leave the topic out of one of them",
        )
    place = table.properties.place_of(TOPIC_KEY)
    known = [Sink(file, ()) for file in files]
    return _error(
        f"{place}: no sink takes the topic {table.topic!r} of table {table.name}",
        "a table that is not in bronze could not be rebuilt: add the topic to a sink's file, or "
        "remove the table's properties file",
        *(
            f"{sink.place} takes {sink.topics_key}={sink.file.config.get(sink.topics_key, '')}"
            for sink in known
        ),
    )


def _check_folder(table: LabTable, sink: Sink) -> None:
    written = f"{sink.topics_dir}/{table.topic}"
    if "${" in sink.topics_dir or table.properties.bronze_root == written:
        return
    place = table.properties.place_of(BRONZE_ROOT_KEY)
    raise _error(
        f"{place}: table {table.name} looks for its bronze files in "
        f"{table.properties.bronze_root}, and {sink.file.path} has them written to {written}",
        f"write {BRONZE_ROOT_KEY}={written}, or change topics.dir",
    )


def _error(what: str, hint: str, *details: str) -> LabError:
    return LabError(
        what, details=details, hint=f"nothing was started; {hint}", exit_code=ExitCode.USAGE
    )
