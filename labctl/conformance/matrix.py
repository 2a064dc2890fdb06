"""The matrix of ends by type, class of values and phase, from the results of tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from labctl.conformance.cases import Case, Column, Row, ValueClass
from labctl.conformance.judging import End, Phase, Result
from labctl.engine_names import EngineName

__all__ = ["WORST", "MatrixCell", "matrix_of"]

WORST = (End.FAILED, End.PUT_ASIDE, End.REFUSED, End.UNCOMPARED, End.EQUAL)
"""Possible ends, worst first."""


class MatrixCell(BaseModel):
    """A type's values of one class, in the load or in the stream."""

    model_config = ConfigDict(frozen=True)

    engine: EngineName
    type: str
    values: ValueClass
    phase: Phase
    end: End
    """Worst end of a table with these values."""
    tables: int
    """Number of tables whose end counts for this cell."""


_OF_OTHERS = (
    "its column '",
    "its columns '",
    "the name '",
    'the name "',
    "has no primary key",
    "its key column is",
    "but now arrives as",
)
"""Parts of a reason for a name, the key, or a column's new type, whatever its values are."""


def matrix_of(
    results: Iterable[Result],
    shrunk: Iterable[Result],
    missing: Mapping[EngineName, Collection[str]] = MappingProxyType({}),
) -> list[MatrixCell]:
    """Return the matrix of a run, without the types that the lab's servers lack (`missing`).

    A failed table counts only as shrunk. A type therefore does not count as failed because of
    another column of its table.
    """
    ends: dict[tuple[EngineName, str, ValueClass, Phase], list[End]] = {}
    for result in [*(r for r in results if r.end is not End.FAILED), *shrunk]:
        lacking = missing.get(result.case.engine, ())
        for column, values, phase in _seen(result.case):
            if column.kind.declared in lacking:
                continue
            if (end := _end(result, column, values, phase)) is not None:
                key = (result.case.engine, column.kind.declared, values, phase)
                ends.setdefault(key, []).append(end)
    return [
        MatrixCell(
            engine=engine,
            type=declared,
            values=values,
            phase=phase,
            end=next(end for end in WORST if end in found),
            tables=len(found),
        )
        for (engine, declared, values, phase), found in sorted(ends.items())
    ]


def _seen(case: Case) -> Iterator[tuple[Column, ValueClass, Phase]]:
    """Yield each column with a class of its values and the phase in which they occur."""
    columns = {column.name: column for column in case.columns}
    found = {
        *(_classes(columns, row, Phase.LOAD) for _, row in case.rows),
        *(_classes(columns, change.cells, Phase.STREAM) for change in case.history),
    }
    seen = sorted({one for group in found for one in group})
    for name, values, phase in seen:
        yield columns[name], values, phase


def _classes(
    columns: dict[str, Column], row: Row, phase: Phase
) -> frozenset[tuple[str, ValueClass, Phase]]:
    return frozenset((name, cell.kind, phase) for name, cell in row.items() if name in columns)


def _end(result: Result, column: Column, values: ValueClass, phase: Phase) -> End | None:
    """Return the end of a column's values, from its table's result; None if that says nothing."""
    if result.end is End.EQUAL:
        return End.EQUAL
    if result.end is End.UNCOMPARED:
        if f"{column.name}: " not in result.reason:
            return End.EQUAL
        return None if _is_uncompared_by_table(result.case, column) else End.UNCOMPARED
    if result.end in (End.PUT_ASIDE, End.REFUSED):
        # Values that silver cannot hold are the reason wherever a column has some.
        is_other = values is not ValueClass.BEYOND and _has_beyond(result.case, column)
        return None if is_other or not _is_blamed(column.name, result.reason) else result.end
    if result.end is End.FAILED and phase is result.phase:
        others = [c for c in result.case.columns if c.name not in result.case.keys]
        # With several columns, any may be the cause, unless the reason names it.
        alone = others == [column] or not others
        return End.FAILED if alone or f"column {column.name}:" in result.reason else None
    return None


def _is_uncompared_by_table(case: Case, column: Column) -> bool:
    """Return whether a column may be uncompared because of its table, whatever its type is.

    In a table with partitions or generated columns, PostgreSQL's log has only the key of an old
    row, so columns that Debezium cannot read again are left out of capture. Without a second form
    of its key, a table has no second comparison. A column that is retyped has another type.
    """
    others = [one for one in case.columns if one is not column]
    return (
        case.parted
        or any(one.generated for one in others)
        or any(one.name in case.keys and one.kind.form is None for one in others)
        or any(
            change.what == "retype" and change.column and change.column.name == column.name
            for change in case.history
        )
    )


def _has_beyond(case: Case, column: Column) -> bool:
    rows = (*(row for _, row in case.rows), *(change.cells for change in case.history))
    cells = (row.get(column.name) for row in rows)
    return any(cell is not None and cell.kind is ValueClass.BEYOND for cell in cells)


def _is_blamed(name: str, reason: str) -> bool:
    """Return whether a table ended so because of this column's type or values."""
    if any(part in reason for part in _OF_OTHERS):
        return False
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", reason) is not None
