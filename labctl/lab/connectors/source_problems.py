"""Tables whose source has a problem: it is gone, has no or another key, or is not recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from labctl.errors import LabError
from labctl.kafka.offsets import EndOffsets
from labctl.kafkaconnect.arrival_forecast import silver_column
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.capture_instances import instances_of, lost_instances
from labctl.lab.connectors.dropped_statements import LINES, dropped_statements
from labctl.lab.connectors.schema_history import known_charsets
from labctl.lab.connectors.source_files import source_files
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, Source, TableKeys, TableRef, connect
from labctl.tables import LabTable
from lakecontract.properties import RECORD_KEY

__all__ = ["key_problem", "source_problems"]

_KEY_COLUMNS = "message.key.columns"
"""Connector key that names a row's key columns for tables without a primary key."""


def source_problems(
    lab: Lab, running: Collection[str], ends: EndOffsets | None
) -> Mapping[str, str]:
    """Return the problem of each silver table's source, by table.

    `ends` has the current ends of the topics. Only tables are checked that were captured, by their
    topics, or whose connector is in `running`: before that, a table may be created later. A
    database that does not answer is left out.
    """
    if ends is None:
        return {}
    captured = {table.name for table in lab.tables if any(ends.get(table.topic, {}).values())}
    awaited = [
        table
        for table in lab.tables
        if table.name in captured or lab.config.sources[table.source].connector in running
    ]
    sources = sorted({table.source for table in awaited})
    if not sources:
        return {}
    files = {file.name: file for file in source_files(lab)}

    def ask(source: str) -> dict[str, str]:
        mine = [table for table in awaited if table.source == source]
        try:
            with connect(lab.endpoints, source) as database:
                file = files[lab.config.sources[source].connector]
                before = [table for table in mine if table.name in captured]
                lost = _lost(lab, database, before, file)
                problems = _problems(database, mine, captured, file, lost)
                dropped = _dropped(lab, database, mine, file)
                return dropped | _misread(lab, database, mine, file) | problems
        except LabError:
            return {}

    with ThreadPoolExecutor(max_workers=len(sources)) as pool:
        return {name: why for found in pool.map(ask, sources) for name, why in found.items()}


def _lost(
    lab: Lab, database: Source, tables: Sequence[LabTable], file: ConnectorFile
) -> Mapping[str, str]:
    """Return the tables that were not recorded for a while. A promoted lab has no notes."""
    if lab.promoted is not None:
        return {}
    return lost_instances(lab, tables, instances_of(database, tables, file.publication))


def _dropped(
    lab: Lab, database: Source, tables: Sequence[LabTable], file: ConnectorFile
) -> dict[str, str]:
    """Return the tables that lack what a statement changed, which was logged as text."""
    dropped = ENGINES[database.engine].connector.dropped_statement
    if dropped is None or lab.promoted is not None:
        return {}
    refs = {table.name: TableRef(table.db_schema, table.source_name) for table in tables}
    log = lab.runtime.logs.tail("connect", LINES)
    found = dropped_statements(log, dropped, list(refs.values()))
    return {
        name: (
            f"a session logged a statement on its source {ref} as text, and the connector dropped "
            f"it: {found[ref]}. Have such a session log rows; then labctl connectors backfill "
            f"{name}, or, if it deleted rows, labctl connectors snapshot {file.name} --start-over"
        )
        for name, ref in refs.items()
        if ref in found
    }


def _misread(
    lab: Lab, database: Source, tables: Sequence[LabTable], file: ConnectorFile
) -> dict[str, str]:
    """Return the tables with columns that their connector decodes by a wrong character set."""
    misread = ENGINES[database.engine].misread
    if misread is None or lab.promoted is not None:
        return {}
    refs = {table.name: TableRef(table.db_schema, table.source_name) for table in tables}
    wrong = misread(database, known_charsets(lab, file, refs.values()))
    return {
        name: (
            f"its connector decodes columns of {ref} by another character set than theirs: "
            f"{wrong[ref]}. Have it read its tables' columns and rows again: "
            f"labctl connectors snapshot {file.name}"
        )
        for name, ref in refs.items()
        if ref in wrong
    }


def _problems(
    database: Source,
    tables: Sequence[LabTable],
    captured: Collection[str],
    file: ConnectorFile,
    lost: Mapping[str, str],
) -> dict[str, str]:
    schemas = {table.db_schema for table in tables}
    there = {ref for schema in schemas for ref in database.tables(schema)}
    keys = {ref: key for schema in schemas for ref, key in database.keys_of_tables(schema).items()}
    refs = {TableRef(t.db_schema, t.source_name) for t in tables if t.name in captured} & there
    unrecorded = ENGINES[database.engine].unrecorded(database, sorted(refs), file)
    found = {}
    for table in tables:
        ref = TableRef(table.db_schema, table.source_name)
        if table.name not in captured:
            if ref not in there:
                found[table.name] = table.without_source
        elif ref not in there:
            found[table.name] = (
                f"its source {ref} is gone: dropped, or renamed. Its rows stay as they were; "
                "rename the source back, or take the table's file out of spark/properties"
            )
        elif ref in unrecorded:
            found[table.name] = (
                f"changes of its source {ref} are not recorded: {unrecorded[ref]}; then "
                f"labctl verify {table.name}"
            )
        elif table.name in lost:
            found[table.name] = lost[table.name]
        elif why := key_problem(keys.get(ref), table, file):
            found[table.name] = why
    return found


def key_problem(keys: TableKeys | None, table: LabTable, file: ConnectorFile) -> str | None:
    """Return why rows that differ in the source may be one row in silver; None if they are not.

    Or why a row may be there twice. `keys` are those of the table's source. A record key that the
    properties file names on purpose is no problem if it has all columns of a unique index, and no
    column that the key of the topic's records lacks.
    """
    ref = TableRef(table.db_schema, table.source_name)
    record_key = table.properties.key_fields
    same = f"rows with the same {', '.join(record_key)} are one row here"
    if keys is None or not keys.primary:
        if _KEY_COLUMNS in file.config:
            return None
        return (
            f"its source {ref} has lost its primary key: {same}, and on several partitions an "
            f"older one may win. Give it its key back, then labctl verify {table.name}"
        )
    primary = [silver_column(name) for name in keys.primary]
    place = table.properties.place_of(RECORD_KEY)
    way_back = (
        f"Write {RECORD_KEY}={','.join(primary)} there, then labctl table rebuild {table.name}, "
        f"then labctl connectors snapshot {file.name} --start-over"
    )
    if not any(set(map(silver_column, unique)) <= set(record_key) for unique in keys.unique):
        return (
            f"its source {ref} has the primary key {', '.join(primary)}, and no unique index of "
            f"{', '.join(record_key)}, the record key of {place}: {same}. {way_back}"
        )
    # Debezium splits an update into a delete and an insert only if it changes the message's key.
    others = ", ".join(name for name in record_key if name not in primary)
    if others and _KEY_COLUMNS not in file.config:
        return (
            f"the record key of {place} has {others}, and the primary key of its source {ref} is "
            f"{', '.join(primary)}: a row whose {others} changes is here twice. {way_back}; or "
            f"name the record key in {_KEY_COLUMNS} of {file.path.name}"
        )
    return None
