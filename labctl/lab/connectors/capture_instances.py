"""Notes of the instances that record each table, by which a gap between two is noticed.

An instance is a capture instance of SQL Server, or a table's place in a publication of PostgreSQL.
A database that drops one and makes another records, or sends, none of the changes between them, and
the connector reads on from the new one. The notes are among the lab's data, so that a snapshot of
the lab has those of its databases.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from labctl.errors import LabError
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, Instances, Source, TableRef, connect
from labctl.state.lab_state import write_private
from labctl.tables import LabTable

__all__ = [
    "follow_instances",
    "forget_instances",
    "instances_now",
    "instances_of",
    "lost_instances",
    "note_instances",
]


def instances_of(
    database: Source, tables: Iterable[LabTable], publication: str
) -> Mapping[str, Instances]:
    """Return the instances that record a source's tables, by the tables' names in silver.

    Tables without one are left out: with MySQL, all of them.
    """
    if (read := ENGINES[database.engine].instances) is None:
        return {}
    tables = list(tables)
    now = read(database, {_ref(table) for table in tables}, publication)
    return {table.name: now[_ref(table)] for table in tables if now.get(_ref(table))}


def instances_now(lab: Lab, tables: Sequence[LabTable]) -> Mapping[str, Instances]:
    """Return `instances_of` tables of any source. A database that does not answer is left out.

    A promoted lab has no notes, and its databases are not asked.
    """
    if lab.promoted is not None:
        return {}
    found: dict[str, Instances] = {}
    for name in {table.source for table in tables}:
        if ENGINES[lab.config.sources[name].engine].instances is None:
            continue
        with suppress(LabError), connect(lab.endpoints, name) as database:
            mine = [table for table in tables if table.source == name]
            found |= instances_of(database, mine, source_file(lab, name).publication)
    return found


def note_instances(lab: Lab, now: Mapping[str, Instances]) -> None:
    """Note that silver has every change up to these instances."""
    for table, instances in now.items():
        if _noted(lab, table) != instances:
            # Without room on the disk, the next command notes them.
            with suppress(OSError):
                write_private(_path(lab, table), json.dumps(sorted(instances)))


def follow_instances(lab: Lab, now: Mapping[str, Instances]) -> list[str]:
    """Note instances that are beside noted ones, and have followed them without a gap.

    Returns the tables of which none of the noted instances is left.
    """
    lost = [table for table, instances in now.items() if _is_lost(_noted(lab, table), instances)]
    note_instances(lab, {table: now[table] for table in now if table not in lost})
    return lost


def forget_instances(lab: Lab, table: str) -> None:
    """Forget a table that is captured no longer."""
    _path(lab, table).unlink(missing_ok=True)


def lost_instances(
    lab: Lab, tables: Sequence[LabTable], now: Mapping[str, Instances]
) -> Mapping[str, str]:
    """Return the problem of each table whose changes were not recorded for a while.

    None of the noted instances is there any more.
    """
    mine = {table.name: now[table.name] for table in tables if now.get(table.name)}
    lost = follow_instances(lab, mine)
    found: dict[str, str] = {}
    for table in tables:
        if table.name not in lost:
            continue
        instances, noted = mine[table.name], _noted(lab, table.name)
        connector = lab.config.sources[table.source].connector
        found[table.name] = (
            f"capture of its source {_ref(table)} was switched off and on again: "
            f"{', '.join(sorted(instances))} is there instead of {', '.join(sorted(noted))}, and "
            f"any change between them is lost. labctl connectors backfill {table.name} loads its "
            f"rows again, and labctl connectors snapshot {connector} --start-over also removes "
            f"rows that were deleted meanwhile; this stays until labctl verify {table.name} finds "
            "them equal"
        )
    return found


def _is_lost(noted: Instances, now: Instances) -> bool:
    return bool(noted and now and not noted & now)


def _ref(table: LabTable) -> TableRef:
    return TableRef(table.db_schema, table.source_name)


def _noted(lab: Lab, table: str) -> Instances:
    try:
        return frozenset(json.loads(_path(lab, table).read_bytes()))
    except (OSError, ValueError, TypeError):
        return frozenset()


def _path(lab: Lab, table: str) -> Path:
    return lab.state.notes(lab.profile) / f"{quote(table, safe='')}.instances"
