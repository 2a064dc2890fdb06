"""Arrays, and the functions that take a lambda."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlapi.sql.casts import cast
from sqlapi.sql.code import Code, coerced, failing
from sqlapi.sql.errors import SqlError
from sqlapi.sql.functions.registry import LAMBDAS, function, wrong_arguments
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAY_TO_SECOND,
    UNKNOWN,
    VARCHAR,
    Type,
    array,
    common,
    map_of,
)

if TYPE_CHECKING:
    from sqlapi.sql.expressions import Expressions

_PLAIN = ("double", "real", "json", "map", "row", "array")


def _element(code: Code, name: str, *others: Code) -> Type:
    """The type of an array's elements, that are compared by value. Raises SqlError."""
    if code.type.name != "array":
        raise wrong_arguments(name, [code, *others])
    return code.type.args[0]


def _compared(code: Code, name: str, *others: Code) -> Type:
    element = _element(code, name, *others)
    if element.name in _PLAIN:
        raise SqlError("NOT_SUPPORTED", f"Function {name} of {code.type} is not supported")
    return element


@function("cardinality")
def _cardinality(code: Code) -> Code:
    if code.type.name == "map":
        return Code(f"CAST(cardinality({code.sql}) AS BIGINT)", BIGINT)
    _element(code, "cardinality")
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
    element = _element(code, "array_join", separator)
    if element.name in _PLAIN:
        raise wrong_arguments("array_join", [code, separator])
    inner = cast(Code('"t_x"', element), VARCHAR).sql
    texts = f'list_transform({code.sql}, lambda "t_x": {inner})'
    kept = (
        f'list_transform({texts}, lambda "t_y": coalesce("t_y", {null.sql}))'
        if null
        else f'list_filter({texts}, lambda "t_y": "t_y" IS NOT NULL)'
    )
    joined = f"coalesce(array_to_string({kept}, {separator.sql}), '')"
    return Code(f"CASE WHEN {code.sql} IS NOT NULL THEN {joined} END", VARCHAR)


@function("array_sort")
def _array_sort(code: Code) -> Code:
    _compared(code, "array_sort")
    return Code(f"list_sort({code.sql}, 'ASC', 'NULLS LAST')", code.type)


@function("array_distinct")
def _array_distinct(code: Code) -> Code:
    _compared(code, "array_distinct")
    # by first occurrence; DuckDB's list_distinct has an order of its own and no NULL
    sql = code.sql
    first = f'list_position({sql}, "t_x") = "t_i"'
    null = failing("NOT_SUPPORTED", "'array_distinct of NULL'", "BOOLEAN")
    kept = f'CASE WHEN "t_x" IS NULL THEN {null} ELSE {first} END'
    return Code(f'list_filter({sql}, lambda "t_x", "t_i": {kept})', code.type)


@function("array_max")
def _array_max(code: Code) -> Code:
    return _extreme("max", code)


@function("array_min")
def _array_min(code: Code) -> Code:
    return _extreme("min", code)


def _extreme(name: str, code: Code) -> Code:
    element = _compared(code, f"array_{name}")
    null = f"len({code.sql}) > list_count({code.sql})"
    return Code(f"CASE WHEN {null} THEN NULL ELSE list_{name}({code.sql}) END", element)


@function("reverse")
def _reverse(code: Code) -> Code:
    if code.type.name == "varchar":
        return Code(f"t_reverse({code.sql})", VARCHAR)
    _element(code, "reverse")
    return Code(f"list_reverse({code.sql})", code.type)


@function("slice")
def _slice(code: Code, start: Code, length: Code) -> Code:
    _element(code, "slice", start, length)
    a, i, n = code.sql, coerced(start, BIGINT).sql, coerced(length, BIGINT).sql
    bad = failing("INVALID_FUNCTION_ARGUMENT", "'SQL array indices start at 1'", code.type.duck)
    return Code(
        f"CASE WHEN {i} = 0 OR {n} < 0 THEN {bad} ELSE t_slice({a}, {i}, {n}) END", code.type
    )


@function("element_at")
def _element_at(code: Code, key: Code) -> Code:
    if code.type.name == "map":
        kind = common(code.type.args[0], key.type)
        if kind != code.type.args[0]:
            raise wrong_arguments("element_at", [code, key])
        return Code(f"map_extract_value({code.sql}, {coerced(key, kind).sql})", code.type.args[1])
    element = _element(code, "element_at", key)
    zero = failing("INVALID_FUNCTION_ARGUMENT", "'SQL array indices start at 1'", element.duck)
    index = coerced(key, BIGINT).sql
    found = f"list_extract({code.sql}, {index})"
    return Code(f"CASE WHEN {index} = 0 THEN {zero} ELSE {found} END", element)


@function("flatten")
def _flatten(code: Code) -> Code:
    inner = _element(code, "flatten")
    _element(Code("", inner), "flatten")
    return Code(f"flatten({code.sql})", inner)


@function("repeat")
def _repeat(value: Code, count: Code) -> Code:
    if value.type == UNKNOWN:
        raise wrong_arguments("repeat", [value, count])
    number = coerced(count, BIGINT).sql
    return Code(f'list_transform(range(0, {number}), lambda "t_x": {value.sql})', array(value.type))


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
        return Code(
            f"CASE WHEN {wrong} THEN {bad} ELSE generate_series({a}, {b}, {by}) END", array(BIGINT)
        )
    if kind == DATE and step and step.type == DAY_TO_SECOND and first.type == DATE:
        days = f"({step.sql} // 86400000)"
        bad = failing("NOT_SUPPORTED", "'sequence of dates by this step'", "DATE[]")
        made = (
            f"list_transform(range(0, CAST({last.sql} - {first.sql} AS BIGINT) + 1, {days}),"
            f' lambda "t_x": {first.sql} + CAST("t_x" AS INTEGER))'
        )
        wrong = f"{step.sql} <= 0 OR {step.sql} % 86400000 <> 0 OR {last.sql} < {first.sql}"
        return Code(f"CASE WHEN {wrong} THEN {bad} ELSE {made} END", array(DATE))
    raise wrong_arguments("sequence", [c for c in (first, last, step) if c])


def _pair(name: str, a: Code, b: Code) -> tuple[str, str, Type]:
    kind = common(_compared(a, name, b), _compared(b, name, a))
    if kind is None:
        raise wrong_arguments(name, [a, b])
    x, y = coerced(a, array(kind)).sql, coerced(b, array(kind)).sql
    null = failing("NOT_SUPPORTED", f"'{name} of NULL'", array(kind).duck)
    guard = f"len({x}) > list_count({x}) OR len({y}) > list_count({y})"
    return x, f"CASE WHEN {guard} THEN {null} ELSE {y} END", kind


@function("arrays_overlap")
def _arrays_overlap(a: Code, b: Code) -> Code:
    x, y, _ = _pair("arrays_overlap", a, b)
    return Code(f"list_has_any({x}, {y})", BOOLEAN)


def _unique(sql: str) -> str:
    """By first occurrence. Trino gives the order of the first array, too."""
    return f'list_filter({sql}, lambda "t_u", "t_i": list_position({sql}, "t_u") = "t_i")'


@function("array_intersect")
def _array_intersect(a: Code, b: Code) -> Code:
    x, y, kind = _pair("array_intersect", a, b)
    kept = f'list_filter({_unique(x)}, lambda "t_x": list_contains({y}, "t_x"))'
    # the order of several is not the same in all versions
    several = failing("NOT_SUPPORTED", "'array_intersect of several values'", array(kind).duck)
    return Code(f"CASE WHEN len({kept}) > 1 THEN {several} ELSE {kept} END", array(kind))


@function("array_except")
def _array_except(a: Code, b: Code) -> Code:
    x, y, kind = _pair("array_except", a, b)
    kept = f'list_filter({_unique(x)}, lambda "t_x": NOT list_contains({y}, "t_x"))'
    return Code(kept, array(kind))


@function("array_remove")
def _array_remove(code: Code, value: Code) -> Code:
    kind = common(_compared(code, "array_remove", value), value.type)
    if kind != code.type.args[0]:
        raise wrong_arguments("array_remove", [code, value])
    x = coerced(value, kind).sql
    kept = f'list_filter({code.sql}, lambda "t_x": "t_x" IS DISTINCT FROM {x})'
    return Code(f"CASE WHEN {x} IS NOT NULL THEN {kept} END", code.type)


def _lambda(
    compiler: Expressions, tree: exp.Expr, kinds: Sequence[Type], name: str
) -> tuple[str, Code]:
    """Parameters and body of a lambda."""
    if not isinstance(tree, exp.Lambda) or len(tree.expressions) != len(kinds):
        raise SqlError("TYPE_MISMATCH", f"Unexpected lambda for function {name}")
    return compiler.lambda_body(tree, kinds)


def _over_array(name: str, result: str, gives: str) -> None:
    def call(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
        if len(trees) != 2:
            raise wrong_arguments(name, [])
        code = compiler.code(trees[0])
        element = _element(code, name)
        names, body = _lambda(compiler, trees[1], [element], name)
        if gives == "transform":
            kind = array(body.type)
            made = f"list_transform({code.sql}, lambda {names}: {body.sql})"
            return Code(f"CAST({made} AS {kind.duck})", kind)
        condition = coerced(body, BOOLEAN).sql
        return Code(
            result.format(a=code.sql, f=f"lambda {names}: {condition}"),
            (code.type if gives == "array" else BOOLEAN),
        )

    LAMBDAS[name] = call


_over_array("filter", "list_filter({a}, {f})", "array")
_over_array("transform", "", "transform")


def _match(name: str, decided: str, otherwise: str) -> None:
    def call(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
        if len(trees) != 2:
            raise wrong_arguments(name, [])
        code = compiler.code(trees[0])
        names, body = _lambda(compiler, trees[1], [_element(code, name)], name)
        values = f"list_transform({code.sql}, lambda {names}: {coerced(body, BOOLEAN).sql})"
        null = f"len({values}) > list_count({values})"
        return Code(
            f"CASE WHEN {code.sql} IS NULL THEN NULL"
            f" WHEN list_contains({values}, {decided}) THEN {otherwise}"
            f" WHEN {null} THEN NULL ELSE NOT {otherwise} END",
            BOOLEAN,
        )

    LAMBDAS[name] = call


_match("any_match", "true", "true")
_match("all_match", "false", "false")
_match("none_match", "true", "false")


def _map_filter(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    if len(trees) != 2:
        raise wrong_arguments("map_filter", [])
    code = compiler.code(trees[0])
    if code.type.name != "map":
        raise wrong_arguments("map_filter", [code])
    return _over_entries(compiler, code, trees[1], "map_filter")


def _over_entries(compiler: Expressions, code: Code, tree: exp.Expr, name: str) -> Code:
    """A map's entries through a lambda of two parameters."""
    _, body = _lambda(compiler, tree, code.type.args, name)
    entry = '"t_e"'
    first, second = (f'"{compiler.lambda_name(p)}"' for p in tree.expressions)
    inner = body.sql.replace(first, f"{entry}.key").replace(second, f"{entry}.value")
    entries = f"map_entries({code.sql})"
    if name == "map_filter":
        condition = coerced(Code(inner, body.type), BOOLEAN).sql
        kept = f"list_filter({entries}, lambda {entry}: {condition})"
        return Code(f"map_from_entries({kept})", code.type)
    kind = map_of(code.type.args[0], body.type)
    made = f"list_transform({entries}, lambda {entry}: {inner})"
    return Code(f"map(map_keys({code.sql}), {made})", kind)


LAMBDAS["map_filter"] = _map_filter


def _transform_values(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    code = compiler.code(trees[0]) if len(trees) == 2 else None
    if code is None or code.type.name != "map":
        raise wrong_arguments("transform_values", [code] if code else [])
    return _over_entries(compiler, code, trees[1], "transform_values")


LAMBDAS["transform_values"] = _transform_values
