"""Expressions: from sqlglot's trees to DuckDB's text, typed as Trino types them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from sqlapi.sql.calls import Calls
from sqlapi.sql.casts import cast, type_of
from sqlapi.sql.code import FAILURE, Code, coerced, failing, not_applicable, text
from sqlapi.sql.errors import SqlError
from sqlapi.sql.functions.dates import field
from sqlapi.sql.functions.registry import SCALARS
from sqlapi.sql.literals import interval, number, timestamp_literal
from sqlapi.sql.operators import arithmetic, compare, concatenated, negated
from sqlapi.sql.parts import check_parts
from sqlapi.sql.scope import Context, Scope
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    UNKNOWN,
    VARBINARY,
    VARCHAR,
    Type,
    array,
    common,
    row,
    timestamp,
    timestamp_tz,
    varchar,
)

if TYPE_CHECKING:
    from sqlapi.sql.query import Selected

__all__ = ["Expressions"]

Handler = Callable[["Expressions", Any], Code]
Subselect = Callable[[exp.Expr, Scope], "Selected"]


class Expressions(Calls):
    """Translates what stands in one scope. Raises SqlError for what is not known to agree."""

    def __init__(self, context: Context, scope: Scope, select: Subselect) -> None:
        self.context = context
        self.scope = scope
        self._select = select

    def code(self, tree: exp.Expr) -> Code:
        """The code of an expression."""
        check_parts(tree)
        handler = self._HANDLERS.get(type(tree))
        if handler is None:
            raise SqlError("NOT_SUPPORTED", f"Unsupported expression: {tree.sql('trino')[:100]}")
        return handler(self, tree)

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
        code, key = self.code(tree.this), self.code(tree.expressions[0])
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
        pairs = []
        for branch in tree.args["ifs"]:
            if tree.this is not None:
                asked = compare("=", self.code(tree.this), self.code(branch.this)).sql
            else:
                asked = self.condition(branch.this, "CASE WHEN")
            pairs.append((asked, self.code(branch.args["true"])))
        default = tree.args.get("default")
        otherwise = self.code(default) if default is not None else Code("NULL", UNKNOWN)
        kind = self.meeting([*(code for _, code in pairs), otherwise])
        whens = " ".join(f"WHEN {when} THEN {coerced(code, kind).sql}" for when, code in pairs)
        return Code(f"CASE {whens} ELSE {coerced(otherwise, kind).sql} END", kind)

    def _if(self, tree: exp.If) -> Code:
        return self.if_of(tree.this, tree.args["true"], tree.args.get("false"))

    def if_of(self, asked: exp.Expr, then: exp.Expr, other: exp.Expr | None) -> Code:
        return self._case(exp.Case(ifs=[exp.If(this=asked, true=then)], default=other))

    def _cast(self, tree: exp.Cast) -> Code:
        kind = type_of(tree.to)
        literal = tree.this
        if (
            isinstance(literal, exp.Literal)
            and literal.is_string
            and kind.name.startswith("timest")
        ):
            return timestamp_literal(literal.this, kind)
        return cast(self.code(literal), kind)

    def _try_cast(self, tree: exp.TryCast) -> Code:
        if FAILURE in self.code(tree.this).sql:
            # what fails within is not to be NULL, only the cast
            raise SqlError("NOT_SUPPORTED", "TRY_CAST of an expression that may fail itself")
        code = self._cast(tree)
        return Code(f"TRY({code.sql})", code.type)

    def _at_zone(self, tree: exp.AtTimeZone) -> Code:
        code, zone = self.code(tree.this), self.code(tree.args["zone"])
        if not isinstance(zone.value, str) or code.type.name not in (
            "timestamp", "timestamp with time zone",
        ):  # fmt: skip
            raise SqlError("NOT_SUPPORTED", f"AT TIME ZONE of {code.type} is not supported")
        _check_zone(zone.value)
        return Code(code.sql, timestamp_tz(zone.value, code.type.size or 0))

    def _extract(self, tree: exp.Extract) -> Code:
        return field(tree.this.name.lower(), self.code(tree.expression))

    # conditions

    def _and(self, tree: exp.And | exp.Or) -> Code:
        word = "AND" if isinstance(tree, exp.And) else "OR"
        # a long chain is a deep tree
        terms: list[str] = []
        node: exp.Expr = tree
        while type(node) is type(tree):
            terms.append(self.condition(node.expression, "Logical expression"))
            node = node.this
        terms.append(self.condition(node, "Logical expression"))
        return Code(f"({f' {word} '.join(reversed(terms))})", BOOLEAN)

    def _not(self, tree: exp.Not) -> Code:
        return Code(f"(NOT {self.condition(tree.this, 'NOT')})", BOOLEAN)

    def _comparison(self, tree: exp.Binary) -> Code:
        operator = _COMPARISONS[type(tree)]
        right = tree.expression
        if isinstance(right, exp.All | exp.Any):
            return self._quantified(operator, tree.this, right)
        return compare(operator, self.code(tree.this), self.code(right))

    def _quantified(self, operator: str, left: exp.Expr, right: exp.All | exp.Any) -> Code:
        inner = right.this.unnest() if isinstance(right.this, exp.Subquery) else right.this
        if not isinstance(inner, exp.Query):
            raise SqlError("NOT_SUPPORTED", "Comparison with ALL or ANY of no query")
        code = self.code(left)
        found = self._select(inner, self.scope)
        sql = found.coerced_to([self._met(operator, code, found)])
        word = "ALL" if isinstance(right, exp.All) else "ANY"
        kind = self._met(operator, code, found)
        return Code(f"({coerced(code, kind).sql} {operator} {word} ({sql}))", BOOLEAN)

    @staticmethod
    def _met(operator: str, code: Code, found: Selected) -> Type:
        if len(found.columns) != 1:
            raise SqlError("SYNTAX_ERROR", "Multiple columns returned by subquery")
        kind = common(code.type, found.columns[0][1])
        if kind is None or kind.args:
            raise not_applicable(operator, [code, Code("", found.columns[0][1])])
        return kind

    def _distinct(self, tree: exp.NullSafeEQ | exp.NullSafeNEQ) -> Code:
        word = "IS DISTINCT FROM" if isinstance(tree, exp.NullSafeNEQ) else "IS NOT DISTINCT FROM"
        return compare(word, self.code(tree.this), self.code(tree.expression))

    def _is(self, tree: exp.Is) -> Code:
        if not isinstance(tree.expression, exp.Null):
            raise SqlError("SYNTAX_ERROR", "mismatched input after IS. Expecting: NULL")
        word = "IS NOT NULL" if tree.args.get("negate") else "IS NULL"
        return Code(f"({self.code(tree.this).sql} {word})", BOOLEAN)

    def _between(self, tree: exp.Between) -> Code:
        value = self.code(tree.this)
        low = compare(">=", value, self.code(tree.args["low"])).sql
        high = compare("<=", value, self.code(tree.args["high"])).sql
        return Code(f"({low} AND {high})", BOOLEAN)

    def _in(self, tree: exp.In) -> Code:
        code = self.code(tree.this)
        query = tree.args.get("query")
        if query is not None:
            found = self._select(query.unnest(), self.scope)
            kind = self._met("IN", code, found)
            sql = found.coerced_to([kind])
            return Code(f"({coerced(code, kind).sql} IN ({sql}))", BOOLEAN)
        values = [self.code(item) for item in tree.expressions]
        kind = self.meeting([code, *values])
        compare("=", Code("", kind), Code("", kind))
        inside = ", ".join(coerced(value, kind).sql for value in values)
        return Code(f"({coerced(code, kind).sql} IN ({inside}))", BOOLEAN)

    def _exists(self, tree: exp.Exists) -> Code:
        inner = tree.this.unnest() if isinstance(tree.this, exp.Subquery) else tree.this
        return Code(f"EXISTS ({self._select(inner, self.scope).sql})", BOOLEAN)

    def _subquery(self, tree: exp.Subquery) -> Code:
        found = self._select(tree, self.scope)
        if len(found.columns) != 1:
            raise SqlError("SYNTAX_ERROR", "Multiple columns returned by subquery")
        return Code(f"({found.sql})", found.columns[0][1])

    def _like(self, tree: exp.Like, escape: exp.Expr | None = None) -> Code:
        value, pattern = self.code(tree.this), self.code(tree.expression)
        if {value.type.name, pattern.type.name} - {"varchar", "unknown"}:
            raise SqlError("TYPE_MISMATCH", "Left side of LIKE expression must evaluate to varchar")
        sql = f"{coerced(value, VARCHAR).sql} LIKE {coerced(pattern, VARCHAR).sql}"
        if escape is not None:
            sign = self.code(escape)
            if not isinstance(sign.value, str) or len(sign.value) != 1:
                raise SqlError("INVALID_FUNCTION_ARGUMENT", "Escape must be a single character")
            sql += f" ESCAPE {sign.sql}"
        if tree.args.get("negate"):
            sql = f"NOT ({sql})"
        return Code(f"({sql})", BOOLEAN)

    def _escape(self, tree: exp.Escape) -> Code:
        if not isinstance(tree.this, exp.Like):
            raise SqlError("NOT_SUPPORTED", f"Unsupported: {tree.sql('trino')[:100]}")
        check_parts(tree.this)
        return self._like(tree.this, tree.expression)

    # operators with a function's name

    def _arithmetic(self, tree: exp.Binary) -> Code:
        return arithmetic(_ARITHMETIC[type(tree)], self.code(tree.this), self.code(tree.expression))

    def _neg(self, tree: exp.Neg) -> Code:
        return negated(self.code(tree.this))

    def _pipe(self, tree: exp.DPipe) -> Code:
        return concatenated(self.code(tree.this), self.code(tree.expression))

    def _position(self, tree: exp.StrPosition) -> Code:
        return SCALARS["strpos"](self.code(tree.this), self.code(tree.args["substr"]))

    def _substring(self, tree: exp.Substring) -> Code:
        given = [tree.this, tree.args.get("start"), tree.args.get("length")]
        return SCALARS["substr"](*(self.code(g) for g in given if g is not None))

    def _trim(self, tree: exp.Trim) -> Code:
        side = str(tree.args.get("position") or "BOTH").upper()
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim")
        given = [tree.this, tree.args.get("expression")]
        return SCALARS[name](*(self.code(g) for g in given if g is not None))

    _HANDLERS: ClassVar[dict[type, Handler]] = {}


def _check_zone(name: str) -> None:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise SqlError("INVALID_FUNCTION_ARGUMENT", f"'{name}' is not a valid time zone") from None


def position(tree: exp.Expr) -> tuple[int, int] | None:
    """Line and column of a name in the text; None where sqlglot does not tell."""
    for node in tree.find_all(exp.Identifier):
        meta = node.meta
        if "line" in meta:
            length = meta["end"] - meta["start"] + 1
            return int(meta["line"]), int(meta["col"]) - length + 1
    return None


_COMPARISONS: dict[type, str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
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
        exp.AtTimeZone: E._at_zone, exp.Extract: E._extract, exp.And: E._and, exp.Or: E._and,
        exp.Not: E._not, exp.NullSafeEQ: E._distinct, exp.NullSafeNEQ: E._distinct,
        exp.Is: E._is, exp.Between: E._between, exp.In: E._in, exp.Exists: E._exists,
        exp.Subquery: E._subquery, exp.Like: E._like, exp.Escape: E._escape, exp.Neg: E._neg,
        exp.DPipe: E._pipe, exp.StrPosition: E._position, exp.Substring: E._substring,
        exp.Trim: E._trim, exp.Anonymous: E.call, exp.Window: E.window, exp.Filter: E.filtered,
        exp.IgnoreNulls: E.call_with_nulls, exp.GroupConcat: E.listagg,
        **dict.fromkeys(_COMPARISONS, E._comparison), **dict.fromkeys(_ARITHMETIC, E._arithmetic),
    }
)  # fmt: skip
