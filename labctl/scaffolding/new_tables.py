"""Adding a table to a lab's project, and removing it: first the files, then the running lab."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import end_offsets
from labctl.kafkaconnect.arrival_forecast import silver_column
from labctl.kafkaconnect.column_filters import COLUMNS_LEFT_OUT, with_columns_left_out
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.topic_names import topic_of
from labctl.lab.connectors.backfill import backfill_table
from labctl.lab.connectors.capture_checks import limit_problems, limits_of
from labctl.lab.connectors.capture_instances import forget_instances
from labctl.lab.connectors.connector_states import (
    apply_and_wait,
    check_files,
    check_sink_files,
    snapshot_again,
)
from labctl.lab.connectors.source_files import source_file
from labctl.lab.connectors.table_filters import left_out_by
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import UpReporter
from labctl.lab.lifecycle.up import up
from labctl.lab.tables.table_fitness import FitTable, fit_tables, require_fit
from labctl.lab.tables.table_stations import wait_for_rows
from labctl.scaffolding.filters import with_table, without_columns, without_table
from labctl.scaffolding.foreign import require_plain_names
from labctl.scaffolding.properties import BASE, base_text, free_table_name, silver_name, table_text
from labctl.sinks import Sink, sink_files
from labctl.sources import ENGINES, Source, SourceTable, TableRef, connect
from labctl.sources.capture_limits import Limits
from labctl.state.file_changes import changed_files
from labctl.tables import LabTable
from lakecontract.properties import DATABASE_KEY, read_properties
from lakecontract.regular_files import read_text
from lakecontract.sink_config import topics_taken

__all__ = [
    "Added",
    "Removed",
    "add_table",
    "check_columns",
    "named_table",
    "new_files",
    "remove_table",
]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Added:
    """A table that is now captured."""

    table: LabTable
    files: tuple[Path, ...]
    """Files that were written or changed; empty if the table was in the project already."""
    source_rows: int
    silver_rows: int


@dataclass(frozen=True)
class Removed:
    """A table that is no longer captured."""

    name: str
    """The table's name in silver, or in its source if its file was already removed."""
    files: tuple[Path, ...]
    """Files that were deleted or changed."""


def named_table(lab: Lab, text: str) -> tuple[str, TableRef]:
    """Return source and table of `orders.public.customer`; the only schema may be left out.

    The database's name is accepted instead of the source's. Raises LabError (USAGE).
    """
    first, _, rest = text.partition(".")
    sources = lab.config.sources
    named = [name for name, source in sources.items() if first in (name, source.database)]
    if first in named:
        named = [first]
    if len(named) != 1 or not rest:
        known = ", ".join(f"{n}.{schema}.…" for n, s in sources.items() for schema in s.schemas)
        raise LabError(
            f"{text!r} names no table of a source of this lab",
            hint=f"write SOURCE.SCHEMA.TABLE; there are {known}",
            exit_code=ExitCode.USAGE,
        )
    schemas = sources[named[0]].schemas
    schema = next((one for one in schemas if rest.startswith(f"{one}.")), None)
    if schema is not None:
        return named[0], TableRef(schema, rest.removeprefix(f"{schema}."))
    if len(schemas) == 1 and "." not in rest:
        return named[0], TableRef(schemas[0], rest)
    raise LabError(
        f"sources.{named[0]} does not capture the schema of {rest!r}",
        hint=f"its schemas are {', '.join(schemas)}; add others to lab.toml and to its connector",
        exit_code=ExitCode.USAGE,
    )


def check_columns(lab: Lab, names: Sequence[str], source: str | None = None) -> list[FitTable]:
    """Return how the columns of the named tables, and of all tables of `source`, would arrive.

    Raises LabError (USAGE) if a name is not that of a table.
    """
    found = []
    for text in names:
        name, ref = named_table(lab, text)
        with connect(lab.endpoints, name) as database:
            _require_there(database, name, ref)
            found += fit_tables(lab, name, database, [ref])
    if source is not None:
        with connect(lab.endpoints, source) as database:
            found += fit_tables(lab, source, database)
    return found


def add_table(lab: Lab, text: str, reporter: UpReporter, *, say: Say = lambda _: None) -> Added:
    """Capture one more table, and wait until its first rows are in silver. It is safe to repeat.

    Raises LabError (USAGE), and changes nothing, if the table does not exist, has no primary key,
    cannot be captured as it is, or is refused by a filter or sink of the project. If the Spark
    application or the connector does not start with it, the project's files are restored.
    """
    lab.require_running()
    name, ref = named_table(lab, text)
    with connect(lab.endpoints, name) as database:
        files = new_files(lab, name, database, ref)
        rows = database.count(ref)
        recorded = database.captured(source_file(lab, name).publication)
    with changed_files(lab.project, files):
        lab = replace(lab)  # drop what it has read so far: the files have changed
        check_files(lab)
        check_sink_files(lab)
        table = next(table for table in lab.tables if _is(table, name, ref))
        connector = source_file(lab, name)
        was_there = connector.name in connect_client(lab.endpoints.connect).names()
        # The log does not have the rows that were written before it was recorded.
        unread = connector.path in files if recorded is None else ref not in recorded
        # A command that was killed may have written the files and asked for no rows.
        unread = unread or not (files or _has_records(lab, table))
        say("starting the Spark application with it")
        up(lab, reporter)
        apply_and_wait(lab, [connector])
    if rows and was_there and unread:
        _load(lab, table, connector, say)
    say("waiting for its rows" if rows else "waiting for the table")
    found = wait_for_rows(lab, table, at_least=min(rows, 1))
    return Added(table, tuple(files), rows, found)


def _has_records(lab: Lab, table: LabTable) -> bool:
    return any(end_offsets(lab.endpoints.kafka, [table.topic])[table.topic].values())


def _load(lab: Lab, table: LabTable, connector: ConnectorFile, say: Say) -> None:
    """Load the rows that a table had before its changes were recorded.

    Only this table is read, while the changes of all go on, or where Debezium cannot do that, all
    tables of its connector.
    """
    try:
        say(f"loading the rows that {table.name} has already")
        backfill_table(lab, table.name, is_new=True, on_progress=say)
    except LabError as error:
        if error.exit_code is ExitCode.BUSY:
            raise
        say(f"{error.what}: loading all tables of {connector.name} again")
        snapshot_again(lab, connector.name)


def new_files(lab: Lab, source: str, database: Source, ref: TableRef) -> dict[Path, bytes | None]:
    """Return the files that `add_table` would write for a table, by path, without writing them.

    Raises LabError (USAGE) for a table that `add_table` refuses because of its properties.
    """
    described = _described(database, source, ref)
    limits = limits_of(database, source_file(lab, source), ref)
    require_fit(lab, source, database, described, limits)
    return _new_files(lab, source, described, limits)


def remove_table(lab: Lab, text: str, reporter: UpReporter) -> Removed:
    """Remove a table from the project, and stop capturing it. Its data in the lake remains.

    `text` names it as for `add_table`, or as in silver. Raises LabError (USAGE), and changes
    nothing, for the last table of a lab. If the Spark application or the connector does not start
    without it, the project's files are restored. If an earlier command was killed after it had
    changed the files, this completes that command.
    """
    lab.require_running()
    if (gone := _recorded_only(lab, text)) is not None:
        up(lab, reporter)
        return _released(lab, *gone, str(gone[1]), ())
    table = _captured(lab, text)
    if len(lab.tables) == 1:
        raise LabError(
            f"{table.name} is the only table of this lab",
            hint="add another one before, or `labctl destroy` the lab",
            exit_code=ExitCode.USAGE,
        )
    ref = TableRef(table.db_schema, table.source_name)
    connector = source_file(lab, table.source)
    others = [t for t in lab.tables if t != table and _is(t, table.source, ref)]
    text_left = None if others else without_table(connector, ref)
    changed = {connector.path: text_left.encode()} if text_left is not None else {}
    with changed_files(lab.project, {**changed, table.properties.file: None}):
        lab = replace(lab)
        check_files(lab)
        up(lab, reporter)
        apply_and_wait(lab, [source_file(lab, table.source)])
    files = (table.properties.file, *changed)
    if others:
        return Removed(table.name, files)
    return _released(lab, table.source, ref, table.name, files)


def _released(lab: Lab, source: str, ref: TableRef, name: str, files: tuple[Path, ...]) -> Removed:
    """Make the database stop recording a table's changes."""
    with connect(lab.endpoints, source) as database:
        database.release(ref, source_file(lab, source).publication)
    forget_instances(lab, name)
    return Removed(name, files)


def _recorded_only(lab: Lab, text: str) -> tuple[str, TableRef] | None:
    """Return source and table if the database still records the table that the project lacks."""
    try:
        name, ref = named_table(lab, text)
    except LabError:
        return None
    if any(_is(table, name, ref) for table in lab.tables):
        return None
    with connect(lab.endpoints, name) as database:
        recorded = database.captured(source_file(lab, name).publication) or ()
    return (name, ref) if ref in recorded else None


def _captured(lab: Lab, text: str) -> LabTable:
    """Return a table of the lab by its source or silver name. Raises LabError (USAGE)."""
    try:
        name, ref = named_table(lab, text)
    except LabError:
        return lab.table(text)
    found = [table for table in lab.tables if _is(table, name, ref)]
    return found[0] if len(found) == 1 else lab.table(text)


def _is(table: LabTable, source: str, ref: TableRef) -> bool:
    return table.source == source and TableRef(table.db_schema, table.source_name) == ref


def _described(database: Source, source: str, ref: TableRef) -> SourceTable:
    """Describe the table in its database. Raises LabError (USAGE) if it cannot be captured."""
    _require_there(database, source, ref)
    described = database.describe(ref)
    if not described.keys:
        raise LabError(
            f"{ref} has no primary key: its rows could not be told apart in silver",
            hint=f"ALTER TABLE {database.qualified(ref)} ADD PRIMARY KEY (…), then add it again",
            exit_code=ExitCode.USAGE,
        )
    require_plain_names(described)
    return described


def _require_there(database: Source, source: str, ref: TableRef) -> None:
    there = database.tables(ref.schema)
    if ref not in there:
        names = ", ".join(f"{source}.{one}" for one in there) or "none"
        raise LabError(
            f"sources.{source} has no table {ref}",
            hint=f"create it first; tables there: {names}",
            exit_code=ExitCode.USAGE,
        )


def _new_files(
    lab: Lab, name: str, described: SourceTable, limits: Limits
) -> dict[Path, bytes | None]:
    """Return the files to write for a table, by path; empty if the project has it already.

    Columns that changes would lack are left out of capture. Raises LabError (USAGE) if the
    remaining columns could not be captured correctly.
    """
    ref, engine, connector = described.ref, lab.config.sources[name].engine, source_file(lab, name)
    left_out = with_columns_left_out(connector.config, ref, (*limits.columns(),))
    config = dict(connector.config)
    if left_out is not None:
        config[COLUMNS_LEFT_OUT] = left_out
    if problems := list(limit_problems(replace(connector, config=config), {ref: limits})):
        raise LabError(
            problems[0],
            details=tuple(problems[1:]),
            hint="nothing was changed",
            exit_code=ExitCode.USAGE,
        )
    files: dict[Path, bytes | None] = {}
    if not any(_is(table, name, ref) for table in lab.tables):
        files |= _properties_files(lab, name, described)
    elif left_out_by(connector, engine, ref) is None and left_out is None:
        return {}
    text = with_table(connector, engine, ref)
    if left_out is not None:
        there = read_text(connector.path) if text is None else text
        text = without_columns(there, connector.config, left_out)
    if text is not None:
        files[connector.path] = text.encode()
    return files


def _properties_files(lab: Lab, name: str, described: SourceTable) -> dict[Path, bytes | None]:
    """Return a new table's properties file, and the base file it includes if that is missing."""
    ref = described.ref
    settings, connector = lab.config.sources[name], source_file(lab, name)
    database = settings.database if ENGINES[settings.engine].database_in_topic else None
    topic = topic_of(connector.config, ref.schema, ref.name, database=database)
    folder = lab.project / lab.config.silver.properties[0]
    files: dict[Path, bytes | None] = {}
    base = _base(lab, folder)
    if base is None:
        base = folder / BASE
        files[base] = base_text(silver_name(lab.config.name)).encode()
        usual = silver_name(lab.config.name)
    else:
        usual = read_properties(base).get(DATABASE_KEY, "")
    taken = {table.name for table in lab.tables}
    other, table = free_table_name(usual, name, ref.schema, ref.name, taken)
    path = folder / f"{topic}.properties"
    if path.exists():
        raise LabError(
            f"{path} is there, and is of another table",
            hint="nothing was changed; rename that file",
            exit_code=ExitCode.USAGE,
        )
    text = table_text(
        topic=topic,
        table=table,
        keys=[silver_column(key) for key in described.keys],
        database=other,
        topics_dir=_sink_of(lab, topic).topics_dir,
        base=os.path.relpath(base, folder),
    )
    return {**files, path: text.encode()}


def _base(lab: Lab, folder: Path) -> Path | None:
    """Return the base file that a folder's tables share: in it, or above it in the project."""
    for parent in (folder, *folder.parents):
        if (parent / BASE).is_file():
            return parent / BASE
        if parent == lab.project:
            break
    return None


def _sink_of(lab: Lab, topic: str) -> Sink:
    """Return the sink that takes the new topic. Raises LabError (USAGE) if none does."""
    files = sink_files(lab.project)
    if found := [file for file in files if topics_taken(file.config, [topic])]:
        return Sink(found[0], ())
    known = [Sink(file, ()) for file in files]
    raise LabError(
        f"No sink takes the topic {topic!r}, so it would not be in bronze",
        details=tuple(f"{one.place} takes {one.file.config.get(one.topics_key)}" for one in known),
        hint="nothing was changed; add the topic to one of these files",
        exit_code=ExitCode.USAGE,
    )
