"""FROM: tables, views, subqueries, joins and UNNEST."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlapi.sql.code import Code, coerced, identifier
from sqlapi.sql.dialect import parse_query, shown
from sqlapi.sql.expressions import Expressions
from sqlapi.sql.operators import compare
from sqlapi.sql.parts import check_parts
from sqlapi.sql.scope import Column, Context, Relation, Scope
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BIGINT, Type, common

if TYPE_CHECKING:
    from sqlapi.sql.query import Selected

__all__ = ["Relations"]


@dataclass
class Relations(ABC):
    """The part of `Queries` that translates FROM."""

    context: Context
    ctes: dict[str, Selected]

    @abstractmethod
    def query(self, tree: exp.Expr, outer: Scope | None = None) -> Selected: ...

    def source(self, tree: exp.Select, scope: Scope) -> str:
        """Translate the FROM clause of a SELECT, and add its columns to the scope."""
        clause = tree.args.get("from_")
        if clause is None:
            return ""
        sql = self._relation(clause.this, scope, lateral=False)
        sample = tree.args.get("sample")
        if sample is not None:
            if tree.args.get("joins"):
                raise SqlError("NOT_SUPPORTED", "TABLESAMPLE in a join is not supported")
            sql += _sample(sample)
        for join in [*(clause.this.args.get("joins") or []), *(tree.args.get("joins") or [])]:
            sql = self._join(sql, join, scope)
        if tree.args.get("laterals"):
            raise SqlError("NOT_SUPPORTED", "LATERAL VIEW is not supported")
        return f" FROM {sql}"

    def _relation(  # noqa: PLR0911
        self, tree: exp.Expr, scope: Scope, *, lateral: bool
    ) -> str:
        if isinstance(tree, exp.Table):
            return self._table(tree, scope)
        check_parts(tree)
        if isinstance(tree, exp.Unnest):
            return self._unnest(tree, scope)
        if isinstance(tree, exp.Lateral):
            return "LATERAL " + self._derived(tree, tree.this, scope, outer=scope)
        if isinstance(tree, exp.Subquery):
            if isinstance(tree.this, exp.Table):
                return self._parenthesised(tree, scope)
            return self._derived(tree, tree.this, scope, outer=scope.outer)
        if isinstance(tree, exp.Values):
            return self._derived(tree, tree, scope, outer=scope.outer)
        if isinstance(tree, exp.Paren):
            return self._relation(tree.this, scope, lateral=lateral)
        raise SqlError("NOT_SUPPORTED", f"Unsupported relation: {shown(tree)}")

    def _parenthesised(self, tree: exp.Subquery, scope: Scope) -> str:
        if tree.alias:
            raise SqlError("NOT_SUPPORTED", "A join in parentheses with an alias")
        inner = tree.this
        sql = self._table(inner, scope)
        for join in inner.args.get("joins") or []:
            sql = self._join(sql, join, scope)
        return f"({sql})"

    def _derived(
        self, tree: exp.Expr, inner: exp.Expr, scope: Scope, *, outer: Scope | None
    ) -> str:
        if isinstance(inner, exp.Subquery) and not isinstance(inner.this, exp.Table):
            inner = inner.this
        if isinstance(inner, exp.Values):
            inner = exp.Values(expressions=inner.expressions)
        found = self.query(inner, outer)
        sql = self._place(found, tree, scope)
        sample = tree.args.get("sample")
        return sql + (_sample(sample) if sample is not None else "")

    def _place(
        self, found: Selected, tree: exp.Expr, scope: Scope, alias: str | None = None
    ) -> str:
        given = tree.args.get("alias")
        name = (tree.alias or alias or "").lower() or None
        columns = found.columns
        if given is not None and given.columns:
            from sqlapi.sql.query import renamed

            columns = renamed(columns, [c.name for c in given.columns])
        unique = self.context.name("r")
        made = tuple(
            Column(column.lower(), f"{unique}.c{i}", kind)
            for i, (column, kind) in enumerate(columns)
        )
        scope.relations.append(Relation(name, made))
        return f"({found.sql}) AS {unique}"

    def _table(self, tree: exp.Table, scope: Scope) -> str:
        extra = {k for k, v in tree.args.items() if v not in (None, [], False)} - {
            "this", "db", "catalog", "alias", "version", "joins", "sample",
        }  # fmt: skip
        if extra or not isinstance(tree.this, exp.Identifier):
            raise SqlError("NOT_SUPPORTED", f"Unsupported table: {shown(tree)}")
        name = tree.name.lower()
        if not tree.db and name in self.ctes:
            return self._place(self.ctes[name], tree, scope, alias=name)
        database = (tree.db or self.context.database).lower()
        version = tree.args.get("version")
        as_of = self._moment(version) if version is not None else None
        table = self.context.schema.table(tree.catalog or None, database, name, as_of)
        if table.view is not None:
            return self._view(table.view, table.view_database, tree, scope, name)
        self.context.tables[table.key] = table
        self.context.read.setdefault(table.key, {})
        unique = self.context.name("t")
        made = tuple(
            Column(
                column,
                f"{unique}.{identifier(column)}",
                kind,
                partial(self.context.use, table, column),
                column not in table.columns,
            )
            for column, kind in {**table.hidden, **table.columns}.items()
        )
        given = tree.args.get("alias")
        if given is not None and given.columns:
            made = tuple(column for column in made if not column.hidden)
            if len(given.columns) != len(made):
                raise SqlError("MISMATCHED_COLUMN_ALIASES", f"Column alias list of {name}")
            made = tuple(
                Column(to.name.lower(), c.sql, c.type, c.used)
                for to, c in zip(given.columns, made, strict=True)
            )
        alias = (tree.alias or name).lower()
        scope.relations.append(Relation(alias, made, None if tree.alias else database))
        sample = tree.args.get("sample")
        return f"{identifier(table.key)} AS {unique}" + (
            _sample(sample) if sample is not None else ""
        )

    def _view(self, sql: str, database: str, tree: exp.Table, scope: Scope, name: str) -> str:
        kept, ctes = self.context.database, self.ctes
        self.context.database, self.ctes = database, {}
        try:
            found = self.query(parse_query(sql), None)
        finally:
            self.context.database, self.ctes = kept, ctes
        return self._place(found, tree, scope, alias=name)

    def _moment(self, version: exp.Expr) -> str:
        literal = version.args.get("expression")
        literal = literal.unnest() if isinstance(literal, exp.Paren) else literal
        literal = literal.this if isinstance(literal, exp.Cast) else None
        if str(version.this).upper() != "TIMESTAMP" or not isinstance(literal, exp.Literal):
            raise SqlError("NOT_SUPPORTED", "Only FOR TIMESTAMP AS OF a literal is supported")
        return str(literal.this)

    # joins

    def _join(self, left: str, join: exp.Join, scope: Scope) -> str:
        check_parts(join)
        side, kind = (join.args.get("side") or "").upper(), (join.args.get("kind") or "").upper()
        if join.args.get("method") or kind not in ("", "INNER", "OUTER", "CROSS"):
            raise SqlError("NOT_SUPPORTED", f"Unsupported join: {shown(join)}")
        before = len(scope.relations)
        right = self._relation(join.this, scope, lateral=True)
        using, on = join.args.get("using"), join.args.get("on")
        # in `a JOIN b JOIN c ON … ON …`, the second JOIN belongs to the inner table
        for inner in join.this.args.get("joins") or []:
            raise SqlError("NOT_SUPPORTED", f"Unsupported join: {shown(inner)}")
        if using:
            condition = self._using([u.name.lower() for u in using], scope, before, side)
            return f"{left} {side} JOIN {right} ON {condition}"
        if on is None:
            if side:
                raise SqlError("SYNTAX_ERROR", "A join needs ON or USING")
            return f"{left} CROSS JOIN {right}"
        if isinstance(join.this, exp.Unnest | exp.Lateral) and not (
            isinstance(on, exp.Boolean) and on.this
        ):
            raise SqlError("NOT_SUPPORTED", "JOIN involving UNNEST or LATERAL takes ON TRUE alone")
        compiler = Expressions(self.context, scope, self.query)
        return f"{left} {side} JOIN {right} ON {compiler.condition(on, 'JOIN ON')}"

    def _using(self, names: list[str], scope: Scope, before: int, side: str) -> str:
        conditions = []
        merged = []
        for name in names:
            lefts = [c for c in scope.merged if c.name == name] or [
                c for r in scope.relations[:before] for c in r.columns if c.name == name
            ]
            rights = [c for r in scope.relations[before:] for c in r.columns if c.name == name]
            if len(lefts) != 1 or len(rights) != 1:
                raise SqlError(
                    "COLUMN_NOT_FOUND", f"Column '{name}' is missing from a side of join"
                )
            a, b = lefts[0], rights[0]
            a.used()
            b.used()
            x, y = Code(a.sql, a.type), Code(b.sql, b.type)
            conditions.append(compare("=", x, y).sql)
            kind: Type = common(a.type, b.type) or a.type
            p, q = coerced(x, kind).sql, coerced(y, kind).sql
            sql = {"RIGHT": q, "FULL": f"coalesce({p}, {q})"}.get(side, p)
            merged.append(Column(name, sql, kind))
        scope.merged = [*merged, *(c for c in scope.merged if c.name not in names)]
        for relation in scope.relations:
            for column in relation.columns:
                if column.name in names:
                    scope.hidden.add((relation.alias, column.name))
        return " AND ".join(conditions)

    # UNNEST

    def _unnest(self, tree: exp.Unnest, scope: Scope) -> str:
        compiler = Expressions(self.context, scope, self.query)
        codes = [compiler.code(item) for item in tree.expressions]
        raw: list[str] = []
        columns: list[tuple[str, Type]] = []
        lengths = []
        for code in codes:
            i = len(raw)
            lengths.append(f"coalesce(len({code.sql}), 0)")
            if code.type.name == "map":
                lengths[-1] = f"coalesce(cardinality({code.sql}), 0)"
                for part, kind in zip(("keys", "values"), code.type.args, strict=True):
                    columns.append((f"u.u{len(raw)}", kind))
                    raw.append(f"unnest(map_{part}({code.sql}))")
            elif code.type.name == "array":
                element = code.type.args[0]
                if element.name == "row":
                    columns += [
                        (f"struct_extract(u.u{i}, 'f{j}')", kind)
                        for j, kind in enumerate(element.args)
                    ]
                else:
                    columns.append((f"u.u{i}", element))
                raw.append(f"unnest({code.sql})")
            else:
                raise SqlError("TYPE_MISMATCH", f"Cannot unnest type: {code.type}")
        offset = tree.args.get("offset")
        if offset:
            columns.append((f"u.u{len(raw)}", BIGINT))
            raw.append(
                f"unnest(generate_series(1, CAST(greatest({', '.join(lengths)}, 0) AS BIGINT)))"
            )
        inner = ", ".join(f"{sql} AS u{i}" for i, sql in enumerate(raw))
        shown = ", ".join(f"{sql} AS c{i}" for i, (sql, _) in enumerate(columns))
        alias = tree.args.get("alias")
        names = [c.name.lower() for c in alias.columns] if alias is not None else []
        if isinstance(offset, exp.Identifier) and names:
            names.append(offset.name.lower())
        if names and len(names) != len(columns):
            raise SqlError(
                "MISMATCHED_COLUMN_ALIASES",
                f"Column alias list has {len(names)} entries but UNNEST has {len(columns)} columns",
            )
        unique = self.context.name("n")
        made = tuple(
            Column(names[i] if names else f"_col{i}", f"{unique}.c{i}", kind)
            for i, (_, kind) in enumerate(columns)
        )
        scope.relations.append(Relation(tree.alias.lower() if tree.alias else None, made))
        return f"LATERAL (SELECT {shown} FROM (SELECT {inner}) AS u) AS {unique}"


def _sample(tree: exp.Expr) -> str:
    check_parts(tree)
    method, percent = str(tree.args.get("method") or "").upper(), tree.args.get("percent")
    if method not in ("BERNOULLI", "SYSTEM") or not isinstance(percent, exp.Literal):
        raise SqlError("NOT_SUPPORTED", f"Unsupported sample: {shown(tree)}")
    try:
        share = float(percent.this)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise SqlError("INVALID_ARGUMENTS", "Sample percentage must be between 0 and 100")
    return "" if share == 100 else f" TABLESAMPLE BERNOULLI({share} PERCENT)"
