"""Loading a data set into the source databases; safe to repeat."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from labctl.config.endpoints import Endpoints, SourceDatabase
from labctl.datasets.data_set import DataSet, SeedTable
from labctl.errors import ExitCode, LabError
from labctl.sources import Source, TableRef, connect, ensure_database
from labctl.verify import TableDiff, changes_between, verify_table

__all__ = [
    "Action",
    "SeedResult",
    "SeededTable",
    "chosen_tables",
    "prepare",
    "seed",
    "sources_of",
]

TableProgress = Callable[[str, str], None]
"""Callback that gets a table's label and what is being done to the table."""


class Action(StrEnum):
    """The effect of seeding on a table."""

    LOADED = "loaded"
    """The table was empty, and was filled."""
    UNCHANGED = "unchanged"
    """The table held exactly the data set's rows."""
    KEPT = "kept"
    """The table holds other rows, which were left alone."""
    RESET = "reset"
    """The table held other rows, and now holds the data set's."""


@dataclass(frozen=True)
class SeededTable:
    """A table after seeding."""

    table: str
    """`schema.table`."""
    engine: str
    rows: int
    """Number of rows in the table now."""
    action: Action
    seconds: float
    written: int = 0
    """Number of rows inserted or updated."""
    deleted: int = 0
    note: str = ""
    """Differences from the data set, for a table that was kept."""


@dataclass(frozen=True)
class SeedResult:
    """The result of seeding a data set."""

    data_set: str
    tables: tuple[SeededTable, ...]
    skipped: tuple[str, ...]
    """Tables that belong to none of the lab's sources."""
    origin: str
    """`generated at scale 1`, or the path of the data set's own files."""
    seconds: float
    without_file: tuple[str, ...] = ()
    """Tables that the data set's own files at `origin` do not have."""

    @property
    def rows(self) -> int:
        """Rows in all seeded tables."""
        return sum(table.rows for table in self.tables)

    @property
    def kept(self) -> tuple[SeededTable, ...]:
        """Tables that hold other rows than the data set's."""
        return tuple(table for table in self.tables if table.action is Action.KEPT)


def prepare(endpoints: Endpoints, data_set: DataSet) -> None:
    """Create the databases and tables that are missing."""
    for name in sources_of(data_set, endpoints.sources):
        ensure_database(endpoints, name)
        with connect(endpoints, name) as source:
            source.run_script(data_set.ddl(source.engine))


def sources_of(
    data_set: DataSet, sources: Mapping[str, SourceDatabase]
) -> dict[str, list[SeedTable]]:
    """Return, by source name, the tables of the data set that belong to that source."""
    found: dict[str, list[SeedTable]] = {}
    for table in data_set.tables:
        fitting = [
            (source.database != table.database, name)
            for name, source in sources.items()
            if source.engine == table.engine and table.schema in source.schemas
        ]
        if fitting:
            _, name = min(fitting, key=itemgetter(0))
            found.setdefault(name, []).append(table)
    return found


def seed(
    endpoints: Endpoints,
    data_set: DataSet,
    *,
    scale: float = 1.0,
    from_path: Path | None = None,
    only: Collection[str] = (),
    reset: bool = False,
    progress: TableProgress = lambda _table, _what: None,
) -> SeedResult:
    """Load every table whose schema a source of the lab has; create missing tables first.

    With `only`, load just the tables that it names. Rows come from the generator at `scale`, or
    from the data set's files at `from_path`; tables without a file there are left out. An empty
    table is filled. A table that holds other rows stays as it is, unless `reset` is given: then
    the rows that differ are deleted, updated and inserted in one transaction, so that change
    capture sees exactly those rows. Each table is changed completely or not at all.
    Raises `LabError` before it touches anything if the input is wrong.
    """
    begun = time.monotonic()
    if from_path is not None and scale != 1.0:
        raise LabError(
            "--scale cannot be combined with --from",
            hint="the original files have a size of their own",
            exit_code=ExitCode.USAGE,
        )
    sources = sources_of(data_set, endpoints.sources)
    ours = [table for tables in sources.values() for table in tables]
    if not ours:
        raise _no_table_fits(data_set, endpoints.sources)
    wanted = chosen_tables(data_set, ours, only)
    rows = _rows(data_set, scale, from_path, wanted)
    without_file = tuple(table.label for table in wanted if table.name not in rows)
    if only and without_file:
        raise LabError(
            f"{from_path} has no file of {', '.join(without_file)}",
            hint="leave the table out of --only, or put its file there",
            exit_code=ExitCode.USAGE,
        )
    prepare(endpoints, data_set)
    tables: list[SeededTable] = []
    for name, its_tables in sources.items():
        with connect(endpoints, name) as source:
            for table in its_tables:
                if table not in wanted or table.name not in rows:
                    continue
                tables.append(_seed_table(source, table, rows[table.name], reset, progress))
    return SeedResult(
        data_set=data_set.name,
        tables=tuple(tables),
        skipped=tuple(table.label for table in data_set.tables if table not in ours),
        without_file=without_file,
        origin=f"generated at scale {scale:g}" if from_path is None else str(from_path),
        seconds=time.monotonic() - begun,
    )


def _no_table_fits(data_set: DataSet, sources: Mapping[str, SourceDatabase]) -> LabError:
    needed = dict.fromkeys(f"{table.engine} {table.schema}" for table in data_set.tables)
    there = (f"{one.engine} {schema}" for one in sources.values() for schema in one.schemas)
    return LabError(
        f"No table of the data set {data_set.name} belongs to a source of this lab",
        hint=f"its tables are in {', '.join(needed)}; the lab has {', '.join(there)}: add a source "
        "to the lab's file, or name another data set (labctl seed --list)",
        exit_code=ExitCode.USAGE,
    )


def chosen_tables(
    data_set: DataSet, tables: list[SeedTable], only: Collection[str]
) -> list[SeedTable]:
    """Return the tables that `only` names, with or without schema; all if `only` is empty.

    Raises LabError (USAGE) for a name that no table has.
    """
    for name in only:
        if not any(name in (table.name, table.label) for table in tables):
            raise LabError(
                f"{data_set.name} has no table {name!r} for a source of this lab",
                hint=f"it has: {', '.join(table.label for table in tables)}",
                exit_code=ExitCode.USAGE,
            )
    return [t for t in tables if not only or t.name in only or t.label in only]


def _rows(
    data_set: DataSet, scale: float, from_path: Path | None, wanted: list[SeedTable]
) -> Mapping[str, pa.Table]:
    if from_path is None:
        return data_set.generate(scale)
    if data_set.read is None:
        raise LabError(
            f"The data set {data_set.name} has no files of its own to load",
            hint="leave --from out: its rows are generated",
            exit_code=ExitCode.USAGE,
        )
    return data_set.read(from_path, wanted)


def _seed_table(
    source: Source, table: SeedTable, rows: pa.Table, reset: bool, progress: TableProgress
) -> SeededTable:
    begun = time.monotonic()
    ref = TableRef(table.schema, table.name)

    def result(
        action: Action, *, written: int = 0, deleted: int = 0, note: str = ""
    ) -> SeededTable:
        progress(table.label, action)
        return SeededTable(
            table=table.label,
            engine=source.engine,
            rows=source.count(ref),
            action=action,
            seconds=time.monotonic() - begun,
            written=written,
            deleted=deleted,
            note=note,
        )

    if source.count(ref) == 0:
        progress(table.label, "loading")
        source.insert(ref, rows)
        return result(Action.LOADED, written=rows.num_rows)
    progress(table.label, "comparing")
    present = source.read(ref)
    diff = verify_table(rows, present, [table.key])
    if lacking := (*diff.columns_missing, *diff.columns_awaited):
        raise LabError(
            f"{source.engine} {ref} lacks the column {', '.join(lacking)}.",
            hint="add it again, or drop the table; then seed",
        )
    if diff.equal:
        return result(Action.UNCHANGED)
    if not reset:
        return result(Action.KEPT, note=_difference(diff))
    progress(table.label, "resetting")
    put, gone = changes_between(rows, present, [table.key])
    with source.transaction():
        source.delete(ref, gone)
        source.upsert(ref, put)
    return result(Action.RESET, written=put.num_rows, deleted=gone.num_rows)


def _difference(diff: TableDiff) -> str:
    """Describe how a table differs from the data set."""
    counts = {"missing": diff.missing, "added": diff.extra, "changed": diff.different}
    return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
