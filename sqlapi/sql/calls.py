"""Function calls: scalars, functions with lambdas, aggregates and windows."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlapi.sql.binding import applied
from sqlapi.sql.budget import too_deep
from sqlapi.sql.code import Code, coerced, text
from sqlapi.sql.dialect import shown
from sqlapi.sql.functions import AGGREGATES, LAMBDAS, SCALARS, WINDOWS
from sqlapi.sql.functions.aggregates import Call
from sqlapi.sql.operators import compare
from sqlapi.sql.parts import check_parts
from sqlapi.sql.risks import refuses
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import INTEGER, UNKNOWN, VARCHAR, YEAR_TO_MONTH, Type, common

if TYPE_CHECKING:
    from sqlapi.sql.scope import Context, Scope

__all__ = ["Calls", "is_aggregate", "ordering", "with_windows"]

_SPECIAL = ("if", "coalesce", "nullif", "try", "typeof", "row", "grouping", "now", "normalize")
_LISTED = ("array_agg",)
_LAMBDAS = 8
"""Largest depth of nested lambdas. DuckDB plans the body of each one twice."""
_FRAMES = ("ROWS", "RANGE", "GROUPS")
_BOUND = re.compile(
    r"CURRENT ROW|(?:UNBOUNDED|\d+|TO_(?:MILLISECONDS|MONTHS)\(\d+\)) (?:PRECEDING|FOLLOWING)"
)


def is_aggregate(tree: exp.Expr) -> bool:
    """Return whether an aggregate is called outside of windows and subqueries."""
    for node in tree.walk(prune=lambda n: isinstance(n, exp.Query | exp.Window)):
        if isinstance(node, exp.Anonymous) and str(node.this).lower() in AGGREGATES:
            return True
        if isinstance(node, exp.GroupConcat):
            return True
    return False


class Calls(ABC):
    """The part of `Expressions` that translates functions."""

    context: Context
    scope: Scope

    @abstractmethod
    def code(self, tree: exp.Expr) -> Code: ...

    @abstractmethod
    def condition(self, tree: exp.Expr, clause: str = "WHERE") -> str: ...

    @abstractmethod
    def if_of(self, asked: exp.Expr, then: exp.Expr, other: exp.Expr | None) -> Code: ...

    @staticmethod
    @abstractmethod
    def row_of(codes: Sequence[Code]) -> Code: ...

    def call(self, tree: exp.Anonymous) -> Code:
        """Translate a call. Raises SqlError (FUNCTION_NOT_FOUND) for an unknown function."""
        name, trees = str(tree.this).lower(), tree.expressions
        if name in _SPECIAL and not (name == "normalize" and len(trees) == 1):
            return self._special(name, trees)
        if name in LAMBDAS:
            return LAMBDAS[name](self, trees)
        if name in AGGREGATES:
            return self._aggregate(name, trees, "", "")
        if name in SCALARS:
            return _loose(
                name, applied(SCALARS[name], *(self.code(argument) for argument in trees))
            )
        if name in WINDOWS:
            raise SqlError(
                "EXPRESSION_NOT_SCALAR", f"Window function {name} requires an OVER clause"
            )
        raise SqlError("FUNCTION_NOT_FOUND", f"Function '{name}' not registered")

    def _special(self, name: str, trees: Sequence[exp.Expr]) -> Code:  # noqa: PLR0911
        if name == "if" and len(trees) in (2, 3):
            return self.if_of(trees[0], trees[1], trees[2] if len(trees) > 2 else None)
        if name == "now" and not trees:
            return self.code(exp.CurrentTimestamp())
        if name == "normalize" and len(trees) == 2:
            return self._normalized(trees[0], trees[1].name.upper())
        codes = [self.code(argument) for argument in trees]
        if name == "coalesce" and len(codes) > 1:
            kind = self.meeting(codes)
            return Code(f"coalesce({', '.join(coerced(c, kind).sql for c in codes)})", kind)
        if name == "nullif" and len(codes) == 2:
            return applied(self._null_if, *codes)
        if name == "try" and len(codes) == 1:
            if refuses(codes[0].sql):
                # TRY would turn a value that is merely not supported into NULL
                raise SqlError("NOT_SUPPORTED", "TRY of an expression that may be refused")
            return Code(f"TRY({codes[0].sql})", codes[0].type)
        if name == "typeof" and len(codes) == 1:
            return applied(lambda code: _typeof(code, trees[0]), codes[0])
        if name == "row" and codes:
            return self.row_of(codes)
        if name == "grouping" and codes:
            inside = ", ".join(code.sql for code in codes)
            return Code(f"CAST(grouping({inside}) AS INTEGER)", INTEGER)
        raise SqlError("FUNCTION_NOT_FOUND", f"Function '{name}' not registered")

    def _null_if(self, first: Code, second: Code) -> Code:
        kind = self.meeting([first, second])
        same = compare("=", coerced(first, kind), coerced(second, kind)).sql
        return Code(f"CASE WHEN {same} THEN NULL ELSE {first.sql} END", first.type)

    def _normalized(self, tree: exp.Expr, form: str) -> Code:
        if form not in ("NFC", "NFD", "NFKC", "NFKD"):
            raise SqlError("SYNTAX_ERROR", f"Unknown normal form: {form}")
        value = coerced(self.code(tree), VARCHAR).sql
        return Code(f"t_normalize({value}, '{form}')", VARCHAR.loosely())

    @staticmethod
    def meeting(codes: Sequence[Code]) -> Type:
        kind = UNKNOWN
        for code in codes:
            met = common(kind, code.type)
            if met is None:
                raise SqlError("TYPE_MISMATCH", f"All values must be of one type: {code.type}")
            kind = met
        return kind

    # lambdas

    @contextmanager
    def lambda_name(self) -> Iterator[str]:
        """Yield a lambda parameter's name that no enclosing lambda and no client uses.

        Equal expressions get equal names, so that DuckDB matches SELECT with GROUP BY.
        """
        self.context.lambdas += 1
        if self.context.lambdas > _LAMBDAS:
            raise too_deep()
        try:
            yield f'"l{self.context.lambdas}"'
        finally:
            self.context.lambdas -= 1

    def lambda_body(self, tree: exp.Lambda, values: Sequence[Code]) -> Code:
        """Return the code of a lambda's body, with `values` for its parameters."""
        kept = dict(self.scope.variables)
        names = [parameter.name.lower() for parameter in tree.expressions]
        self.scope.variables.update(zip(names, values, strict=True))
        try:
            return self.code(tree.this)
        finally:
            self.scope.variables.clear()
            self.scope.variables.update(kept)

    # aggregates

    def filtered(self, tree: exp.Filter, over: str = "") -> Code:
        """Translate `aggregate(…) FILTER (WHERE …)`."""
        inner = tree.this
        if isinstance(inner, exp.GroupConcat) and not over:
            return self.listagg(inner, tree.expression.this)
        if not isinstance(inner, exp.Anonymous) or str(inner.this).lower() not in AGGREGATES:
            raise SqlError("FUNCTION_NOT_AGGREGATE", "Filter is only valid for aggregates")
        clause = f" FILTER (WHERE {self.condition(tree.expression.this, 'FILTER')})"
        return self._aggregate(str(inner.this).lower(), inner.expressions, clause, over)

    def _aggregate(self, name: str, trees: Sequence[exp.Expr], clause: str, over: str) -> Code:
        distinct, order = "", ""
        if len(trees) == 1 and isinstance(trees[0], exp.Distinct):
            distinct, trees = "DISTINCT ", trees[0].expressions
        if trees and isinstance(trees[-1], exp.Order):
            # sqlglot puts the order on the last argument
            last = trees[-1]
            order = self.order(last)
            trees = [*trees[:-1], last.this]
            if isinstance(last.this, exp.Distinct):
                distinct, trees = "DISTINCT ", last.this.expressions
        if len(trees) == 1 and isinstance(trees[0], exp.Star):
            trees = []
        if distinct and (len(trees) != 1 or (order and name not in _LISTED)):
            raise SqlError("NOT_SUPPORTED", f"DISTINCT of these arguments of {name}")
        if over and (distinct or order):
            raise SqlError("NOT_SUPPORTED", f"DISTINCT or ORDER BY in the window function {name}")
        codes = [self.code(argument) for argument in trees]
        if name == "approx_distinct" and (over or distinct):
            raise SqlError("NOT_SUPPORTED", f"Function {name} as a window")

        def call(sql: str) -> str:
            head, _, rest = sql.partition("(")
            inside = rest[:-1]
            return f"{head}({distinct}{inside}{order}){clause}{over}"

        maker: Call = call
        return AGGREGATES[name](maker, codes)

    def order(self, tree: exp.Order) -> str:
        """Return the ORDER BY of an aggregate or window; NULL is last by default."""
        terms = []
        for item in tree.expressions:
            code = self.code(item.this)
            terms.append(f"{code.sql}{ordering(item)}")
        return f" ORDER BY {', '.join(terms)}"

    def listagg(self, tree: exp.GroupConcat, only: exp.Expr | None = None) -> Code:
        """Translate `listagg(…) WITHIN GROUP (ORDER BY …)`, over the rows where `only` is true."""
        clause = "" if only is None else f" FILTER (WHERE {self.condition(only, 'FILTER')})"
        inner, separator = tree.this, tree.args.get("separator")
        order, keys = "", []
        if isinstance(inner, exp.Order):
            keys = inner.expressions
            order, inner = self.order(inner), inner.this
        distinct = ""
        if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1 == len(keys):
            # DISTINCT works only if the order is by the same expression
            distinct, inner = "DISTINCT ", inner.expressions[0]
            if keys[0].this != inner:
                order = ""
        if isinstance(inner, exp.Distinct) or not order or tree.args.get("on_overflow"):
            raise SqlError("NOT_SUPPORTED", "This form of listagg is not supported")
        value = coerced(self.code(inner), VARCHAR).sql
        with_ = self.code(separator) if separator is not None else Code("''", VARCHAR)
        return Code(f"string_agg({distinct}{value}, {with_.sql}{order}){clause}", VARCHAR)

    # windows

    def call_with_nulls(self, tree: exp.IgnoreNulls) -> Code:
        raise SqlError("NOT_SUPPORTED", "IGNORE NULLS stands before OVER")

    def window(self, tree: exp.Window) -> Code:
        """Translate `function(…) OVER (…)`."""
        if tree.args.get("alias"):
            raise SqlError("SYNTAX_ERROR", f"Cannot resolve window {tree.args['alias']}")
        if self.context.in_window:
            raise SqlError("NESTED_WINDOW", "Cannot nest window functions inside window functions")
        self.context.in_window = True
        try:
            return self._windowed(tree)
        finally:
            self.context.in_window = False

    def _windowed(self, tree: exp.Window) -> Code:
        over = f" OVER ({self._specification(tree)})"
        inner, nulls = tree.this, ""
        if isinstance(inner, exp.IgnoreNulls):
            inner, nulls = inner.this, " IGNORE NULLS"
        if isinstance(inner, exp.Filter):
            return self.filtered(inner, over)
        if not isinstance(inner, exp.Anonymous):
            raise SqlError("NOT_SUPPORTED", f"Unsupported window: {shown(tree)}")
        name = str(inner.this).lower()
        if name in WINDOWS:
            code = WINDOWS[name]([self.code(argument) for argument in inner.expressions])
            if (
                name not in ("row_number", "ntile")
                and not tree.args.get("order")
                and (name in ("rank", "dense_rank", "percent_rank", "cume_dist"))
            ):
                raise SqlError("NOT_SUPPORTED", f"{name} without ORDER BY")
            sql = f"{code.sql[:-1]}{nulls}){over}"
            return Code(f"CAST({sql} AS {code.type.duck})", code.type)
        if name in AGGREGATES and not nulls:
            return self._aggregate(name, inner.expressions, "", over)
        raise SqlError("FUNCTION_NOT_FOUND", f"Function '{name}' not registered")

    def _specification(self, tree: exp.Window) -> str:
        parts = []
        if by := tree.args.get("partition_by"):
            parts.append(f"PARTITION BY {', '.join(self.code(item).sql for item in by)}")
        order = tree.args.get("order")
        if order:
            parts.append(self.order(order).strip())
        if spec := tree.args.get("spec"):
            keys = [self.code(item.this).type for item in (order.expressions if order else [])]
            parts.append(self._frame(spec, keys[0] if len(keys) == 1 else UNKNOWN))
        return " ".join(parts)

    def _distance(self, bound: exp.Interval, key: Type) -> str:
        """Return the interval of a frame over times as DuckDB's. Raises SqlError."""
        code = self.code(bound)
        number = re.fullmatch(r"CAST\((\d{1,15}) AS BIGINT\)", code.sql)
        if number is None or (key.zone and code.type == YEAR_TO_MONTH):
            raise SqlError("NOT_SUPPORTED", f"RANGE frame with {shown(bound)}")
        if code.type == YEAR_TO_MONTH:
            return f"to_months({int(number[1])})"
        if key.name == "date" and int(number[1]) % 86_400_000:
            raise SqlError("NOT_SUPPORTED", "RANGE frame of dates with a part of a day")
        return f"to_milliseconds({int(number[1])})"

    def _frame(self, spec: exp.WindowSpec, key: Type) -> str:
        check_parts(spec)
        kind = str(spec.args["kind"]).upper()
        if spec.args.get("exclude"):
            raise SqlError("NOT_SUPPORTED", "EXCLUDE in a window's frame")
        ends = []
        for side in ("start", "end"):
            bound, where = spec.args.get(side), spec.args.get(f"{side}_side")
            if bound is None:
                ends.append("CURRENT ROW")
            elif isinstance(bound, exp.Expr):
                if kind == "RANGE" and isinstance(bound, exp.Interval) and key.is_time:
                    ends.append(f"{self._distance(bound, key)} {where}".upper())
                    continue
                code = self.code(bound)
                if not isinstance(code.value, int) or (kind == "RANGE" and not key.is_integer):
                    raise SqlError("NOT_SUPPORTED", f"{kind} frame with this bound")
                ends.append(f"{code.value} {where}".upper())
            else:
                ends.append(f"{bound} {where or ''}".strip().upper())
        if kind not in _FRAMES or not all(_BOUND.fullmatch(end) for end in ends):
            raise SqlError("NOT_SUPPORTED", f"Unsupported frame of a window: {shown(spec)}")
        return f"{kind} BETWEEN {ends[0]} AND {ends[1]}"


def with_windows(tree: exp.Select) -> exp.Select:
    """Return the query with named windows written out at each use."""
    tree = tree.copy()
    named = {window.this.name.lower(): window for window in tree.args.pop("windows")}
    if any(window.args.get("alias") for window in named.values()):
        raise SqlError("NOT_SUPPORTED", "A window made of another one is not supported")
    parts = ("partition_by", "order", "spec")
    inside = tree.walk(prune=lambda n: n is not tree and isinstance(n, exp.Query))
    for node in [n for n in inside if isinstance(n, exp.Window)]:
        name = node.args.get("alias")
        if name is None:
            continue
        if name.name.lower() not in named or any(node.args.get(part) for part in parts):
            raise SqlError("NOT_SUPPORTED", f"Window {name.name} is not supported here")
        node.set("alias", None)
        for part in parts:
            # the tree is shared: copies of a long one would take much memory
            node.args[part] = named[name.name.lower()].args.get(part)
    return tree


def _loose(name: str, code: Code) -> Code:
    """Return a function's result, marked as a type whose length Trino may know."""
    return code if name in ("concat", "json_format") else replace(code, type=code.type.loosely())


def _typeof(code: Code, tree: exp.Expr) -> Code:
    if code.type.is_loose:
        raise SqlError("NOT_SUPPORTED", f"Function typeof of {shown(tree)}")
    name = text(str(code.type))
    if is_aggregate(tree):
        # the query must remain an aggregation
        return Code(f"CASE WHEN {code.sql} IS NULL THEN {name} ELSE {name} END", VARCHAR)
    return Code(name, VARCHAR)


def ordering(item: exp.Ordered) -> str:
    """Return the direction and the place of NULL: last by default, as in Trino."""
    check_parts(item)
    first = item.args.get("nulls_first")
    return f"{' DESC' if item.args.get('desc') else ' ASC'} NULLS {'FIRST' if first else 'LAST'}"
