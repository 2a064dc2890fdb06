"""Maps. Two equal keys fail, as in Trino."""

from __future__ import annotations

from sqlapi.sql.binding import applied
from sqlapi.sql.code import Code, coerced
from sqlapi.sql.functions.registry import function, simple, wrong_arguments
from sqlapi.sql.types import UNKNOWN, VARCHAR, Type, array, common, map_of

_MULTIMAP = map_of(VARCHAR, array(VARCHAR))
simple("split_to_multimap", [VARCHAR, VARCHAR, VARCHAR], _MULTIMAP,
       "CAST(t_grouped(t_split_to_pairs({0}, {1}, {2})) AS MAP(VARCHAR, VARCHAR[]))")  # fmt: skip
simple("split_to_map", [VARCHAR, VARCHAR, VARCHAR], map_of(VARCHAR, VARCHAR),
       "t_split_to_map({0}, {1}, {2})")  # fmt: skip


def _map(code: Code, name: str) -> tuple[Type, Type]:
    if code.type.name != "map":
        raise wrong_arguments(name, [code])
    key, value = code.type.args
    return key, value


@function("map")
def _of_arrays(keys: Code | None = None, values: Code | None = None) -> Code:
    if keys is None or values is None:
        kind = map_of(UNKNOWN, UNKNOWN)
        return Code(f"CAST(map([], []) AS {kind.duck})", kind)
    if keys.type.name != "array" or values.type.name != "array":
        raise wrong_arguments("map", [keys, values])
    kind = map_of(keys.type.args[0], values.type.args[0])
    return Code(f"map({keys.sql}, {values.sql})", kind)


@function("map_keys")
def _map_keys(code: Code) -> Code:
    return Code(f"map_keys({code.sql})", array(_map(code, "map_keys")[0]))


@function("map_values")
def _map_values(code: Code) -> Code:
    return Code(f"map_values({code.sql})", array(_map(code, "map_values")[1]))


@function("map_entries")
def _map_entries(code: Code) -> Code:
    from sqlapi.sql.types import row

    kind = array(row(_map(code, "map_entries")))
    entries = f'list_transform(map_entries({code.sql}), lambda "t_e": '
    return Code(f'{entries}struct_pack("f0" := "t_e".key, "f1" := "t_e".value))', kind)


@function("map_from_entries")
def _map_from_entries(code: Code) -> Code:
    if code.type.name != "array" or code.type.args[0].name != "row":
        raise wrong_arguments("map_from_entries", [code])
    inner = code.type.args[0].args
    if len(inner) != 2:
        raise wrong_arguments("map_from_entries", [code])
    kind = map_of(*inner)
    keys, values = (f'list_transform({code.sql}, lambda "t_e": "t_e".f{i})' for i in (0, 1))
    return Code(f"CASE WHEN {code.sql} IS NOT NULL THEN map({keys}, {values}) END", kind)


@function("multimap_from_entries")
def _multimap_from_entries(code: Code) -> Code:
    inner = code.type.args[0].args if code.type.name == "array" else ()
    plain = len(inner) == 2 and not inner[0].args
    if not plain or inner[0].name in ("double", "real", "json", "unknown"):
        raise wrong_arguments("multimap_from_entries", [code])
    kind = map_of(inner[0], array(inner[1]))
    pairs = f'list_transform({code.sql}, lambda "t_x": struct_pack(k := "t_x".f0, v := "t_x".f1))'
    return Code(f"CAST(t_grouped({pairs}) AS {kind.duck})", kind)


@function("map_concat")
def _map_concat(first: Code, second: Code, *others: Code) -> Code:
    if others:
        return applied(_map_concat, applied(_map_concat, first, second), *others)
    _map(first, "map_concat")
    kind = common(first.type, second.type)
    if kind is None:
        raise wrong_arguments("map_concat", [first, second])
    a, b = coerced(first, kind).sql, coerced(second, kind).sql
    # the last map's entries come first and take precedence
    rest = f'list_filter(map_entries({a}), lambda "t_e": NOT map_contains({b}, "t_e".key))'
    made = f"map_from_entries(list_concat(map_entries({b}), {rest}))"
    return Code(f"CASE WHEN {a} IS NULL OR {b} IS NULL THEN NULL ELSE {made} END", kind)
