"""Functions that take a lambda."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlapi.sql.binding import applied, bound
from sqlapi.sql.code import Code, coerced
from sqlapi.sql.functions.registry import LAMBDAS, SCALARS, element_of, wrong_arguments
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BOOLEAN, UNKNOWN, VARCHAR, array, map_of

if TYPE_CHECKING:
    from sqlapi.sql.expressions import Expressions


def _body(compiler: Expressions, tree: exp.Expr, values: Sequence[Code], name: str) -> Code:
    """Return a lambda's body, with `values` for its parameters. Raises SqlError."""
    if not isinstance(tree, exp.Lambda) or len(tree.expressions) != len(values):
        raise SqlError("TYPE_MISMATCH", f"Unexpected lambda for function {name}")
    return compiler.lambda_body(tree, values)


def _condition(body: Code, name: str) -> str:
    if body.type != BOOLEAN:
        raise wrong_arguments(name, [body])
    return body.sql


def _over_list(
    compiler: Expressions, trees: Sequence[exp.Expr], name: str
) -> tuple[Code, str, Code]:
    """Return the array, its element's name in DuckDB, and the lambda's body."""
    if len(trees) != 2:
        raise wrong_arguments(name, [])
    code = compiler.code(trees[0])
    element = element_of(code, name)
    with compiler.lambda_name() as variable:
        return code, variable, _body(compiler, trees[1], [Code(variable, element)], name)


def _filter(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    code, variable, body = _over_list(compiler, trees, "filter")
    condition = _condition(body, "filter")
    return Code(f"list_filter({code.sql}, lambda {variable}: {condition})", code.type)


def _transform(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    code, variable, body = _over_list(compiler, trees, "transform")
    kind = array(body.type)
    made = f"list_transform({code.sql}, lambda {variable}: {body.sql})"
    return Code(f"CAST({made} AS {kind.duck})", kind)


LAMBDAS["filter"] = _filter
LAMBDAS["transform"] = _transform


def _match(name: str, decided: str, otherwise: str) -> None:
    def decide(values: Code) -> Code:
        null = f"len({values.sql}) > list_count({values.sql})"
        return Code(
            f"CASE WHEN {values.sql} IS NULL THEN NULL"
            f" WHEN list_contains({values.sql}, {decided}) THEN {otherwise}"
            f" WHEN {null} THEN NULL ELSE NOT {otherwise} END",
            BOOLEAN,
        )

    def call(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
        code, variable, body = _over_list(compiler, trees, name)
        condition = _condition(body, name)
        made = f"list_transform({code.sql}, lambda {variable}: {condition})"
        return applied(decide, Code(made, array(BOOLEAN)))

    LAMBDAS[name] = call


_match("any_match", "true", "true")
_match("all_match", "false", "false")
_match("none_match", "true", "false")


def _over_entries(name: str) -> None:
    """Register a function of a map and a lambda with the parameters key and value."""

    def call(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
        code = compiler.code(trees[0]) if len(trees) == 2 else None
        if code is None or code.type.name != "map":
            raise wrong_arguments(name, [code] if code else [])
        with compiler.lambda_name() as entry:
            parts = zip(("key", "value"), code.type.args, strict=True)
            values = [Code(f"{entry}.{part}", kind) for part, kind in parts]
            body = _body(compiler, trees[1], values, name)
        if name == "map_filter":
            kept = f"lambda {entry}: {_condition(body, name)}"
            return Code(
                f"map_from_entries(list_filter(map_entries({code.sql}), {kept}))", code.type
            )

        def made(code: Code) -> Code:
            each = f"list_transform(map_entries({code.sql}), lambda {entry}: {body.sql})"
            key, value = code.type.args
            if name == "transform_keys":
                return Code(f"map({each}, map_values({code.sql}))", map_of(body.type, value))
            return Code(f"map(map_keys({code.sql}), {each})", map_of(key, body.type))

        return applied(made, code)

    LAMBDAS[name] = call


for _name in ("map_filter", "transform_values", "transform_keys"):
    _over_entries(_name)


def _zip_with(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    if len(trees) != 3:
        raise wrong_arguments("zip_with", [])
    a, b = compiler.code(trees[0]), compiler.code(trees[1])
    kinds = [element_of(a, "zip_with", b), element_of(b, "zip_with", a)]
    pairs = applied(SCALARS["zip"], a, b)
    with compiler.lambda_name() as pair:
        values = [Code(f"{pair}.f{i}", kind) for i, kind in enumerate(kinds)]
        body = _body(compiler, trees[2], values, "zip_with")
    kind = array(body.type)
    made = f"list_transform({pairs.sql}, lambda {pair}: {body.sql})"
    return Code(f"CAST({made} AS {kind.duck})", kind)


LAMBDAS["zip_with"] = _zip_with


def _reduce(compiler: Expressions, trees: Sequence[exp.Expr]) -> Code:
    if len(trees) != 4:
        raise wrong_arguments("reduce", [])
    code, start = compiler.code(trees[0]), compiler.code(trees[1])
    element = element_of(code, "reduce", start)
    with compiler.lambda_name() as both, compiler.lambda_name() as one:
        values = [Code(f"{both}.s", start.type), Code(f"{one}.e", element)]
        step = _body(compiler, trees[2], values, "reduce")
        if step.type.name == start.type.name == "varchar" and step.type != start.type:
            # the state is as long as what the lambda makes of it
            start = coerced(start, VARCHAR)
            values[0] = replace(values[0], type=VARCHAR)
            step = coerced(_body(compiler, trees[2], values, "reduce"), VARCHAR)
    if step.type != start.type or start.type.args or start.type == UNKNOWN:
        raise SqlError("NOT_SUPPORTED", f"Function reduce from {start.type} to {step.type}")
    with compiler.lambda_name() as state:
        last = _body(compiler, trees[3], [Code(state, start.type)], "reduce")

    def folded(code: Code, start: Code) -> Code:
        # DuckDB's list_reduce has one type for state and elements, so a struct holds both
        none = f"CAST(NULL AS {element.duck})"
        as_state = f"struct_pack(s := {start.sql}, e := {none})"
        pairs = (
            f"list_transform({code.sql}, lambda {one}: "
            f"struct_pack(s := CAST(NULL AS {start.type.duck}), e := {one}))"
        )
        state_after = (
            f"list_reduce({pairs}, lambda {both}, {one}: "
            f"struct_pack(s := {step.sql}, e := {none}), {as_state})"
        )
        made = last.sql
        if state in made:
            made = bound([(state, f"({state_after}).s")], made)
        return Code(f"CASE WHEN {code.sql} IS NULL THEN NULL ELSE {made} END", last.type)

    return applied(folded, code, start)


LAMBDAS["reduce"] = _reduce
