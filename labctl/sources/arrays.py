"""PostgreSQL's arrays: which ones silver stores exactly, and how they are read."""

# ruff: noqa: S608 - the templates have no values in them

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from labctl.sources.base import Declared, SourceColumn

if TYPE_CHECKING:
    from labctl.sources.type_rules import TypeRule

__all__ = ["ARRAY", "ELEMENTS", "array_of_texts", "element_of", "elements_sql", "lost_sql"]

ARRAY = "ARRAY"
"""The information schema's name for the type of every array."""
ELEMENTS = (
    *("smallint", "integer", "bigint", "oid", "real", "double precision", "boolean", "numeric"),
    *("date", "bytea"),
    *("text", "character varying", "character", "uuid", "json", "jsonb"),
)
"""Types whose values have the same form in an array as in a scalar column."""
_SIZE = re.compile(r"\((\d+)(?:,(-?\d+))?\)")


def element_of(rules: Mapping[str, TypeRule], declared: Declared) -> SourceColumn | None:
    """Return an array's element as a column; None if silver has the elements in another form."""
    full = declared.full.removesuffix("[]")
    name = _SIZE.sub("", full)
    if full == declared.full or name not in ELEMENTS:
        return None
    size = _SIZE.search(full)
    element = Declared(name, full)
    if name == "numeric":
        if size is None:
            return None  # Without a size, silver has each number's scale and bytes.
        element = Declared(name, full, int(size[1]), int(size[2] or 0))
    column = SourceColumn("element", element, True, rules[name])
    is_wide = name == "numeric" and pa.types.is_string(column.arrow)
    return None if is_wide else column


def elements_sql(element: SourceColumn) -> str:
    """Return the SQL template for an array as a JSON array of texts; NULL for a lost array."""
    value = element.rule.expression.format("e")
    # A cast would remove the blanks that pad a text to its length.
    is_padded = element.declared.name == "character"
    text = f"textin(bpcharout({value}))" if is_padded else f"({value})::text"
    texts = f"json_agg({text} ORDER BY n)::text"
    return (
        f"CASE WHEN NOT ({lost_sql(element)}) THEN coalesce("
        f"(SELECT {texts} FROM unnest({{0}}) WITH ORDINALITY AS u(e, n)), '[]') END"
    )


def lost_sql(element: SourceColumn) -> str:
    """Return the SQL condition that silver has no form for an array; NULL for a NULL array."""
    is_deep = "coalesce(array_ndims({0}), 1 + cardinality({0})) > 1"
    if element.declared.name == "numeric":
        return f"{is_deep} OR {{0}}::text ~ 'NaN|Infinity'"
    return is_deep


def array_of_texts(
    texts: pa.ChunkedArray[Any],
    element: SourceColumn,
    arrive: Callable[[pa.ChunkedArray[Any], SourceColumn], pa.ChunkedArray[Any]],
) -> pa.ChunkedArray[Any]:
    """Return arrays from the texts that `elements_sql` selects; `arrive` converts the elements."""
    arrays = [None if text is None else json.loads(text) for text in texts.to_pylist()]
    offsets = [0]
    for one in arrays:
        offsets.append(offsets[-1] + len(one or ()))
    found = pa.chunked_array([[text for one in arrays for text in one or ()]], pa.string())
    values = arrive(found.cast(element.wire), element).combine_chunks()
    missing = pa.array([one is None for one in arrays], pa.bool_())
    made = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=missing)
    return pa.chunked_array([made])
