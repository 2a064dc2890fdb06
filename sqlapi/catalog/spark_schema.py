"""Spark's form of columns in a catalog: its schema's JSON, in parts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlapi.sql.types import of_arrow

__all__ = ["PREFIX", "schema_in", "schema_parameters"]

PREFIX = "spark.sql.sources.schema"
_LONGEST = 4000
"""Characters of a part, as in Hudi's sync; this is the limit of Hive's metastore."""
_NAMES = {
    "tinyint": "byte", "smallint": "short", "bigint": "long", "real": "float",
    "varchar": "string", "varbinary": "binary",
}  # fmt: skip


def schema_parameters(fields: Sequence[pa.Field[Any]], keys: Sequence[str]) -> dict[str, str]:
    """Return Spark's parameters that describe the columns, with the partition `keys` last."""
    plain = [field for field in fields if field.name not in keys]
    last = [field for field in fields if field.name in keys]
    text = json.dumps(_struct([*plain, *last]), separators=(",", ":"), ensure_ascii=False)
    parts = [text[start : start + _LONGEST] for start in range(0, len(text), _LONGEST)]
    found = {f"{PREFIX}.numParts": str(len(parts))}
    found |= {f"{PREFIX}.part.{number}": part for number, part in enumerate(parts)}
    if last:
        found[f"{PREFIX}.numPartCols"] = str(len(last))
        found |= {f"{PREFIX}.partCol.{number}": f.name for number, f in enumerate(last)}
    return found


def schema_in(parameters: Mapping[str, str]) -> Any:
    """Return the schema that parameters describe, to compare it; spaces and parts do not matter."""
    count = parameters.get(f"{PREFIX}.numParts", "0")
    parts = [parameters.get(f"{PREFIX}.part.{n}", "") for n in range(int(count or 0))]
    try:
        return json.loads("".join(parts) or "null")
    except ValueError:
        return None


def _struct(fields: Sequence[pa.Field[Any]]) -> dict[str, Any]:
    shown = [
        {"name": f.name, "type": _type(f.type), "nullable": f.nullable, "metadata": {}}
        for f in fields
    ]
    return {"type": "struct", "fields": shown}


def _type(kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return _struct([kind.field(index) for index in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return {
            "type": "map",
            "keyType": _type(kind.key_type),
            "valueType": _type(kind.item_type),
            "valueContainsNull": kind.item_field.nullable,
        }
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return {
            "type": "array",
            "elementType": _type(kind.value_type),
            "containsNull": kind.value_field.nullable,
        }
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return "timestamp_ntz"
    shown = of_arrow(kind)
    return str(shown) if shown.name == "decimal" else _NAMES.get(shown.name, shown.name)
