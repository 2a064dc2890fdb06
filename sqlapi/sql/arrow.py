"""Conversions of Arrow's arrays and types between files, DuckDB and results."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa

from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type

__all__ = ["arrow_type", "named", "of_texts", "positional"]

_PLAIN: dict[str, pa.DataType] = {
    "boolean": pa.bool_(), "tinyint": pa.int8(), "smallint": pa.int16(), "integer": pa.int32(),
    "bigint": pa.int64(), "real": pa.float32(), "double": pa.float64(), "varchar": pa.string(),
    "varbinary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("ms"),
    "unknown": pa.string(),
}  # fmt: skip


def arrow_type(kind: Type) -> pa.DataType:
    """Return the type in files. Raises SqlError for one that no table can have."""
    if kind.name in _PLAIN:
        return _PLAIN[kind.name]
    match kind.name:
        case "decimal":
            return pa.decimal128(kind.size or 0, kind.scale)
        case "array":
            return pa.list_(arrow_type(kind.args[0]))
        case "map":
            return pa.map_(arrow_type(kind.args[0]), arrow_type(kind.args[1]))
        case "row":
            names = [n or f"field{i}" for i, n in enumerate(kind.fields)]
            return pa.struct([(n, arrow_type(t)) for n, t in zip(names, kind.args, strict=True)])
    raise SqlError("NOT_SUPPORTED", f"Unsupported Hive type: {kind}")


def of_texts(
    column: pa.ChunkedArray[Any], value: Callable[[str], Any], kind: pa.DataType
) -> pa.ChunkedArray[Any]:
    """Return a column with `value` of each string; it is called once per distinct string."""
    made = cache(value)
    chunks: list[Any] = []
    for chunk in column.dictionary_encode().chunks:
        encoded: Any = chunk
        values: Any = pa.array([made(text) for text in encoded.dictionary.to_pylist()], kind)
        chunks.append(values.take(encoded.indices))
    whole: Any = pa.chunked_array
    column_of: pa.ChunkedArray[Any] = whole(chunks, kind)
    return column_of


def positional(column: pa.ChunkedArray[Any], kind: Type) -> pa.ChunkedArray[Any]:
    """Return the column with its rows' fields named f0, f1 and so on, as in DuckDB."""
    if not kind.args:
        return column
    return pa.chunked_array([_renamed(chunk, kind, named=False) for chunk in column.chunks],
                            _shape(column.type, kind, named=False))  # fmt: skip


def named(column: pa.ChunkedArray[Any], kind: Type) -> pa.ChunkedArray[Any]:
    """Undo `positional`: return the column with the fields' own names and the types of files."""
    wanted = arrow_type(kind)
    shaped: Any = column
    if kind.args:
        shape = _shape(column.type, kind, named=True)
        shaped = pa.chunked_array(
            [_renamed(chunk, kind, named=True) for chunk in column.chunks], shape
        )
    cast: pa.ChunkedArray[Any] = shaped.cast(wanted, safe=kind.name != "timestamp")
    return cast


def _field(kind: Type, index: int, *, named: bool) -> str:
    return (kind.fields[index] or f"field{index}") if named else f"f{index}"


def _shape(given: Any, kind: Type, *, named: bool) -> Any:
    if kind.name == "row":
        return pa.struct(
            [
                (_field(kind, i, named=named), _shape(given.field(i).type, t, named=named))
                for i, t in enumerate(kind.args)
            ]
        )
    if kind.name == "array":
        return pa.list_(_shape(given.value_type, kind.args[0], named=named))
    if kind.name == "map":
        return pa.map_(
            _shape(given.key_type, kind.args[0], named=named),
            _shape(given.item_type, kind.args[1], named=named),
        )
    return given


def _renamed(given: Any, kind: Type, *, named: bool) -> Any:
    if not kind.args:
        return given
    if given.offset:
        # the children of a slice begin at the start of the whole array
        given = given.take(pa.array(range(len(given)), pa.int64()))
    mask = given.is_null()
    if kind.name == "row":
        parts = [_renamed(given.field(i), t, named=named) for i, t in enumerate(kind.args)]
        names = [_field(kind, i, named=named) for i in range(len(parts))]
        return pa.StructArray.from_arrays(parts, names, mask=mask)
    if kind.name == "array":
        if pa.types.is_large_list(given.type):
            given = given.cast(pa.list_(given.type.value_type))
        inner = _renamed(given.values, kind.args[0], named=named)
        return pa.ListArray.from_arrays(given.offsets, inner, mask=mask)
    keys = _renamed(given.keys, kind.args[0], named=named)
    items = _renamed(given.items, kind.args[1], named=named)
    return pa.MapArray.from_arrays(given.offsets, keys, items, mask=mask)
