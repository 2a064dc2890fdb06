"""Exact comparison of two tables by key and content.

Text is compared by its characters (blanks at the end count), floats by their bits (so -0.0 is not
0.0, and NaN is NaN), decimals by value whatever their scale, integers by value whatever their
width, timestamps by their microseconds whether or not a zone is attached.
"""

# ruff: noqa: S608 - the only names in these statements are made here

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from labctl.errors import LabError
from labctl.lake.view import live_rows
from labctl.sources.base import JSON_MARK
from labctl.verify.alike import AnyColumn, alike
from labctl.verify.diff import Cell, RowChange, TableDiff, cell
from labctl.verify.json_values import as_json
from lakecontract.bookkeeping import BOOKKEEPING

__all__ = ["changes_between", "verify_table"]


_SHOWN = 20


def verify_table(
    source: pa.Table,
    silver: pa.Table,
    keys: Sequence[str],
    *,
    unread: Sequence[str] = (),
    lost: Sequence[str] = (),
    shown: int = _SHOWN,
) -> TableDiff:
    """Compare a source table with its silver table.

    Bookkeeping columns (`__…`, `_hoodie_…`) are left out, and silver rows marked deleted count as
    absent. `unread` are columns (`name: type`) that `source` lacks because they cannot be read
    exactly. `lost` are columns with values that silver has no form for, which are read as NULL. At
    most `shown` rows of each kind are named, in key order; the counts are complete. Raise
    `LabError` when a key column is missing or when the source's keys repeat.
    """
    silver = live_rows(silver)
    if unread_keys := [column for column in unread if column.partition(":")[0] in keys]:
        raise LabError(f"The key column cannot be compared by its type: {unread_keys[0]}.")
    _require(source, keys, "source")
    _require(silver, keys, "silver")
    comparison = _Comparison(source, silver, keys, unread, lost)
    with duckdb.connect(":memory:") as engine:
        return comparison.run(engine, shown)


def changes_between(
    wanted: pa.Table, present: pa.Table, keys: Sequence[str]
) -> tuple[pa.Table, pa.Table]:
    """Return what turns `present` into `wanted`: rows to put there, and keys of rows to remove.

    Both tables have unique keys. Columns that only `present` has are left as they are.
    """
    comparison = _Comparison(wanted, present, keys)
    with duckdb.connect(":memory:") as engine:
        pairs = comparison.pairs(engine)
    put = pairs["source"].drop_null()
    gone = pairs["silver"].filter(pc.is_null(pairs["source"]))
    return wanted.take(put), present.select(list(keys)).take(gone)


def _require(table: pa.Table, keys: Sequence[str], side: str) -> None:
    absent = [key for key in keys if key not in table.column_names]
    if absent or not keys:
        raise LabError(
            f"The {side} table has no key column {', '.join(absent) or 'at all'}.",
            hint="verify compares rows by the table's primary key",
        )


class _Comparison:
    """Two tables, prepared so that equal values have equal representations."""

    def __init__(
        self,
        source: pa.Table,
        silver: pa.Table,
        keys: Sequence[str],
        unread: Sequence[str] = (),
        lost: Sequence[str] = (),
    ) -> None:
        self.source, self.silver, self.keys = source, silver, list(keys)
        left_out = {column.partition(":")[0] for column in unread}
        theirs = [
            name
            for name in silver.column_names
            if not name.startswith(BOOKKEEPING) and name not in left_out
        ]
        lacking = [name for name in source.column_names if name not in theirs]
        self.awaited = tuple(n for n in lacking if source[n].null_count == source.num_rows)
        self.missing = tuple(name for name in lacking if name not in self.awaited)
        self.extra = tuple(n for n in theirs if n not in source.column_names)
        self.incomparable = [*unread, *lost]
        self.compared: list[str] = []
        left: dict[str, AnyColumn] = {}
        right: dict[str, AnyColumn] = {}
        for name in (n for n in source.column_names if n in theirs):
            pair = alike(source[name], silver[name])
            if pair is not None and JSON_MARK in (source.schema.field(name).metadata or {}):
                pair = as_json(pair[0]), as_json(pair[1])
            if pair is None:
                types = f"{name}: {source[name].type}, {silver[name].type}"
                self.incomparable.append(types)
                if name in keys:
                    raise LabError(f"The key column cannot be compared by its types: {types}.")
                continue
            alias = f"k{self.keys.index(name)}" if name in keys else f"v{len(self.compared)}"
            if name not in keys:
                self.compared.append(name)
            left[alias], right[alias] = pair
        self.left = _with_positions(left, source.num_rows)
        self.right = _with_positions(right, silver.num_rows)

    def pairs(self, engine: duckdb.DuckDBPyConnection) -> pa.Table:
        """Return the positions of differing rows, in key order: null for a side without the row."""
        engine.register("source", self.left)
        engine.register("silver", self.right)
        numbers = range(len(self.keys))
        joined = " AND ".join(f"a.k{i} = b.k{i}" for i in numbers)
        differs = [f"a.v{i} IS DISTINCT FROM b.v{i}" for i in range(len(self.compared))]
        absent = ["a.position IS NULL", "b.position IS NULL"]
        order = ", ".join(f"coalesce(a.k{i}, b.k{i})" for i in numbers)
        differing: pa.Table = engine.sql(
            "SELECT a.position AS source, b.position AS silver"
            f" FROM source a FULL JOIN silver b ON {joined}"
            f" WHERE {' OR '.join(absent + differs)} ORDER BY {order}, silver"
        ).to_arrow_table()
        return differing

    def repeated(self, engine: duckdb.DuckDBPyConnection, side: str) -> AnyColumn:
        """Return the position of the first row of each key that a side has more than once."""
        key = ", ".join(f"k{i}" for i in range(len(self.keys)))
        repeated: pa.Table = engine.sql(
            f"SELECT min(position) AS position FROM {side}"
            f" GROUP BY {key} HAVING count(*) > 1 ORDER BY {key}"
        ).to_arrow_table()
        return repeated["position"]

    def run(self, engine: duckdb.DuckDBPyConnection, shown: int) -> TableDiff:
        pairs = self.pairs(engine)
        ambiguous = self.repeated(engine, "source")
        if len(ambiguous):
            first = dict(self._name(self.source, ambiguous[:1])[0])
            raise LabError(f"The source has more than one row with the key {first}.")
        return self._report(pairs, self.repeated(engine, "silver"), shown)

    def _report(self, pairs: pa.Table, twice: AnyColumn, shown: int) -> TableDiff:
        ours, theirs = pairs["source"], pairs["silver"]
        missing = ours.filter(pc.is_null(theirs))
        extra = theirs.filter(pc.is_null(ours))
        both = pairs.filter(pc.and_(pc.is_valid(ours), pc.is_valid(theirs)))
        return TableDiff(
            source_rows=self.source.num_rows,
            silver_rows=self.silver.num_rows,
            missing=len(missing),
            extra=len(extra),
            different=both.num_rows,
            duplicated=len(twice),
            missing_keys=self._name(self.source, missing[:shown]),
            extra_keys=self._name(self.silver, extra[:shown]),
            changes=self._changes(both.slice(0, shown)),
            duplicated_keys=self._name(self.silver, twice[:shown]),
            columns_missing=self.missing,
            columns_awaited=self.awaited,
            columns_extra=self.extra,
            columns_incomparable=tuple(self.incomparable),
        )

    def _name(self, table: pa.Table, positions: AnyColumn) -> tuple[Mapping[str, Cell], ...]:
        rows = table.select(self.keys).take(positions).to_pylist()
        return tuple({name: cell(value) for name, value in row.items()} for row in rows)

    def _changes(self, pairs: pa.Table) -> tuple[RowChange, ...]:
        ours, theirs = pairs["source"], pairs["silver"]
        keys = self._name(self.source, ours)
        columns: list[dict[str, tuple[Cell, Cell]]] = [{} for _ in keys]
        for index, name in enumerate(self.compared):
            alias = f"v{index}"
            old, new = self.left[alias].take(ours), self.right[alias].take(theirs)
            shown = zip(
                _values(old),
                _values(new),
                _values(self.source[name].take(ours)),
                _values(self.silver[name].take(theirs)),
                strict=True,
            )
            for row, (a, b, source_value, silver_value) in enumerate(shown):
                if a != b:
                    columns[row][name] = (cell(source_value), cell(silver_value))
        return tuple(RowChange(key, c) for key, c in zip(keys, columns, strict=True))


def _values(column: AnyColumn) -> list[Any]:
    """Return the column's values, as text if Python cannot hold them (the year 10000, say)."""
    try:
        return column.to_pylist()
    except OverflowError:
        if pa.types.is_list(column.type):
            return [
                _values(pa.chunked_array([one.values])) if one.is_valid else None for one in column
            ]
        return column.cast(pa.string()).to_pylist()


def _with_positions(columns: dict[str, AnyColumn], rows: int) -> pa.Table:
    positions = pa.chunked_array([np.arange(rows)])
    return pa.Table.from_arrays([*columns.values(), positions], names=[*columns, "position"])
