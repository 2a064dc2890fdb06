"""Conversion of two columns to one form, in which exactly the equal values are equal."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["AnyColumn", "alike"]

AnyColumn: TypeAlias = "pa.ChunkedArray[Any]"

_MAX_PRECISION = 38
_EXACT_AS_TEXT = ("integer", str(pa.date32()))
"""Kinds whose values silver writes in one way only, if its column is text."""


def alike(a: AnyColumn, b: AnyColumn) -> tuple[AnyColumn, AnyColumn] | None:
    """Return both columns in a common form; None when their types cannot hold the same values.

    A boolean and an integer can: engines that store booleans as 0 and 1 send either. `a` is the
    source's column: silver keeps a text column as text when its type changes at the source.
    """
    if pa.types.is_list(a.type) and pa.types.is_list(b.type):
        return _alike_lists(a, b)
    a, b = _plain(a), _plain(b)
    if pa.types.is_decimal(a.type) and pa.types.is_decimal(b.type):
        return _same_scale(a, b)
    if b.type == pa.string() and _kind(a.type) in _EXACT_AS_TEXT:
        return a.cast(pa.string()), b
    kinds = {_kind(a.type), _kind(b.type)}
    if kinds == {"boolean", "integer"}:
        return a.cast(pa.int64()), b.cast(pa.int64())
    if len(kinds) > 1:
        return None
    return (_bits(a), _bits(b)) if kinds == {"float"} else (a, b)


def _alike_lists(a: AnyColumn, b: AnyColumn) -> tuple[AnyColumn, AnyColumn] | None:
    """Return both columns of lists, with their elements in a common form; None as in `alike`."""
    elements = alike(_elements(a), _elements(b))
    return elements and (_lists(a, elements[0]), _lists(b, elements[1]))


def _elements(lists: AnyColumn) -> AnyColumn:
    chunks: list[Any] = lists.chunks
    return pa.chunked_array([chunk.flatten() for chunk in chunks], lists.type.value_type)


def _lists(column: AnyColumn, elements: AnyColumn) -> AnyColumn:
    """Return the lists of a column, with other elements in the same order."""
    lengths = [length or 0 for length in pc.list_value_length(column).to_pylist()]
    ends = pa.array([0, *accumulate(lengths)], pa.int32())
    values = elements.combine_chunks()
    missing = pa.array(column.is_null().to_pylist(), pa.bool_())
    return pa.chunked_array([pa.ListArray.from_arrays(ends, values, mask=missing)])


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    return "float" if pa.types.is_floating(kind) else str(kind)


def _plain(column: AnyColumn) -> AnyColumn:
    """Return a column without properties that carry no value: width, zone, encoding."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_timestamp(kind):
        instants = column.cast(pa.timestamp("us", kind.tz))
        return instants.cast(pa.int64()).cast(pa.timestamp("us"))
    plain = _PLAIN_TYPES.get(kind.id)
    return column if plain is None else column.cast(plain)


_PLAIN_TYPES: dict[int, pa.DataType] = {
    **{t.id: pa.int64() for t in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16())},
    pa.uint32().id: pa.int64(),
    pa.float16().id: pa.float64(),
    pa.float32().id: pa.float64(),
    pa.large_string().id: pa.string(),
    pa.string_view().id: pa.string(),
    pa.large_binary().id: pa.binary(),
    pa.binary_view().id: pa.binary(),
    pa.binary(1).id: pa.binary(),
    pa.date64().id: pa.date32(),
}


def _bits(column: AnyColumn) -> AnyColumn:
    """Return floats as their bits, so that -0.0 is not 0.0; every NaN is the same NaN."""
    one_nan = pc.if_else(pc.is_nan(column), pa.scalar(float("nan")), column)
    return pa.chunked_array([chunk.view(pa.int64()) for chunk in one_nan.chunks], pa.int64())


def _same_scale(a: AnyColumn, b: AnyColumn) -> tuple[AnyColumn, AnyColumn] | None:
    scale = max(a.type.scale, b.type.scale)
    whole = max(t.precision - t.scale for t in (a.type, b.type))
    if whole + scale > _MAX_PRECISION:
        return None
    common = pa.decimal128(whole + scale, scale)
    return a.cast(common), b.cast(common)
