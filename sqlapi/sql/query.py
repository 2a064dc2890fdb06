"""Queries: SELECT, set operations and VALUES, with their columns' names and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sqlapi.sql.budget import spend, too_deep
from sqlapi.sql.calls import is_aggregate, ordering, with_windows
from sqlapi.sql.code import Code, coerced
from sqlapi.sql.dialect import shown
from sqlapi.sql.expressions import Expressions
from sqlapi.sql.literals import whole
from sqlapi.sql.parts import check_parts
from sqlapi.sql.relations import Relations
from sqlapi.sql.scope import Context, Scope
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type, common

__all__ = ["Queries", "Selected"]

_DEPTH = 60
_SETS: dict[type, str] = {
    exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT",
}  # fmt: skip
_SETS_OF_KEYS: dict[type, str] = {
    exp.Rollup: "ROLLUP", exp.Cube: "CUBE", exp.GroupingSets: "GROUPING SETS",
}  # fmt: skip
_UNEQUAL = (
    exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NEQ, exp.Or, exp.Not, exp.Between, exp.Like, exp.In,
)  # fmt: skip
_KNOWN = {
    "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset",
    "distinct", "with_", "sample", "kind", "laterals", "operation_modifiers", "windows",
}  # fmt: skip


@dataclass
class Selected:
    """DuckDB's SQL of a query, whose columns are named c0, c1 and so on."""

    sql: str
    columns: list[tuple[str, Type]]

    def __post_init__(self) -> None:
        spend(len(self.sql))

    def coerced_to(self, kinds: Sequence[Type]) -> str:
        """Return the SQL with columns of these types."""
        if all(have.duck == want.duck for (_, have), want in zip(self.columns, kinds, strict=True)):
            return self.sql
        columns = ", ".join(f"CAST(c{i} AS {kind.duck}) AS c{i}" for i, kind in enumerate(kinds))
        return f"SELECT {columns} FROM ({self.sql})"


@dataclass
class Queries(Relations):
    """Translator of whole queries over the tables of a context."""

    context: Context
    ctes: dict[str, Selected] = field(default_factory=dict)

    def query(self, tree: exp.Expr, outer: Scope | None = None) -> Selected:
        """Translate a query. Raises SqlError for anything that is not known to agree with Trino."""
        self.context.depth += 1
        if self.context.depth > _DEPTH:
            raise too_deep()
        kept = dict(self.ctes)
        try:
            self._with(tree, outer)
            return self._query(tree, outer)
        finally:
            self.ctes = kept
            self.context.depth -= 1

    def _with(self, tree: exp.Expr, outer: Scope | None) -> None:
        clause = tree.args.get("with_")
        if clause is None:
            return
        if clause.args.get("recursive"):
            raise SqlError("NOT_SUPPORTED", "WITH RECURSIVE is not supported")
        named = [cte.alias.lower() for cte in clause.expressions]
        if len(set(named)) < len(named):
            raise SqlError("DUPLICATE_NAMED_QUERY", "A query of WITH is specified more than once")
        for cte in clause.expressions:
            check_parts(cte)
            found = self.query(cte.this, outer)
            names = [name.name for name in cte.args["alias"].columns]
            if names:
                found = Selected(found.sql, renamed(found.columns, names))
            self.ctes[cte.alias.lower()] = found

    def _query(self, tree: exp.Expr, outer: Scope | None) -> Selected:
        if not isinstance(tree, exp.Select):
            check_parts(tree)
        if isinstance(tree, exp.Subquery):
            found = self.query(tree.this, outer)
            return self._modified(tree, found)
        if isinstance(tree, exp.SetOperation):
            return self._modified(tree, self._set(tree, outer))
        if isinstance(tree, exp.Values):
            return self._modified(tree, self._values(tree, outer))
        if isinstance(tree, exp.Select):
            return self._select(tree, outer)
        raise SqlError("NOT_SUPPORTED", f"Unsupported query: {shown(tree)}")

    def _values(self, tree: exp.Values, outer: Scope | None) -> Selected:
        compiler = Expressions(self.context, Scope(outer=outer), self.query)
        rows = [self._value(r, compiler) for r in tree.expressions]
        if len({len(r) for r in rows}) != 1:
            raise SqlError("TYPE_MISMATCH", "Values rows have mismatched sizes")
        kinds = [compiler.meeting(column) for column in zip(*rows, strict=True)]
        texts = (
            f"({', '.join(coerced(c, k).sql for c, k in zip(r, kinds, strict=True))})" for r in rows
        )
        names = ", ".join(f"c{i}" for i in range(len(kinds)))
        sql = f"SELECT * FROM (VALUES {', '.join(texts)}) AS v({names})"
        return Selected(sql, [(f"_col{i}", kind) for i, kind in enumerate(kinds)])

    @staticmethod
    def _value(tree: exp.Expr, compiler: Expressions) -> list[Code]:
        """Return the columns of one row of VALUES; a single row value has several."""
        items = tree.expressions if isinstance(tree, exp.Tuple) else [tree]
        codes = [compiler.code(item) for item in items]
        if len(codes) == 1 and codes[0].type.name == "row":
            (whole,) = codes
            return [
                Code(f"struct_extract({whole.sql}, 'f{i}')", kind)
                for i, kind in enumerate(whole.type.args)
            ]
        return codes

    def _set(self, tree: exp.SetOperation, outer: Scope | None) -> Selected:
        word = _SETS[type(tree)]
        if tree.args.get("by_name"):
            raise SqlError("NOT_SUPPORTED", f"{word} CORRESPONDING is not supported")
        left, right = self.query(tree.this, outer), self.query(tree.expression, outer)
        if len(left.columns) != len(right.columns):
            raise SqlError("TYPE_MISMATCH", f"{word} query has different number of fields")
        kinds: list[Type] = []
        for (name, a), (_, b) in zip(left.columns, right.columns, strict=True):
            kind = common(a, b)
            if kind is None or (tree.args.get("distinct") and _unordered(kind)):
                raise SqlError(
                    "TYPE_MISMATCH",
                    f"column {name} in {word} query has incompatible types: {a}, {b}",
                )
            kinds.append(kind)
        if not tree.args.get("distinct"):
            word += " ALL"
        sql = f"({left.coerced_to(kinds)}) {word} ({right.coerced_to(kinds)})"
        return Selected(sql, [(n, k) for (n, _), k in zip(left.columns, kinds, strict=True)])

    def _modified(self, tree: exp.Expr, found: Selected) -> Selected:
        """Add ORDER BY, OFFSET and LIMIT to a query other than a plain SELECT."""
        if not any(tree.args.get(key) for key in ("order", "limit", "offset")):
            return found
        sql = f"SELECT * FROM ({found.sql}) AS m"
        if order := tree.args.get("order"):
            terms = [
                f"{self._ordinal(item.this, found)}{ordering(item)}" for item in order.expressions
            ]
            sql += f" ORDER BY {', '.join(terms)}"
        return Selected(sql + self._limits(tree), found.columns)

    @staticmethod
    def _ordinal(tree: exp.Expr, found: Selected) -> str:
        names = [name.lower() for name, _ in found.columns]
        if isinstance(tree, exp.Literal) and not tree.is_string:
            return f"c{ordinal(tree, len(names))}"
        if isinstance(tree, exp.Column) and names.count(tree.name.lower()) == 1 and not tree.table:
            return f"c{names.index(tree.name.lower())}"
        raise SqlError("NOT_SUPPORTED", "ORDER BY of a set operation by an expression")

    @staticmethod
    def _limits(tree: exp.Expr) -> str:
        sql = ""
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        if isinstance(limit, exp.Fetch):
            options = limit.args.get("limit_options")
            if options is not None and (
                options.args.get("with_ties") or options.args.get("percent")
            ):
                raise SqlError("NOT_SUPPORTED", "FETCH FIRST … WITH TIES is not supported")
            count: Any = limit.args.get("count")
            sql += f" LIMIT {_count(count) if count is not None else 1}"
        elif limit is not None and not (
            isinstance(limit.expression, exp.Var) and limit.expression.name.upper() == "ALL"
        ):
            if limit.args.get("limit_options"):
                raise SqlError("SYNTAX_ERROR", "LIMIT and OFFSET take a whole number")
            sql += f" LIMIT {_count(limit.expression)}"
        if offset is not None:
            sql += f" OFFSET {_count(offset.expression)}"
        return sql

    # SELECT

    def _select(self, tree: exp.Select, outer: Scope | None) -> Selected:
        given = {k for k, v in tree.args.items() if v not in (None, [], False)}
        if extra := given - _KNOWN:
            raise SqlError("NOT_SUPPORTED", f"Unsupported clause: {', '.join(sorted(extra))}")
        if not tree.expressions:
            raise SqlError(
                "SYNTAX_ERROR", "mismatched input. Expecting: <expression>", position=(1, 8)
            )
        if tree.args.get("windows"):
            tree = with_windows(tree)
        scope = Scope(outer=outer)
        source = self.source(tree, scope)
        compiler = Expressions(self.context, scope, self.query)
        where = tree.args.get("where")
        conditions = ""
        if where is not None:
            if is_aggregate(where.this):
                raise SqlError("EXPRESSION_NOT_SCALAR", "WHERE clause cannot contain aggregations")
            conditions = f" WHERE {compiler.condition(where.this)}"
        items = self._items(tree, compiler, scope)
        grouped = self._group(tree, compiler, items)
        having = tree.args.get("having")
        filtered = f" HAVING {compiler.condition(having.this, 'HAVING')}" if having else ""
        distinct = tree.args.get("distinct")
        if distinct is not None and (
            distinct.args.get("on") or any(_unordered(code.type) for _, code in items)
        ):
            raise SqlError("NOT_SUPPORTED", "This form of DISTINCT is not supported")
        columns = ", ".join(f"{code.sql} AS c{i}" for i, (_, code) in enumerate(items))
        sql = f"SELECT {'DISTINCT ' if distinct else ''}{columns}{source}{conditions}"
        sql += grouped + filtered
        order = tree.args.get("order")
        if order is not None:
            sql += self._order(order, compiler, items, distinct=bool(distinct))
        sql += self._limits(tree)
        if scope.is_correlated and tree.args.get("limit") is not None:
            _check_correlated(tree)
        return Selected(sql, [(name, code.type) for name, code in items])

    def _items(
        self, tree: exp.Select, compiler: Expressions, scope: Scope
    ) -> list[tuple[str, Code]]:
        items: list[tuple[str, Code]] = []
        for item in tree.expressions:
            if isinstance(item, exp.Star) or (
                isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
            ):
                star = item if isinstance(item, exp.Star) else item.this
                if any(star.args.get(key) for key in ("except_", "replace", "rename")):
                    raise SqlError("NOT_SUPPORTED", "This form of * is not supported")
                alias = item.table.lower() if isinstance(item, exp.Column) else None
                if alias is None and not scope.relations:
                    raise SqlError(
                        "COLUMN_NOT_FOUND", "SELECT * not allowed in queries without FROM clause"
                    )
                for column in scope.columns(alias):
                    column.used()
                    items.append((column.name, Code(column.sql, column.type)))
                continue
            code = compiler.code(item)
            items.append((self._name(item, len(items)), code))
        return items

    @staticmethod
    def _name(item: exp.Expr, index: int) -> str:
        if isinstance(item, exp.Alias):
            return str(item.alias)
        if isinstance(item, exp.Column):
            return str(item.name).lower()
        if isinstance(item, exp.Dot):
            return str(item.expression.name).lower()
        return f"_col{index}"

    def _group(self, tree: exp.Select, compiler: Expressions, items: list[tuple[str, Code]]) -> str:
        group = tree.args.get("group")
        if group is None:
            return ""
        if any(v for k, v in group.args.items() if k != "expressions"):
            raise SqlError("NOT_SUPPORTED", "This form of GROUP BY is not supported")

        def one(item: exp.Expr) -> str:
            if isinstance(item, exp.Literal) and not item.is_string:
                index = ordinal(item, len(items))
                return _key(items[index][1])
            if is_aggregate(item):
                raise SqlError("SYNTAX_ERROR", "GROUP BY clause cannot contain aggregations")
            return _key(compiler.code(item.this if isinstance(item, exp.Paren) else item))

        def several(item: exp.Expr) -> str:
            if isinstance(item, exp.Tuple):
                return f"({', '.join(one(x) for x in item.expressions)})"
            return f"({one(item)})"

        terms = []
        for item in group.expressions:
            if word := _SETS_OF_KEYS.get(type(item)):
                inside = ", ".join(several(x) for x in item.expressions)
                terms.append(f"{word} ({inside})")
            else:
                terms.append(several(item) if isinstance(item, exp.Tuple) else one(item))
        return f" GROUP BY {', '.join(terms)}"

    @staticmethod
    def _order(
        order: exp.Order, compiler: Expressions, items: list[tuple[str, Code]], *, distinct: bool
    ) -> str:
        by_name: dict[str, dict[str, int]] = {}
        by_sql: dict[str, int] = {}
        for i, (name, code) in enumerate(items):
            by_name.setdefault(name.lower(), {}).setdefault(code.sql, i)
            by_sql.setdefault(code.sql, i)
        # in an expression, names of result columns come before those of the source
        scope = compiler.scope
        variables = {**scope.variables, **{name.lower(): code for name, code in items}}
        terms = []
        for item in order.expressions:
            tree = item.this
            if any(str(call.this).lower() == "grouping" for call in tree.find_all(exp.Anonymous)):
                raise SqlError("INVALID_ARGUMENTS", "grouping() in ORDER BY")
            if isinstance(tree, exp.Literal) and not tree.is_string:
                index = ordinal(tree, len(items))
                term, kind = f"{index + 1}", items[index][1].type
            elif isinstance(tree, exp.Column) and not tree.table and tree.name.lower() in by_name:
                indexes = list(by_name[tree.name.lower()].values())
                if len(indexes) > 1:
                    raise SqlError("SYNTAX_ERROR", f"Column '{tree.name}' is ambiguous")
                term, kind = f"{indexes[0] + 1}", items[indexes[0]][1].type
            else:
                kept, scope.variables = scope.variables, variables
                try:
                    code = compiler.code(tree)
                finally:
                    scope.variables = kept
                found = by_sql.get(code.sql)
                if found is None and distinct:
                    raise SqlError(
                        "EXPRESSION_NOT_IN_DISTINCT",
                        "For SELECT DISTINCT, ORDER BY expressions must appear in select list",
                    )
                term, kind = code.sql if found is None else f"{found + 1}", code.type
            if kind.args or kind.name == "json":
                raise SqlError("NOT_SUPPORTED", f"ORDER BY of {kind} is not supported")
            terms.append(f"{term}{ordering(item)}")
        return f" ORDER BY {', '.join(terms)}"


def _unordered(kind: Type) -> bool:
    return kind.name in ("map", "json") or any(_unordered(t) for t in kind.args)


def _key(code: Code) -> str:
    if _unordered(code.type):
        raise SqlError(
            "TYPE_MISMATCH",
            f"{code.type} is not comparable, and therefore cannot be used in GROUP BY",
        )
    return code.sql


def _check_correlated(tree: exp.Select) -> None:
    """Raise SqlError for a correlated LIMIT that Trino refuses, or may refuse."""
    where = tree.args.get("where")
    if tree.args.get("order") or (where is not None and where.find(*_UNEQUAL)):
        raise SqlError("NOT_SUPPORTED", "Given correlated subquery is not supported")


def _count(tree: exp.Expr) -> int:
    if isinstance(tree, exp.Literal) and not tree.is_string:
        count = whole(tree.this)
        if count is not None and count < 1 << 63:
            return count
    raise SqlError("SYNTAX_ERROR", "LIMIT and OFFSET take a whole number")


def ordinal(tree: exp.Literal, count: int) -> int:
    """Return the index of a column that is given by its number from 1. Raises SqlError."""
    number = whole(tree.this)
    if number is None or not 1 <= number <= count:
        raise SqlError(
            "INVALID_COLUMN_REFERENCE",
            f"ORDER BY or GROUP BY position {tree.this[:50]} is not in select list",
        )
    return number - 1


def renamed(columns: list[tuple[str, Type]], names: Sequence[str]) -> list[tuple[str, Type]]:
    """Return the columns with other names. Raises SqlError if the numbers differ."""
    if len(names) != len(columns):
        raise SqlError(
            "MISMATCHED_COLUMN_ALIASES",
            f"Column alias list has {len(names)} entries but relation has {len(columns)} columns",
        )
    return [(name.lower(), kind) for name, (_, kind) in zip(names, columns, strict=True)]
