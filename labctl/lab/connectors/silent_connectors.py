"""Check that running connectors write something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from labctl.errors import LabError
from labctl.kafka.offsets import EndOffsets
from labctl.lab.lab import Lab
from labctl.sources import Source, TableRef, connect

__all__ = ["silent_connectors"]


def silent_connectors(
    lab: Lab, running: Iterable[str], ends: EndOffsets | None
) -> Mapping[str, str]:
    """Return the connectors in `running` that wrote nothing although their tables have rows.

    Maps each name to what the connector should have written. `ends` has the current ends of the
    topics. A database is asked only if all topics of its connector are empty; one that does not
    answer is left out.
    """
    if ends is None:
        return {}
    names = set(running)
    silent: dict[str, str] = {}
    for name, source in lab.config.sources.items():
        tables = [table for table in lab.tables if table.source == name]
        written = any(end for table in tables for end in ends.get(table.topic, {}).values())
        if source.connector not in names or written or not tables:
            continue
        try:
            with connect(lab.endpoints, name) as database:
                refs = [TableRef(table.db_schema, table.source_name) for table in tables]
                full = next((ref for ref in refs if _has_rows(database, ref)), None)
        except LabError:
            continue
        if full is not None:
            silent[source.connector] = (
                f"it has written nothing to any topic, though {full} has rows; "
                "labctl logs connect says what it waits for"
            )
    return silent


def _has_rows(database: Source, ref: TableRef) -> bool:
    statement = f"SELECT 1 WHERE EXISTS (SELECT 1 FROM {database.qualified(ref)})"  # noqa: S608
    try:
        return bool(database.execute(statement))
    except LabError:
        # No such table: nothing to capture.
        return False
