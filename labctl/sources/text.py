"""Conversion of rows between Arrow and the text that databases send and accept."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from labctl.errors import LabError
from labctl.sources.arrays import array_of_texts
from labctl.sources.base import SourceColumn

__all__ = ["from_csv", "row_literals", "statements", "to_csv"]

AnyColumn: TypeAlias = "pa.ChunkedArray[Any]"

_BLOCK_BYTES = 64 << 20
"""Size in bytes of the longest row that can be read."""
_STATEMENT_BYTES = 1 << 20
"""Size of a multi-row statement: far below every server's packet limit, yet large enough to be
fast."""


def from_csv(data: bytes, columns: Sequence[SourceColumn]) -> pa.Table:
    """Return the rows of CSV text in which null is an empty field and an empty string is `""`.

    Each row must end with a newline, the last one too: otherwise Arrow would read a null at the
    end of the text as an empty string, and a single null as no row. Raises LabError for a value
    that has no exact form in silver.
    """
    if data and not data.endswith(b"\n"):
        raise ValueError("the last row has no newline at its end")
    schema = pa.schema([column.field for column in columns])
    if not data:
        return schema.empty_table()
    wire = {c.name: c.wire for c in columns}
    try:
        raw = csv.read_csv(
            io.BytesIO(data),
            read_options=csv.ReadOptions(column_names=list(wire), block_size=_BLOCK_BYTES),
            parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=wire,
                null_values=[""],
                true_values=["t", "1"],
                false_values=["f", "0"],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        arrays = [_arrive(raw[c.name], c) for c in columns]
    except pa.ArrowInvalid as error:
        raise LabError(
            f"A value has no exact silver form: {_named(str(error), columns)}"
        ) from error
    return pa.Table.from_arrays(arrays, schema=schema)


def _named(error: str, columns: Sequence[SourceColumn]) -> str:
    """Return Arrow's message with column names instead of column numbers."""
    return re.sub(r"In CSV column #(\d+)", lambda m: f"column {columns[int(m[1])].name}", error)


def _arrive(column: AnyColumn, declared: SourceColumn) -> AnyColumn:
    """Convert a column from the type of its text to its silver type."""
    target = declared.arrow
    if (element := declared.rule.element) is not None:
        return array_of_texts(column, element, _arrive)
    if pa.types.is_binary(target):
        values = [None if v is None else bytes.fromhex(v) for v in column.to_pylist()]
        return pa.chunked_array([pa.array(values, target)])
    if pa.types.is_float32(target):
        return column.cast(target, safe=False)
    return column.cast(target)


def to_csv(rows: pa.Table) -> bytes:
    """Return rows as text for `COPY … (FORMAT csv)`; binary as `\\x` and hex digits."""
    arrays = [
        _hex(column, "\\x") if pa.types.is_binary(column.type) else column
        for column in rows.columns
    ]
    sink = io.BytesIO()
    table = pa.Table.from_arrays(arrays, names=rows.column_names)
    csv.write_csv(table, sink, csv.WriteOptions(include_header=False))
    return sink.getvalue()


def _hex(column: AnyColumn, prefix: str) -> AnyColumn:
    values = [None if v is None else prefix + v.hex() for v in column.to_pylist()]
    return pa.chunked_array([pa.array(values, pa.string())])


def row_literals(rows: pa.Table) -> AnyColumn:
    """Return each row as `(1,'text',NULL)`; backslashes and quotes are escaped for MySQL."""
    literals = [_literals(rows[name], name) for name in rows.column_names]
    return _join("(", _join(*literals, separator=","), ")")


def _join(*parts: AnyColumn | str, separator: str = "") -> AnyColumn:
    """Join the parts of each row. With a separator a null part becomes `NULL`; without one the
    result is null if any part is."""
    options = pc.JoinOptions("replace", "NULL") if separator else pc.JoinOptions("emit_null")
    joined: AnyColumn = pc.call_function("binary_join_element_wise", [*parts, separator], options)
    return joined


def _literals(column: AnyColumn, name: str) -> AnyColumn:
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    if pa.types.is_floating(kind) and pc.all(pc.is_finite(column)).as_py() is False:
        raise LabError(f"Column {name} holds NaN or infinity, which the database cannot store.")
    if pa.types.is_binary(kind):
        return _join("x'", _hex(column, ""), "'")
    if pa.types.is_timestamp(kind):
        # An instant is written as its UTC wall clock: the session's zone is UTC.
        column = column.cast(pa.timestamp("us"))
    text = column.cast(pa.string())
    if pa.types.is_string(kind):
        text = pc.replace_substring(pc.replace_substring(text, "\\", "\\\\"), "'", "''")
    return _join("'", text, "'") if _is_quoted(kind) else text


def _is_quoted(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_temporal(kind)


def statements(head: str, items: AnyColumn, tail: str = "") -> Iterator[str]:
    """Yield statements `head item,item,… tail`, ending each one soon after `_STATEMENT_BYTES`."""
    batch: list[str] = []
    size = 0
    for item in items.to_pylist():
        batch.append(str(item))
        size += len(batch[-1])
        if size > _STATEMENT_BYTES:
            yield f"{head}{','.join(batch)}{tail}"
            batch, size = [], 0
    if batch:
        yield f"{head}{','.join(batch)}{tail}"
