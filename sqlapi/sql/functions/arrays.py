"""Arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlapi.sql.casts import cast
from sqlapi.sql.code import Code, coerced, failing
from sqlapi.sql.functions.registry import element_of, function, wrong_arguments
from sqlapi.sql.macros import MOST_ELEMENTS
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAY_TO_SECOND,
    UNKNOWN,
    VARBINARY,
    VARCHAR,
    YEAR_TO_MONTH,
    Type,
    array,
    common,
    row,
)

if TYPE_CHECKING:
    pass

_PLAIN = ("double", "real", "json", "map", "row", "array")


def _compared(code: Code, name: str, *others: Code) -> Type:
    element = element_of(code, name, *others)
    if element.name in _PLAIN:
        raise SqlError("NOT_SUPPORTED", f"Function {name} of {code.type} is not supported")
    return element


@function("cardinality")
def _cardinality(code: Code) -> Code:
    if code.type == UNKNOWN:
        return Code("CAST(NULL AS BIGINT)", BIGINT)
    if code.type.name == "map":
        return Code(f"CAST(cardinality({code.sql}) AS BIGINT)", BIGINT)
    element_of(code, "cardinality")
    return Code(f"CAST(len({code.sql}) AS BIGINT)", BIGINT)


@function("contains")
def _contains(code: Code, value: Code) -> Code:
    kind = common(_compared(code, "contains", value), value.type)
    if kind is None:
        raise wrong_arguments("contains", [code, value])
    return Code(
        f"t_contains({coerced(code, array(kind)).sql}, {coerced(value, kind).sql})", BOOLEAN
    )


@function("array_position")
def _array_position(code: Code, value: Code) -> Code:
    kind = common(_compared(code, "array_position", value), value.type)
    if kind is None:
        raise wrong_arguments("array_position", [code, value])
    a, x = coerced(code, array(kind)).sql, coerced(value, kind).sql
    null = f"{a} IS NULL OR {x} IS NULL"
    found = f"coalesce(CAST(list_position({a}, {x}) AS BIGINT), 0)"
    return Code(f"CASE WHEN {null} THEN NULL ELSE {found} END", BIGINT)


@function("array_join")
def _array_join(code: Code, separator: Code, null: Code | None = None) -> Code:
    element = element_of(code, "array_join", separator)
    if element.name in ("json", "map", "row", "array"):
        raise wrong_arguments("array_join", [code, separator])
    inner = cast(Code('"t_x"', element), VARCHAR).sql
    texts = f'list_transform({code.sql}, lambda "t_x": {inner})'
    kept = (
        f'list_transform({texts}, lambda "t_y": coalesce("t_y", {null.sql}))'
        if null
        else f'list_filter({texts}, lambda "t_y": "t_y" IS NOT NULL)'
    )
    joined = f"coalesce(t_join({kept}, {separator.sql}), '')"
    return Code(f"CASE WHEN {code.sql} IS NOT NULL THEN {joined} END", VARCHAR)


@function("array_sort")
def _array_sort(code: Code) -> Code:
    if element_of(code, "array_sort").name not in ("double", "real"):
        _compared(code, "array_sort")
    return Code(f"list_sort({code.sql}, 'ASC', 'NULLS LAST')", code.type)


@function("array_distinct")
def _array_distinct(code: Code) -> Code:
    _compared(code, "array_distinct")
    return Code(f"t_distinct({code.sql})", code.type)


@function("array_max")
def _array_max(code: Code) -> Code:
    return _extreme("max", code)


@function("array_min")
def _array_min(code: Code) -> Code:
    return _extreme("min", code)


def _extreme(name: str, code: Code) -> Code:
    element = element_of(code, f"array_{name}")
    if element.name in ("double", "real"):
        # the result is NaN only if there is no other number; in DuckDB, NaN is the largest number
        numbers = f'list_filter({code.sql}, lambda "t_x": NOT isnan("t_x"))'
        found = f"coalesce(list_{name}({numbers}), list_{name}({code.sql}))"
        null = f"len({code.sql}) > list_count({code.sql})"
        return Code(f"CASE WHEN {null} THEN NULL ELSE {found} END", element)
    element = _compared(code, f"array_{name}")
    null = f"len({code.sql}) > list_count({code.sql})"
    return Code(f"CASE WHEN {null} THEN NULL ELSE list_{name}({code.sql}) END", element)


@function("reverse")
def _reverse(code: Code) -> Code:
    if code.type.name == "varchar":
        return Code(f"t_reverse({code.sql})", VARCHAR)
    if code.type == UNKNOWN:
        raise wrong_arguments("reverse", [code])
    if code.type == VARBINARY:
        return Code(f"t_reversed_bytes({code.sql})", VARBINARY)
    element_of(code, "reverse")
    return Code(f"list_reverse({code.sql})", code.type)


@function("slice")
def _slice(code: Code, start: Code, length: Code) -> Code:
    element_of(code, "slice", start, length)
    a, i, n = code.sql, coerced(start, BIGINT).sql, coerced(length, BIGINT).sql
    bad = failing("INVALID_FUNCTION_ARGUMENT", "'SQL array indices start at 1'", code.type.duck)
    return Code(
        f"CASE WHEN {i} = 0 OR {n} < 0 THEN {bad} ELSE t_slice({a}, {i}, {n}) END", code.type
    )


@function("element_at")
def _element_at(code: Code, key: Code) -> Code:
    if code.type.name == "map":
        kind = common(code.type.args[0], key.type)
        if kind is not None and kind.name == "varchar" and kind != code.type.args[0]:
            # a longer text is no key
            found = f"map_extract_value({code.sql}, {key.sql})"
            return Code(found, code.type.args[1])
        if kind != code.type.args[0]:
            raise wrong_arguments("element_at", [code, key])
        return Code(f"map_extract_value({code.sql}, {coerced(key, kind).sql})", code.type.args[1])
    element = element_of(code, "element_at", key)
    zero = failing("INVALID_FUNCTION_ARGUMENT", "'SQL array indices start at 1'", element.duck)
    index = coerced(key, BIGINT).sql
    found = f"list_extract({code.sql}, {index})"
    return Code(f"CASE WHEN {index} = 0 THEN {zero} ELSE {found} END", element)


@function("flatten")
def _flatten(code: Code) -> Code:
    inner = element_of(code, "flatten")
    element_of(Code("", inner), "flatten")
    return Code(f"flatten({code.sql})", inner)


@function("ngrams")
def _ngrams(code: Code, size: Code) -> Code:
    kind = array(code.type)
    element_of(code, "ngrams", size)
    number = coerced(size, BIGINT).sql
    bad = failing("INVALID_FUNCTION_ARGUMENT", "'N must be positive'", kind.duck)
    starts = f"range(1, greatest(len({code.sql}) - {number}, 0) + 2)"
    each = f'list_slice({code.sql}, "t_x", "t_x" + {number} - 1)'
    made = f'list_transform({starts}, lambda "t_x": {each})'
    null = f"{code.sql} IS NULL OR {number} IS NULL"
    return Code(f"CASE WHEN {null} THEN NULL WHEN {number} <= 0 THEN {bad} ELSE {made} END", kind)


@function("combinations")
def _combinations(code: Code, size: Code) -> Code:
    kind = array(code.type)
    element_of(code, "combinations", size)
    indexes = f"t_combinations(len({code.sql}), {coerced(size, BIGINT).sql})"
    each = f'list_transform("t_x", lambda "t_y": list_extract({code.sql}, "t_y"))'
    return Code(f'CAST(list_transform({indexes}, lambda "t_x": {each}) AS {kind.duck})', kind)


@function("repeat")
def _repeat(value: Code, count: Code) -> Code:
    if value.type == UNKNOWN:
        raise wrong_arguments("repeat", [value, count])
    number = coerced(count, BIGINT).sql
    kind = array(value.type)
    bad = failing("INVALID_FUNCTION_ARGUMENT", "'count argument must not be negative'", kind.duck)
    made = f'list_transform(range(0, least({number}, {MOST_ELEMENTS})), lambda "t_x": {value.sql})'
    many = failing(
        "INVALID_FUNCTION_ARGUMENT",
        f"'count argument of repeat function must be less than or equal to {MOST_ELEMENTS}'",
        kind.duck,
    )
    return Code(
        f"CASE WHEN {number} < 0 THEN {bad} WHEN {number} > {MOST_ELEMENTS} THEN {many}"
        f" ELSE {made} END",
        kind,
    )


@function("sequence")
def _sequence(first: Code, last: Code, step: Code | None = None) -> Code:
    kind = common(first.type, last.type)
    if kind and kind.is_integer and (step is None or step.type.is_integer):
        a, b = coerced(first, BIGINT).sql, coerced(last, BIGINT).sql
        by = coerced(step, BIGINT).sql if step else f"CASE WHEN {b} >= {a} THEN 1 ELSE -1 END"
        bad = failing(
            "INVALID_FUNCTION_ARGUMENT",
            "'sequence stop value should be greater than or equal to start value if step is "
            "greater than zero otherwise stop should be less than or equal to start'",
            "BIGINT[]",
        )
        wrong = f"({by}) = 0 OR ({by}) > 0 AND {b} < {a} OR ({by}) < 0 AND {b} > {a}"
        steps = f"({b}::HUGEINT - {a}) // ({by})"
        many = _too_many(steps, "BIGINT[]")
        made = f"generate_series({a}, {_no_further(steps, a, b)}, {by})"
        return Code(f"CASE WHEN {wrong} THEN {bad} {many} ELSE {made} END", array(BIGINT))
    if kind and kind.name in ("date", "timestamp"):
        return _sequence_of_times(coerced(first, kind), coerced(last, kind), step)
    raise wrong_arguments("sequence", [c for c in (first, last, step) if c])


_DAY_MS = 86_400_000


def _sequence_of_times(first: Code, last: Code, step: Code | None) -> Code:
    kind = first.type
    a, b = first.sql, last.sql
    if step is None and kind == DATE:
        by = f"(CASE WHEN {b} >= {a} THEN {_DAY_MS} ELSE -{_DAY_MS} END)"
    elif step is not None and step.type == DAY_TO_SECOND:
        by = f"({step.sql})"
    elif kind == DATE and step is not None and step.type == YEAR_TO_MONTH:
        return _sequence_of_months(a, b, step.sql)
    else:
        given = [code for code in (first, last, step) if code]
        raise wrong_arguments("sequence", given)
    duck = array(kind).duck
    bad = failing(
        "INVALID_FUNCTION_ARGUMENT",
        "'sequence stop value should be greater than or equal to start value if step is "
        "greater than zero otherwise stop should be less than or equal to start'",
        duck,
    )
    if kind == DATE:
        span = f"CAST({b} - {a} AS BIGINT) * {_DAY_MS}"
        uneven = f" OR {by} % {_DAY_MS} <> 0"
        one = f'{a} + CAST("t_x" // {_DAY_MS} AS INTEGER)'
    else:
        span, uneven = f"(epoch_ms({b}) - epoch_ms({a}))", ""
        one = f'{a} + to_milliseconds("t_x")'
    wrong = f"{by} = 0 OR {by} > 0 AND {b} < {a} OR {by} < 0 AND {b} > {a}{uneven}"
    steps = f"({span}) // {by}"
    end = _no_further(steps, "0", span)
    made = f'list_transform(generate_series(0, {end}, {by}), lambda "t_x": {one})'
    many = _too_many(steps, duck)
    return Code(f"CASE WHEN {wrong} THEN {bad} {many} ELSE CAST({made} AS {duck}) END", array(kind))


def _sequence_of_months(first: str, last: str, step: str) -> Code:
    bad = failing("NOT_SUPPORTED", "'sequence of dates that falls by months'", "DATE[]")
    months = f"(year({last}) - year({first})) * 12 + month({last}) - month({first})"
    each = f'CAST({first} + to_months(CAST("t_x" AS INTEGER)) AS DATE)'
    steps = f"({months}) // {step}"
    end = _no_further(steps, "0", months)
    made = f'list_transform(generate_series(0, {end}, {step}), lambda "t_x": {each})'
    kept = f'list_filter({made}, lambda "t_y": "t_y" <= {last})'
    many = _too_many(steps, "DATE[]")
    return Code(
        f"CASE WHEN {step} <= 0 OR {last} < {first} THEN {bad} {many} ELSE {kept} END", array(DATE)
    )


def _no_further(steps: str, first: str, last: str) -> str:
    """Return the limited end of a series: DuckDB makes constant series before it tests CASE."""
    return f"CASE WHEN {steps} >= {MOST_ELEMENTS} THEN {first} ELSE {last} END"


def _too_many(steps: str, duck: str) -> str:
    """Return the branch of a CASE for a sequence with more elements than Trino makes."""
    many = failing(
        "INVALID_FUNCTION_ARGUMENT",
        f"'result of sequence function must not have more than {MOST_ELEMENTS} entries'",
        duck,
    )
    return f"WHEN {steps} >= {MOST_ELEMENTS} THEN {many}"


def _pair(name: str, a: Code, b: Code) -> tuple[str, str, Type]:
    """Return two arrays, coerced to one type, and the type."""
    if UNKNOWN in (a.type, b.type) and a.type != b.type:
        # NULL is an array of the other's type
        known = b.type if a.type == UNKNOWN else a.type
        a, b = (Code(code.sql, known) for code in (a, b))
    kind = common(_compared(a, name, b), _compared(b, name, a))
    if kind is None:
        raise wrong_arguments(name, [a, b])
    return coerced(a, array(kind)).sql, coerced(b, array(kind)).sql, array(kind)


@function("arrays_overlap")
def _arrays_overlap(a: Code, b: Code) -> Code:
    x, y, _ = _pair("arrays_overlap", a, b)
    null = (
        f"len({x}) > list_count({x}) AND len({y}) > 0"
        f" OR len({y}) > list_count({y}) AND len({x}) > 0"
    )
    some = f'list_has_any({x}, list_filter({y}, lambda "t_x": "t_x" IS NOT NULL))'
    return Code(f"CASE WHEN {some} THEN true WHEN {null} THEN NULL ELSE {some} END", BOOLEAN)


@function("array_intersect")
def _array_intersect(a: Code, b: Code) -> Code:
    x, y, kind = _pair("array_intersect", a, b)
    # the result has the order of the longer array
    return Code(f"CASE WHEN len({x}) < len({y}) THEN t_intersect({y}, {x})"
                f" ELSE t_intersect({x}, {y}) END", kind)  # fmt: skip


@function("array_union")
def _array_union(a: Code, b: Code) -> Code:
    x, y, kind = _pair("array_union", a, b)
    null = f"{a.sql} IS NULL OR {b.sql} IS NULL"
    return Code(f"CASE WHEN {null} THEN NULL ELSE t_distinct(list_concat({x}, {y})) END", kind)


@function("array_except")
def _array_except(a: Code, b: Code) -> Code:
    x, y, kind = _pair("array_except", a, b)
    return Code(f"CASE WHEN {y} IS NOT NULL THEN t_except({x}, {y}) END", kind)


@function("array_remove")
def _array_remove(code: Code, value: Code) -> Code:
    kind = common(_compared(code, "array_remove", value), value.type)
    if kind != code.type.args[0]:
        raise wrong_arguments("array_remove", [code, value])
    x = coerced(value, kind).sql
    kept = f'list_filter({code.sql}, lambda "t_x": "t_x" IS DISTINCT FROM {x})'
    return Code(f"CASE WHEN {x} IS NOT NULL THEN {kept} END", code.type)


@function("trim_array")
def _trim_array(code: Code, count: Code) -> Code:
    element_of(code, "trim_array", count)
    number = coerced(count, BIGINT).sql
    bad = failing("INVALID_FUNCTION_ARGUMENT", "'size must not be negative or exceed the array'",
                  code.type.duck)  # fmt: skip
    kept = f"list_slice({code.sql}, 1, len({code.sql}) - {number})"
    return Code(
        f"CASE WHEN {number} < 0 OR {number} > len({code.sql}) THEN {bad} ELSE {kept} END",
        code.type,
    )


@function("zip")
def _zip(*codes: Code) -> Code:
    if len(codes) < 2:
        raise wrong_arguments("zip", codes)
    kinds = [element_of(code, "zip", *codes) for code in codes]
    kind = array(row(tuple(kinds)))
    longest = f"greatest({', '.join(f'len({code.sql})' for code in codes)})"
    inside = ", ".join(f'"f{i}" := list_extract({code.sql}, "t_z")' for i, code in enumerate(codes))
    made = f'list_transform(range(1, {longest} + 1), lambda "t_z": struct_pack({inside}))'
    null = " OR ".join(f"{code.sql} IS NULL" for code in codes)
    return Code(f"CASE WHEN {null} THEN NULL ELSE CAST({made} AS {kind.duck}) END", kind)
