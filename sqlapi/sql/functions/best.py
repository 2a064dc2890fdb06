"""Aggregates that return the several largest or smallest values, and maps of groups."""

from __future__ import annotations

from collections.abc import Sequence

from sqlapi.sql.code import Code, failing
from sqlapi.sql.functions.aggregates import AGGREGATES, Aggregate, Call
from sqlapi.sql.functions.registry import wrong_arguments
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type, array, map_of

__all__: list[str] = []

_MOST = 10_000
"""Largest number of values that Trino returns."""


def _several(name: str, only_one: Aggregate, duck: str) -> Aggregate:
    """Return the aggregate, whose last argument may be how many values are wanted."""
    is_by = name.endswith("_by")

    def make(call: Call, codes: Sequence[Code]) -> Code:
        if len(codes) != (3 if is_by else 2):
            return only_one(call, codes)
        *values, number = codes
        if not isinstance(number.value, int) or not number.type.is_integer:
            raise SqlError("NOT_SUPPORTED", f"Function {name} with a computed number of values")
        if not 0 < number.value <= _MOST:
            raise SqlError(
                "INVALID_FUNCTION_ARGUMENT", f"third argument of {name} must be from 1 to {_MOST}"
            )
        key = values[-1]
        if key.type.args or key.type.name in ("json", "unknown"):
            raise wrong_arguments(name, codes)
        sql = key.sql
        if key.type.name in ("double", "real"):
            refused = failing("NOT_SUPPORTED", f"'{name} of NaN'", key.type.duck)
            sql = f"CASE WHEN isnan({sql}) THEN {refused} ELSE {sql} END"
        if not is_by:
            return Code(call(f"{duck}({sql}, {number.value})"), array(key.type))
        # DuckDB would leave out values that are NULL; those whose key is NULL do not count
        made = call(f"{duck}(struct_pack(v := {values[0].sql}), {sql}, {number.value})")
        kind = array(values[0].type)
        return Code(f"list_transform({made}, lambda t_v: t_v.v)", kind)

    return make


for _name, _duck in (("max", "max"), ("min", "min"), ("max_by", "arg_max"), ("min_by", "arg_min")):
    AGGREGATES[_name] = _several(_name, AGGREGATES[_name], _duck)


def check_key(name: str, kind: Type, codes: Sequence[Code]) -> None:
    """Raise SqlError for a type that is not supported as a key of a map."""
    if kind.args or kind.name in ("double", "real", "unknown", "json"):
        raise wrong_arguments(name, codes)


def _multimap_agg(call: Call, codes: Sequence[Code]) -> Code:
    if len(codes) != 2:
        raise wrong_arguments("multimap_agg", codes)
    key, value = codes
    check_key("multimap_agg", key.type, codes)
    kind = map_of(key.type, array(value.type))
    pairs = call(f"list(CASE WHEN {key.sql} IS NOT NULL THEN"
                 f" struct_pack(k := {key.sql}, v := {value.sql}) END)")  # fmt: skip
    return Code(f"CAST(t_multimap({pairs}) AS {kind.duck})", kind)


def _map_union(call: Call, codes: Sequence[Code]) -> Code:
    if len(codes) != 1 or codes[0].type.name != "map":
        raise wrong_arguments("map_union", codes)
    kind = codes[0].type
    check_key("map_union", kind.args[0], codes)
    pairs = (
        f"list_transform(map_entries({codes[0].sql}),"
        " lambda t_v: struct_pack(k := t_v.key, v := t_v.value))"
    )
    listed = f"flatten(list_filter({call(f'list({pairs})')}, lambda t_w: t_w IS NOT NULL))"
    there = call(f"count({codes[0].sql})")
    made = (
        f"coalesce(CAST(t_map_of_first({listed}) AS {kind.duck}), CAST(map([], []) AS {kind.duck}))"
    )
    return Code(f"CASE WHEN {there} > 0 THEN {made} END", kind)


AGGREGATES["multimap_agg"] = _multimap_agg
AGGREGATES["map_union"] = _map_union
