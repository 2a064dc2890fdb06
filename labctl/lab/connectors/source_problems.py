"""Tables whose source has a problem: it is gone, has no key, or is not recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from labctl.errors import LabError
from labctl.kafka.offsets import EndOffsets
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.source_files import source_files
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, Source, TableRef, connect
from labctl.tables import LabTable

__all__ = ["KEY_COLUMNS", "source_problems"]

KEY_COLUMNS = "message.key.columns"
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
                return _problems(database, mine, captured, file)
        except LabError:
            return {}

    with ThreadPoolExecutor(max_workers=len(sources)) as pool:
        return {name: why for found in pool.map(ask, sources) for name, why in found.items()}


def _problems(
    database: Source,
    tables: Sequence[LabTable],
    captured: Collection[str],
    file: ConnectorFile,
) -> dict[str, str]:
    schemas = {table.db_schema for table in tables}
    there = {ref for schema in schemas for ref in database.tables(schema)}
    keyed = {ref for schema in schemas for ref in database.keyed_tables(schema)}
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
        elif KEY_COLUMNS not in file.config and ref not in keyed:
            key = ", ".join(table.properties.key_fields)
            found[table.name] = (
                f"its source {ref} has lost its primary key: rows with the same {key} are one row "
                "here, and on several partitions an older one may win. Give it its key back, then "
                f"labctl verify {table.name}"
            )
    return found
