"""Functions that take a lambda."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlapi.sql.code import Code
from sqlapi.sql.errors import SqlError
from sqlapi.sql.functions.registry import LAMBDAS, element_of, wrong_arguments
from sqlapi.sql.types import BOOLEAN, UNKNOWN, Type, array, map_of

if TYPE_CHECKING:
    from sqlapi.sql.expressions import Expressions


def _lambda(
    compiler: Expressions, tree: exp.Expr, kinds: Sequence[Type], name: str
) -> tuple[str, Code]:
    """Parameters and body of a lambda."""
    if not isinstance(tree, exp.Lambda) or len(tree.expressions) != len(kinds):
        raise SqlError("TYPE_MISMATCH", f"Unexpected lambda for function {name}")
    return compiler.lambda_body(tree, kinds)


def _condition(body: Code, name: str) -> str:
    if body.type != BOOLEAN:
        raise wrong_arguments(name, [body])
    return body.sql


def _over_array(name: str, result: str, gives: str) -> None:
    def call(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
        if len(trees) != 2:
            raise wrong_arguments(name, [])
        code = compiler.code(trees[0])
        element = element_of(code, name)
        names, body = _lambda(compiler, trees[1], [element], name)
        if gives == "transform":
            kind = array(body.type)
            made = f"list_transform({code.sql}, lambda {names}: {body.sql})"
            return Code(f"CAST({made} AS {kind.duck})", kind)
        condition = _condition(body, name)
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
        names, body = _lambda(compiler, trees[1], [element_of(code, name)], name)
        values = f"list_transform({code.sql}, lambda {names}: {_condition(body, name)})"
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
    entry = compiler.context.name("e")
    first, second = (f'"{compiler.lambda_name(p)}"' for p in tree.expressions)
    inner = body.sql.replace(first, f"{entry}.key").replace(second, f"{entry}.value")
    entries = f"map_entries({code.sql})"
    if name == "map_filter":
        condition = _condition(Code(inner, body.type), name)
        kept = f"list_filter({entries}, lambda {entry}: {condition})"
        return Code(f"map_from_entries({kept})", code.type)
    made = f"list_transform({entries}, lambda {entry}: {inner})"
    if name == "transform_keys":
        kind = map_of(body.type, code.type.args[1])
        return Code(f"map({made}, map_values({code.sql}))", kind)
    kind = map_of(code.type.args[0], body.type)
    return Code(f"map(map_keys({code.sql}), {made})", kind)


LAMBDAS["map_filter"] = _map_filter


def _transform(name: str) -> None:
    def call(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
        code = compiler.code(trees[0]) if len(trees) == 2 else None
        if code is None or code.type.name != "map":
            raise wrong_arguments(name, [code] if code else [])
        return _over_entries(compiler, code, trees[1], name)

    LAMBDAS[name] = call


_transform("transform_values")
_transform("transform_keys")


def _zip_with(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    if len(trees) != 3:
        raise wrong_arguments("zip_with", [])
    a, b = compiler.code(trees[0]), compiler.code(trees[1])
    kinds = [element_of(a, "zip_with", b), element_of(b, "zip_with", a)]
    _, body = _lambda(compiler, trees[2], kinds, "zip_with")
    inner, index = body.sql, compiler.context.name("w")
    for parameter, code in zip(trees[2].expressions, (a, b), strict=True):
        inner = inner.replace(
            f'"{compiler.lambda_name(parameter)}"', f"list_extract({code.sql}, {index})"
        )
    kind = array(body.type)
    longest = f"greatest(len({a.sql}), len({b.sql}))"
    made = f"list_transform(range(1, {longest} + 1), lambda {index}: {inner})"
    null = f"{a.sql} IS NULL OR {b.sql} IS NULL"
    return Code(f"CASE WHEN {null} THEN NULL ELSE CAST({made} AS {kind.duck}) END", kind)


LAMBDAS["zip_with"] = _zip_with


def _reduce(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    if len(trees) != 4:
        raise wrong_arguments("reduce", [])
    code, start = compiler.code(trees[0]), compiler.code(trees[1])
    element = element_of(code, "reduce", start)
    names, step = _lambda(compiler, trees[2], [start.type, element], "reduce")
    if step.type != start.type or start.type.args or start.type == UNKNOWN:
        raise SqlError("NOT_SUPPORTED", f"Function reduce from {start.type} to {step.type}")
    # DuckDB's list_reduce has one type for the state and the elements: both in one structure
    state, item = names.split(", ")
    both, one = compiler.context.name("s"), compiler.context.name("r")
    as_state = f"struct_pack(s := {start.sql}, e := CAST(NULL AS {element.duck}))"
    pairs = (
        f"list_transform({code.sql}, lambda {one}: "
        f"struct_pack(s := CAST(NULL AS {start.type.duck}), e := {one}))"
    )
    inner = step.sql.replace(state, f"{both}.s").replace(item, f"{one}.e")
    folded = (
        f"list_reduce({pairs}, lambda {both}, {one}: "
        f"struct_pack(s := {inner}, e := CAST(NULL AS {element.duck})), {as_state})"
    )
    last, out = _lambda(compiler, trees[3], [start.type], "reduce")
    value = f"({folded}).s"
    made = out.sql.replace(last, value)
    return Code(f"CASE WHEN {code.sql} IS NULL THEN NULL ELSE {made} END", out.type)


LAMBDAS["reduce"] = _reduce
