"""Conditions: comparisons, membership, patterns, and their logical operators."""

from __future__ import annotations

import re
from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlapi.sql.binding import applied
from sqlapi.sql.calls import Calls
from sqlapi.sql.code import Code, coerced, failing, not_applicable
from sqlapi.sql.dialect import shown
from sqlapi.sql.operators import compare
from sqlapi.sql.parts import check_parts
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BOOLEAN, VARCHAR, Type, common

if TYPE_CHECKING:
    from sqlapi.sql.query import Selected

__all__ = ["Conditions"]

COMPARISONS: dict[type, str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


class Conditions(Calls):
    """The part of `Expressions` that translates booleans."""

    @abstractmethod
    def select(self, tree: exp.Expr) -> Selected:
        """Translate a query within an expression."""

    def and_(self, tree: exp.And | exp.Or) -> Code:
        word = "AND" if isinstance(tree, exp.And) else "OR"
        # a long chain is a deep tree, so this is a loop
        terms: list[str] = []
        node: exp.Expr = tree
        while type(node) is type(tree):
            terms.append(self.condition(node.expression, "Logical expression"))
            node = node.this
        terms.append(self.condition(node, "Logical expression"))
        return Code(f"({f' {word} '.join(reversed(terms))})", BOOLEAN)

    def not_(self, tree: exp.Not) -> Code:
        return Code(f"(NOT {self.condition(tree.this, 'NOT')})", BOOLEAN)

    def comparison(self, tree: exp.Binary) -> Code:
        operator = COMPARISONS[type(tree)]
        if isinstance(tree.this, tuple(COMPARISONS)):
            raise SqlError("SYNTAX_ERROR", f"mismatched input '{operator}'")
        right = tree.expression
        if isinstance(right, exp.Anonymous) and len(right.expressions) == 1:
            # sqlglot takes ALL (VALUES 1, 2) for a function
            kind = {"all": exp.All, "some": exp.Any, "any": exp.Any}.get(str(right.this).lower())
            if kind is not None and isinstance(right.expressions[0], exp.Values):
                right = kind(this=right.expressions[0])
        if isinstance(right, exp.All | exp.Any):
            return self._quantified(operator, tree.this, right)
        return applied(partial(compare, operator), self.code(tree.this), self.code(right))

    def _quantified(self, operator: str, left: exp.Expr, right: exp.All | exp.Any) -> Code:
        inner = right.this.unnest() if isinstance(right.this, exp.Subquery) else right.this
        if not isinstance(inner, exp.Query | exp.Values):
            raise SqlError("NOT_SUPPORTED", "Comparison with ALL or ANY of no query")
        code = self.code(left)
        found = self.select(inner)
        kind = self._met(operator, code, found)
        sql = found.coerced_to([kind])
        word = "ALL" if isinstance(right, exp.All) else "ANY"
        return Code(f"({coerced(code, kind).sql} {operator} {word} ({sql}))", BOOLEAN)

    @staticmethod
    def _met(operator: str, code: Code, found: Selected) -> Type:
        if len(found.columns) != 1:
            raise SqlError("SYNTAX_ERROR", "Multiple columns returned by subquery")
        kind = common(code.type, found.columns[0][1])
        if kind is None or kind.args:
            raise not_applicable(operator, [code, Code("", found.columns[0][1])])
        if kind.name in ("double", "real"):
            # Trino treats a NaN among the query's values in two ways
            raise SqlError("NOT_SUPPORTED", f"{operator} of {kind} and a query is not supported")
        return kind

    def distinct(self, tree: exp.NullSafeEQ | exp.NullSafeNEQ) -> Code:
        word = "IS DISTINCT FROM" if isinstance(tree, exp.NullSafeNEQ) else "IS NOT DISTINCT FROM"
        return applied(partial(compare, word), self.code(tree.this), self.code(tree.expression))

    def is_(self, tree: exp.Is) -> Code:
        if not isinstance(tree.expression, exp.Null):
            raise SqlError("SYNTAX_ERROR", "mismatched input after IS. Expecting: NULL")
        word = "IS NOT NULL" if tree.args.get("negate") else "IS NULL"
        return Code(f"({self.code(tree.this).sql} {word})", BOOLEAN)

    def between(self, tree: exp.Between) -> Code:
        low, high = self.code(tree.args["low"]), self.code(tree.args["high"])
        return applied(_between, self.code(tree.this), low, high)

    def in_(self, tree: exp.In) -> Code:
        code = self.code(tree.this)
        query = tree.args.get("query")
        if query is None and len(tree.expressions) == 1:
            (only,) = tree.expressions
            query = only if isinstance(only, exp.Values) else None
        if query is not None:
            found = self.select(query.unnest() if isinstance(query, exp.Subquery) else query)
            if code.type.name == "row":
                return self._row_in(code, found)
            kind = self._met("IN", code, found)
            sql = found.coerced_to([kind])
            return Code(f"({coerced(code, kind).sql} IN ({sql}))", BOOLEAN)
        return applied(self._in_list, code, *(self.code(item) for item in tree.expressions))

    def _in_list(self, code: Code, *values: Code) -> Code:
        kind = self.meeting([code, *values])
        compare("=", Code("", kind), Code("", kind))
        if kind.name in ("double", "real", "row", "array"):
            # NaN is in no list, and NULL within a value makes the result NULL
            each = " OR ".join(compare("=", code, value).sql for value in values)
            return Code(f"({each})", BOOLEAN)
        inside = ", ".join(coerced(value, kind).sql for value in values)
        return Code(f"({coerced(code, kind).sql} IN ({inside}))", BOOLEAN)

    @staticmethod
    def _row_in(code: Code, found: Selected) -> Code:
        """Return a test of whether a query has a row; it fails if a NULL decides the result."""
        kinds = [*code.type.args, *(kind for _, kind in found.columns)]
        if any(kind.name in ("double", "real") for kind in kinds):
            raise SqlError("NOT_SUPPORTED", "IN of rows of doubles and a query is not supported")
        if len(found.columns) != len(code.type.args):
            raise not_applicable("IN", [code, *(Code("", kind) for _, kind in found.columns)])
        parts = [
            compare(
                "=",
                Code(f"struct_extract({code.sql}, 'f{i}')", part),
                Code(f"t_s.c{i}", kind),
            ).sql
            for i, (part, (_, kind)) in enumerate(zip(code.type.args, found.columns, strict=True))
        ]
        same = f"({' AND '.join(parts)})"
        null = failing("NOT_SUPPORTED", "'IN of rows with NULL'", "BOOLEAN")
        sql = (
            f"SELECT CASE WHEN count(*) = 0 THEN false WHEN bool_or({same}) THEN true"
            f" WHEN count(*) > count({same}) THEN {null} ELSE false END FROM ({found.sql}) AS t_s"
        )
        return Code(f"({sql})", BOOLEAN)

    def exists(self, tree: exp.Exists) -> Code:
        inner = tree.this.unnest() if isinstance(tree.this, exp.Subquery) else tree.this
        return Code(f"EXISTS ({self.select(inner).sql})", BOOLEAN)

    def subquery(self, tree: exp.Subquery) -> Code:
        found = self.select(tree)
        if len(found.columns) != 1:
            raise SqlError("SYNTAX_ERROR", "Multiple columns returned by subquery")
        return Code(f"({found.sql})", found.columns[0][1])

    def like(self, tree: exp.Like, escape: exp.Expr | None = None) -> Code:
        value, pattern = self.code(tree.this), self.code(tree.expression)
        if {value.type.name, pattern.type.name} - {"varchar", "unknown"}:
            raise SqlError("TYPE_MISMATCH", "Left side of LIKE expression must evaluate to varchar")
        sql = f"{coerced(value, VARCHAR).sql} LIKE {coerced(pattern, VARCHAR).sql}"
        if escape is not None:
            sign = self.code(escape)
            if not isinstance(sign.value, str) or len(sign.value) != 1:
                raise SqlError("INVALID_FUNCTION_ARGUMENT", "Escape must be a single character")
            if not isinstance(pattern.value, str) or re.search(
                rf"{re.escape(sign.value)}(?![%_{re.escape(sign.value)}])",
                pattern.value.replace(sign.value * 2, ""),
            ):
                # DuckDB accepts any character after the escape character
                raise SqlError("NOT_SUPPORTED", "LIKE with this pattern and escape character")
            sql += f" ESCAPE {sign.sql}"
        if tree.args.get("negate"):
            sql = f"NOT ({sql})"
        return Code(f"({sql})", BOOLEAN)

    def escape(self, tree: exp.Escape) -> Code:
        if not isinstance(tree.this, exp.Like):
            raise SqlError("NOT_SUPPORTED", f"Unsupported: {shown(tree)}")
        check_parts(tree.this)
        return self.like(tree.this, tree.expression)


def _between(value: Code, low: Code, high: Code) -> Code:
    above, below = compare(">=", value, low).sql, compare("<=", value, high).sql
    return Code(f"({above} AND {below})", BOOLEAN)
