"""Rows of a query as plain values: by name, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakecontract.bookkeeping import BOOKKEEPING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["own_columns", "records_of", "rows_csv", "values_of"]


def own_columns(answer: pa.Table, sql: str) -> pa.Table:
    """Leave out what Hudi, Debezium and the application add to a table, unless `sql` names it."""
    named = set(re.findall(r"\w+", sql.lower()))
    kept = [
        number
        for number, name in enumerate(answer.column_names)
        if not name.startswith(BOOKKEEPING) or name.lower() in named
    ]
    return answer.select(kept) if kept else answer


def rows_csv(answer: pa.Table) -> str:
    """Write all rows as CSV with a header line; null is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answer.column_names)
    for row in values_of(answer):
        writer.writerow("" if value is None else value for value in row)
    return text.getvalue()


def records_of(answer: pa.Table) -> list[dict[str, object]]:
    """Return all rows as dictionaries. A further column of one name is called `name_2`."""
    names: list[str] = []
    for name in answer.column_names:
        free = (name, *(f"{name}_{number}" for number in range(2, answer.num_columns + 2)))
        names.append(next(one for one in free if one not in names))
    return [dict(zip(names, row, strict=True)) for row in values_of(answer)]


def values_of(answer: pa.Table) -> Iterator[tuple[object, ...]]:
    """Yield the values of each row, also where several columns have one name."""
    return zip(*map(_values, answer.columns), strict=True)


def _values(column: pa.ChunkedArray[Any]) -> list[object]:
    """Return a column's values; as text where Python has no such dates, before year 1 or after
    9999."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        import duckdb
        import pyarrow as pa

        text = duckdb.from_arrow(pa.table([column], names=["c"])).project("CAST(c AS VARCHAR) AS c")
        return list(text.to_arrow_table()["c"].to_pylist())
