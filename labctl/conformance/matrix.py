"""What is known of each type, class of values and phase, by how tables with them ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict

from labctl.config.model import SourceEngine
from labctl.conformance.judging import End, Phase, Result
from labctl.conformance.model import Case, Column, Row, ValueClass

__all__ = ["WORST", "MatrixCell", "matrix_of"]

WORST = (End.FAILED, End.PUT_ASIDE, End.REFUSED, End.UNCOMPARED, End.EQUAL)
"""Ends, the worst first."""


class MatrixCell(BaseModel):
    """One type's values of one class, in the load or in the stream."""

    model_config = ConfigDict(frozen=True)

    engine: SourceEngine
    type: str
    values: ValueClass
    phase: Phase
    end: End
    """The worst that a table showed of it."""
    tables: int
    """How many tables showed something of it."""


def matrix_of(results: Iterable[Result], shrunk: Iterable[Result]) -> list[MatrixCell]:
    """Return the matrix of a run. Of failed tables only what is left when they are shrunk counts.

    So a type is not called failed because another column of its table is.
    """
    ends: dict[tuple[SourceEngine, str, ValueClass, Phase], list[End]] = {}
    for result in [*(r for r in results if r.end is not End.FAILED), *shrunk]:
        for column, values, phase in _seen(result.case):
            if (end := _end(result, column, phase)) is not None:
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
    """The columns, with the classes of values that each phase has of them."""
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


def _end(result: Result, column: Column, phase: Phase) -> End | None:
    """What a table's end says of one of its columns; None where it says nothing."""
    named = column.name in result.reason
    if result.end is End.EQUAL:
        return End.EQUAL
    if result.end is End.UNCOMPARED:
        return End.UNCOMPARED if f"{column.name}: " in result.reason else End.EQUAL
    if result.end in (End.PUT_ASIDE, End.REFUSED):
        return result.end if named else None
    if result.end is End.FAILED and phase is result.phase:
        others = [c for c in result.case.columns if c.name not in result.case.keys]
        # Of several columns any may be the one, unless it is named.
        alone = others == [column] or not others
        return End.FAILED if alone or f"column {column.name}:" in result.reason else None
    return None
