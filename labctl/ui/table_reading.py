"""Silver tables as the pages show them: their commits, and rows beside what they are now.

The functions run in a process of `lake_workers`. What they import, the page's own process does
not, so that it stays small. So their answers are of classes of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from labctl.ui.cell_text import cell_text

if TYPE_CHECKING:
    from labctl.lab.lab import Lab
    from labctl.lake import TableInfo
    from sqlapi.table_format import Description

__all__ = [
    "MOST_ROWS",
    "Cell",
    "RowThen",
    "TableHistory",
    "TableLine",
    "TablePart",
    "history",
    "part",
    "tables",
]

MOST_ROWS = 100


@dataclass(frozen=True)
class TableLine:
    """A table, as its properties and its timeline describe it. Instants are Hudi's, in UTC."""

    name: str
    """`database.table`."""
    kind: str
    """`copy on write` or `merge on read`."""
    record_key: str
    partition_fields: str
    """The partition columns; empty for an unpartitioned table."""
    ordering: str
    commits: int
    latest: str | None


@dataclass(frozen=True)
class TableHistory:
    """The head of a table's page."""

    line: TableLine
    columns: tuple[str, ...]
    """The source's columns, in the table's order."""
    instants: tuple[str, ...]
    """Instants of its writes that can be read, oldest first."""
    compacted: str | None
    """Instant of the last compaction on the timeline."""


@dataclass(frozen=True)
class Cell:
    """A value."""

    text: str | None
    """None for null."""
    now: str | None = None
    """The value as it is now, where it differs."""


@dataclass(frozen=True)
class RowThen:
    """A row at a moment."""

    key: Mapping[str, str]
    """The key's columns; empty for a key whose values are not exact as text."""
    cells: tuple[Cell, ...]
    is_gone: bool
    """True if there is no such row now."""


@dataclass(frozen=True)
class TablePart:
    """The first rows of a table at a moment."""

    columns: tuple[str, ...]
    rows: tuple[RowThen, ...]
    count: int
    """Rows that meet the condition, the shown ones included."""
    sql: str
    """The query that has these rows."""


def tables(lab: Lab) -> list[TableLine]:
    """Return all silver tables of the lake."""
    from labctl.lake import Lake

    found = Lake(lab.require_running().endpoints.objectstore).tables()
    return [_line(info.name, info, info.commits, info.latest) for info in found]


def history(lab: Lab, name: str) -> TableHistory:
    """Return a table's commits and columns. Raises LabError (USAGE) if there is none."""
    from labctl.lake import Lake

    table = Lake(lab.require_running().endpoints.objectstore).table(name)
    timeline = table.timeline()
    line = _line(table.name, timeline.description, len(timeline.writes), timeline.latest)
    earliest = timeline.earliest_readable() or ""
    done = [commit for commit in timeline.writes if commit.requested >= earliest]
    # Of a merge-on-read table, only a compaction ends as `commit`.
    compactions = [commit.requested for commit in done if commit.action == "commit"]
    return TableHistory(
        line,
        tuple(_own(table.schema().names)),
        tuple(commit.requested for commit in done),
        compactions[-1] if compactions and line.kind == "merge on read" else None,
    )


def _line(name: str, found: TableInfo | Description, commits: int, latest: str | None) -> TableLine:
    kind = found.kind.lower().replace("_", " ")
    fields = (found.record_key, found.partition_fields, found.ordering)
    return TableLine(name, kind, *fields, commits, latest)


def part(
    lab: Lab, name: str, at: str | None, where: str, order: str, is_descending: bool
) -> TablePart:
    """Return the first rows that meet `where`, SQL's condition, at an instant or now.

    Raises LabError (USAGE) for SQL that cannot be run, and for a moment whose files are gone.
    """
    from labctl.lake import Lake, View
    from lakecontract.table_names import quoted
    from sqlapi.hudi.names import KEY_COLUMN

    lake = Lake(lab.require_running().endpoints.objectstore)
    names = lake.table_names()
    table = lake.table(name, names)
    keys = table.timeline().description.record_key.split(",")
    view = View.parse(as_of=at)
    place = quoted(table.name)
    # A line's end, so that a comment of the condition ends there, too.
    condition = f" WHERE ({where.strip()}\n)" if where.strip() else ""
    ordered = ", ".join(
        f"{_quoted(one)}{' DESC' * is_descending}" for one in ([order] if order else keys)
    )
    select = f"SELECT * FROM {place}{condition} ORDER BY {ordered} LIMIT {MOST_ROWS}"  # noqa: S608
    then = _rows(lake.query(select, view, names=names))
    total = lake.query(f"SELECT count(*) AS n FROM {place}{condition}", view, names=names)  # noqa: S608
    now: dict[str, Mapping[str, Any]] | None = None
    if at is not None and then:
        wanted = ", ".join(_literal(row[KEY_COLUMN]) for row in then)
        same = f"SELECT * FROM {place} WHERE {KEY_COLUMN} IN ({wanted})"  # noqa: S608
        now = {row[KEY_COLUMN]: row for row in _rows(lake.query(same, names=names))}
    columns = _own(then[0]) if then else _own(table.schema(view).names)
    rows = tuple(
        row_then(row, row if now is None else now.get(row[KEY_COLUMN]), columns, keys)
        for row in then
    )
    shown = select.replace("\n)", ")") if "--" not in where else select
    return TablePart(tuple(columns), rows, total["n"][0].as_py(), shown)


def row_then(
    then: Mapping[str, Any],
    now: Mapping[str, Any] | None,
    columns: Sequence[str],
    keys: Sequence[str],
) -> RowThen:
    """Return a row beside what it is now; None: there is no such row now."""
    key = {name: str(then[name]) for name in keys if _is_exact_text(then.get(name))}
    if len(key) < len(keys):
        key = {}
    if now is None:
        return RowThen(key, tuple(Cell(cell_text(then[name])) for name in columns), is_gone=True)
    cells = (
        Cell(
            cell_text(then[name]),
            _said(now[name]) if name in now and _differ(then[name], now[name]) else None,
        )
        for name in columns
    )
    return RowThen(key, tuple(cells), is_gone=False)


def _differ(then: object, now: object) -> bool:
    """Return whether two values differ. NaN is no other value than NaN."""
    return then != now and not (then != then and now != now)  # noqa: PLR0124


def _is_exact_text(value: object) -> bool:
    """Return whether a database reads back what `str` writes, whichever engine it is."""
    if isinstance(value, bool | datetime):
        return False
    return isinstance(value, str | int | Decimal | date)


def _rows(answer: Any) -> list[dict[str, Any]]:
    from labctl.lake.answer_rows import records_of

    return records_of(answer)


def _own(names: Iterable[str]) -> list[str]:
    from lakecontract.bookkeeping import BOOKKEEPING

    return [name for name in names if not name.startswith(BOOKKEEPING)]


def _said(value: object) -> str:
    text = cell_text(value)
    return "null" if text is None else text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
