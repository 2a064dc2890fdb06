"""Expressions: sqlglot's trees translated to DuckDB's SQL, with Trino's types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from sqlapi.sql.binding import applied, bound, fits_lambda, is_short, level_of
from sqlapi.sql.budget import too_deep
from sqlapi.sql.casts import cast, type_of
from sqlapi.sql.code import Code, coerced, failing, text
from sqlapi.sql.conditions import COMPARISONS, Conditions
from sqlapi.sql.dialect import TypedLiteral, shown
from sqlapi.sql.functions.dates import field
from sqlapi.sql.functions.registry import SCALARS
from sqlapi.sql.functions.sql_json import json_call
from sqlapi.sql.json_calls import JsonCall
from sqlapi.sql.literals import check_zone, decimal_literal, interval, number, timestamp_literal
from sqlapi.sql.operators import arithmetic, compare, concatenated, negated
from sqlapi.sql.parts import check_parts, position
from sqlapi.sql.risks import may_fail
from sqlapi.sql.scope import Context, Scope
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    UNKNOWN,
    VARBINARY,
    array,
    row,
    timestamp,
    timestamp_tz,
    varchar,
)

if TYPE_CHECKING:
    from sqlapi.sql.query import Selected

__all__ = ["Expressions"]

_LAST_POINT, _SURROGATES = 0x10FFFF, range(0xD800, 0xE000)
_NESTING = 400
"""Largest depth of nested expressions: `1 + 1 + 1` has two."""

Handler = Callable[["Expressions", Any], Code]
Subselect = Callable[[exp.Expr, Scope], "Selected"]


class Expressions(Conditions):
    """Translator of a scope's expressions; it raises SqlError for those not known to agree."""

    def __init__(self, context: Context, scope: Scope, select: Subselect) -> None:
        self.context = context
        self.scope = scope
        self._select = select

    def select(self, tree: exp.Expr) -> Selected:
        return self._select(tree, self.scope)

    def code(self, tree: exp.Expr) -> Code:
        """Return the code of an expression."""
        check_parts(tree)
        handler = self._HANDLERS.get(type(tree))
        if handler is None:
            raise SqlError("NOT_SUPPORTED", f"Unsupported expression: {shown(tree)}")
        self.context.nesting += 1
        if self.context.nesting > _NESTING:
            raise too_deep()
        try:
            return handler(self, tree)
        finally:
            self.context.nesting -= 1

    def condition(self, tree: exp.Expr, clause: str = "WHERE") -> str:
        code = self.code(tree)
        if code.type not in (BOOLEAN, UNKNOWN):
            raise SqlError(
                "TYPE_MISMATCH",
                f"{clause} clause must evaluate to a boolean: actual type {code.type}",
            )
        return coerced(code, BOOLEAN).sql

    # names

    def _column(self, tree: exp.Column) -> Code:
        if isinstance(tree.this, exp.Star):
            raise SqlError("SYNTAX_ERROR", "'*' cannot stand here")
        return self._named([part.name.lower() for part in tree.parts], tree)

    def _identifier(self, tree: exp.Identifier) -> Code:
        return self._named([tree.name.lower()], tree)

    def _named(self, parts: list[str], tree: exp.Expr) -> Code:
        if parts[0] in self.scope.variables:
            code, rest = self.scope.variables[parts[0]], parts[1:]
        else:
            found = self.scope.find(parts)
            if found is None and parts[-1] in _OF_SESSION:
                raise SqlError("NOT_SUPPORTED", f"{parts[-1]} is not supported")
            if found is None:
                raise SqlError(
                    "COLUMN_NOT_FOUND",
                    f"Column '{'.'.join(parts)}' cannot be resolved or requester is not "
                    "authorized to access requested resources",
                    position=position(tree),
                )
            column, rest = found
            column.used()
            code = Code(column.sql, column.type)
        for name in rest:
            code = self._field(code, name)
        return code

    def _dot(self, tree: exp.Dot) -> Code:
        return self._field(self.code(tree.this), tree.expression.name.lower())

    @staticmethod
    def _field(code: Code, name: str) -> Code:
        if code.type.name != "row" or name not in code.type.fields:
            raise SqlError("TYPE_MISMATCH", f"Expression of type {code.type} has no field {name}")
        index = code.type.fields.index(name)
        return Code(f"struct_extract({code.sql}, 'f{index}')", code.type.args[index])

    # literals

    def _literal(self, tree: exp.Literal) -> Code:
        if tree.is_string:
            return Code(text(tree.this), varchar(len(tree.this)), tree.this)
        return number(tree.this)

    def _null(self, tree: exp.Null) -> Code:
        return Code("NULL", UNKNOWN)

    def _boolean(self, tree: exp.Boolean) -> Code:
        return Code("true" if tree.this else "false", BOOLEAN)

    def _hex(self, tree: exp.HexString) -> Code:
        return Code(f"unhex({text(str(tree.this))})", VARBINARY)

    def _interval(self, tree: exp.Interval) -> Code:
        return interval(tree)

    def _now(self, tree: exp.Expr) -> Code:
        moment = f"TIMESTAMP '{self.context.now:%Y-%m-%d %H:%M:%S.%f}"[:-3] + "'"
        kind = timestamp() if isinstance(tree, exp.Localtimestamp) else timestamp_tz("UTC")
        return Code(moment, kind)

    def _today(self, tree: exp.CurrentDate) -> Code:
        return Code(f"DATE '{self.context.now:%Y-%m-%d}'", DATE)

    # structure

    def _paren(self, tree: exp.Paren) -> Code:
        code = self.code(tree.this)
        return Code(f"({code.sql})", code.type, code.value)

    def _alias(self, tree: exp.Alias) -> Code:
        return self.code(tree.this)

    def _array(self, tree: exp.Array) -> Code:
        codes = [self.code(item) for item in tree.expressions]
        kind = self.meeting(codes)
        inside = ", ".join(coerced(code, kind).sql for code in codes)
        return Code(f"CAST([{inside}] AS {kind.duck}[])", array(kind))

    def _tuple(self, tree: exp.Tuple) -> Code:
        return self.row_of([self.code(item) for item in tree.expressions])

    @staticmethod
    def row_of(codes: Sequence[Code]) -> Code:
        kind = row(tuple(code.type for code in codes))
        inside = (f'"f{i}" := {c.sql}' for i, c in enumerate(codes))
        return Code(f"CAST(struct_pack({', '.join(inside)}) AS {kind.duck})", kind)

    def _bracket(self, tree: exp.Bracket) -> Code:
        if len(tree.expressions) != 1:
            raise SqlError("SYNTAX_ERROR", "mismatched input ','. Expecting: ']'")
        return applied(self._subscript, self.code(tree.this), self.code(tree.expressions[0]))

    @staticmethod
    def _subscript(code: Code, key: Code) -> Code:
        if code.type.name == "array" and key.type.is_integer:
            element, index = code.type.args[0], coerced(key, BIGINT).sql
            outside = failing(
                "INVALID_FUNCTION_ARGUMENT",
                f"'Array subscript must be less than or equal to array length: ' || {index}",
                element.duck,
            )
            wrong = f"{index} < 1 OR {index} > len({code.sql})"
            return Code(
                f"CASE WHEN {wrong} THEN {outside} ELSE list_extract({code.sql}, {index}) END",
                element,
            )
        if code.type.name == "map":
            kind, value = code.type.args
            wanted = coerced(key, kind).sql
            missing = failing("INVALID_FUNCTION_ARGUMENT", "'Key not present in map'", value.duck)
            there = f"{code.sql} IS NULL OR map_contains({code.sql}, {wanted})"
            found = f"map_extract_value({code.sql}, {wanted})"
            return Code(f"CASE WHEN {there} THEN {found} ELSE {missing} END", value)
        if code.type.name == "row" and isinstance(key.value, int):
            if not 1 <= key.value <= len(code.type.args):
                raise SqlError("INVALID_FUNCTION_ARGUMENT", f"Row has no field {key.value}")
            sql = f"struct_extract({code.sql}, 'f{key.value - 1}')"
            return Code(sql, code.type.args[key.value - 1])
        raise SqlError("TYPE_MISMATCH", f"Cannot use {key.type} for subscript of {code.type}")

    def _case(self, tree: exp.Case) -> Code:
        branches, default = tree.args["ifs"], tree.args.get("default")
        operand = self.code(tree.this) if tree.this is not None else None
        if operand is not None:
            asked = [self.code(branch.this) for branch in branches]
        else:
            asked = [Code(self.condition(branch.this, "CASE WHEN"), BOOLEAN) for branch in branches]
        codes = [self.code(branch.args["true"]) for branch in branches]
        codes.append(self.code(default) if default is not None else Code("NULL", UNKNOWN))
        kind = self.meeting(codes)
        thens = [coerced(code, kind).sql for code in codes]

        def chosen(value: Code | None) -> str:
            tests = [compare("=", value, a).sql if value else a.sql for a in asked]
            whens = " ".join(f"WHEN {w} THEN {t}" for w, t in zip(tests, thens, strict=False))
            return f"CASE {whens} ELSE {thens[-1]} END"

        others = [*(a.sql for a in asked), *thens]
        if operand is None or is_short(operand.sql) or not all(map(fits_lambda, others)):
            return Code(chosen(operand), kind)
        # only the repeated operand is bound: the others must be evaluated lazily
        name = f'"b{level_of(operand.sql, *others)}"'
        return Code(bound([(name, operand.sql)], chosen(replace(operand, sql=name))), kind)

    def _if(self, tree: exp.If) -> Code:
        return self.if_of(tree.this, tree.args["true"], tree.args.get("false"))

    def if_of(self, asked: exp.Expr, then: exp.Expr, other: exp.Expr | None) -> Code:
        return self._case(exp.Case(ifs=[exp.If(this=asked, true=then)], default=other))

    def _cast(self, tree: exp.Cast) -> Code:
        kind = type_of(tree.to)
        literal = tree.this
        if isinstance(literal, exp.Literal) and literal.is_string and kind.zone:
            return timestamp_literal(literal.this, kind)
        return applied(lambda code: cast(code, kind), self.code(literal))

    def _typed(self, tree: TypedLiteral) -> Code:
        if not isinstance(tree.this, exp.Literal):
            raise SqlError("SYNTAX_ERROR", f"mismatched input. Expecting: the text of a {tree.to}")
        kind, written = type_of(tree.to), tree.this.this
        if kind.name == "decimal":
            return decimal_literal(written)
        return timestamp_literal(written, replace(kind, size=None))

    def _try_cast(self, tree: exp.TryCast) -> Code:
        kind, inner = type_of(tree.to), self.code(tree.this)
        if may_fail(inner.sql) or tree.this.find(*_ARITHMETIC, exp.Neg):
            # TRY must turn only a failing cast into NULL, not a failure inside of it
            raise SqlError("NOT_SUPPORTED", "TRY_CAST of an expression that may fail itself")
        if isinstance(tree.this, exp.Literal) and tree.this.is_string and kind.zone:
            code = timestamp_literal(tree.this.this, kind)
        else:
            code = applied(lambda code: cast(code, kind), inner)
        return Code(f"TRY({code.sql})", code.type)

    def _unicode(self, tree: exp.UnicodeString) -> Code:
        escape = tree.args.get("escape")
        sign = re.escape(escape.this if isinstance(escape, exp.Literal) else "\\")

        def one(found: re.Match[str]) -> str:
            if not found[1]:
                raise SqlError("SYNTAX_ERROR", f"Incomplete escape sequence in {tree.this}")
            if found[1] == found[0][0]:
                return found[1]
            point = int(found[1].removeprefix("+"), 16)
            if point > _LAST_POINT or point in _SURROGATES:
                raise SqlError("SYNTAX_ERROR", f"Invalid escaped character: {found[1]}")
            return chr(point)

        value = re.sub(rf"{sign}({sign}|\+[0-9a-fA-F]{{6}}|[0-9a-fA-F]{{4}}|)", one, tree.this)
        return Code(text(value), varchar(len(value)), value)

    def _json_literal(self, tree: exp.ParseJSON) -> Code:
        return SCALARS["json_parse"](self.code(tree.this))

    def _at_zone(self, tree: exp.AtTimeZone) -> Code:
        code, zone = self.code(tree.this), self.code(tree.args["zone"])
        if not isinstance(zone.value, str) or code.type.name not in (
            "timestamp", "timestamp with time zone",
        ):  # fmt: skip
            raise SqlError("NOT_SUPPORTED", f"AT TIME ZONE of {code.type} is not supported")
        check_zone(zone.value)
        return Code(code.sql, timestamp_tz(zone.value, code.type.size or 0))

    def _extract(self, tree: exp.Extract) -> Code:
        if isinstance(tree.this, exp.Literal):
            raise SqlError("SYNTAX_ERROR", f"mismatched input {shown(tree.this)}")
        return applied(partial(field, tree.this.name.lower()), self.code(tree.expression))

    # operators, and functions with a syntax of their own

    def _arithmetic(self, tree: exp.Binary) -> Code:
        operation = partial(arithmetic, _ARITHMETIC[type(tree)])
        return applied(operation, self.code(tree.this), self.code(tree.expression))

    def _neg(self, tree: exp.Neg) -> Code:
        if isinstance(tree.this, exp.Literal) and tree.this.this == str(2**63):
            # 2^63 without the sign is no bigint
            return Code(f"CAST('-{2**63}' AS BIGINT)", BIGINT)
        return negated(self.code(tree.this))

    def _pipe(self, tree: exp.DPipe) -> Code:
        return applied(concatenated, self.code(tree.this), self.code(tree.expression))

    def _position(self, tree: exp.StrPosition) -> Code:
        return applied(SCALARS["strpos"], self.code(tree.this), self.code(tree.args["substr"]))

    def _substring(self, tree: exp.Substring) -> Code:
        given = [tree.this, tree.args.get("start"), tree.args.get("length")]
        return applied(SCALARS["substr"], *(self.code(g) for g in given if g is not None))

    def _trim(self, tree: exp.Trim) -> Code:
        side = str(tree.args.get("position") or "BOTH").upper()
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim")
        given = [tree.this, tree.args.get("expression")]
        return applied(SCALARS[name], *(self.code(g) for g in given if g is not None))

    _HANDLERS: ClassVar[dict[type, Handler]] = {}


_OF_SESSION = ("current_schema", "current_catalog", "current_user", "current_path")
_ARITHMETIC: dict[type, str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
}  # fmt: skip

E = Expressions
Expressions._HANDLERS.update(
    {
        exp.Column: E._column, exp.Identifier: E._identifier, exp.Dot: E._dot,
        exp.Literal: E._literal, exp.Null: E._null, exp.Boolean: E._boolean,
        exp.HexString: E._hex, exp.Interval: E._interval, exp.CurrentTimestamp: E._now,
        exp.Localtimestamp: E._now, exp.CurrentDate: E._today, exp.Paren: E._paren,
        exp.Alias: E._alias, exp.Array: E._array, exp.Tuple: E._tuple, exp.Bracket: E._bracket,
        exp.Case: E._case, exp.If: E._if, exp.Cast: E._cast, exp.TryCast: E._try_cast,
        TypedLiteral: E._typed, exp.ParseJSON: E._json_literal, exp.UnicodeString: E._unicode,
        exp.AtTimeZone: E._at_zone, exp.Extract: E._extract, exp.And: E.and_, exp.Or: E.and_,
        exp.Not: E.not_, exp.NullSafeEQ: E.distinct, exp.NullSafeNEQ: E.distinct,
        exp.Is: E.is_, exp.Between: E.between, exp.In: E.in_, exp.Exists: E.exists,
        exp.Subquery: E.subquery, exp.Like: E.like, exp.Escape: E.escape, exp.Neg: E._neg,
        exp.DPipe: E._pipe, exp.StrPosition: E._position, exp.Substring: E._substring,
        exp.Trim: E._trim, exp.Anonymous: E.call, exp.Window: E.window, exp.Filter: E.filtered,
        JsonCall: lambda e, t: json_call(e.code, t),
        exp.IgnoreNulls: E.call_with_nulls, exp.GroupConcat: E.listagg,
        **dict.fromkeys(COMPARISONS, E.comparison), **dict.fromkeys(_ARITHMETIC, E._arithmetic),
    }
)  # fmt: skip
