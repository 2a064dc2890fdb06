"""Rewriter of a statement's tree for PostgreSQL, children before parents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.tsql.casts import (
    attempted,
    cast_to,
    converted,
    pg_type,
    refuse_unknown_collation,
    sql_type,
)
from labctl.sqlserver.tsql.dialect import PgCall, PgParameter, PgType
from labctl.sqlserver.tsql.functions import NILADIC, call, function, text_of
from labctl.sqlserver.tsql.globals import GLOBALS
from labctl.sqlserver.tsql.lengths import add_limits
from labctl.sqlserver.tsql.object_names import PgName, locate, quoted, split_name
from labctl.sqlserver.tsql.openjson import open_json
from labctl.sqlserver.tsql.statement import Output

__all__ = ["Rewriter"]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_LOCKING_HINTS = {"TABLOCK", "TABLOCKX"}
_UNORDERED_NULLS = {"__$start_lsn", "__$seqval", "__$operation", "__$command_id", "start_lsn"}
"""Columns without NULLs, so that ORDER BY may use their index."""
_REFUSED = {
    exp.Pivot: "PIVOT", exp.AtTimeZone: "AT TIME ZONE", exp.NextValueFor: "NEXT VALUE FOR",
    exp.Concat: "adjacent strings", exp.TableSample: "TABLESAMPLE",
    exp.JSONExtract: "JSON", exp.JSONExtractScalar: "JSON", exp.XMLTable: "XML",
    exp.Placeholder: "a placeholder", exp.Lambda: "a lambda", exp.Bracket: "an index",
}  # fmt: skip
_CDC_FUNCTION = re.compile(r"fn_cdc_[a-z_]+")
_TABLE_FUNCTIONS = {
    "string_split": "mssql.string_split",
    "generate_series": "mssql.generate_series",
}


class Rewriter:
    """Rewriter of a tree, which also collects the parameters and table locks it needs."""

    def __init__(self, database: str, types: Mapping[str, SqlType]) -> None:
        self.database = database
        self.types = types
        self.locks: list[PgName] = []
        self.ctes: set[str] = set()
        self._parameters: list[str] = []
        self._handlers: dict[type[exp.Expression], Callable[[Any], exp.Expression]] = {
            exp.Identifier: self._identifier, exp.Table: self._table, exp.Column: self._column,
            exp.Parameter: self._parameter, exp.Anonymous: self._function, exp.Dot: self._dot,
            exp.Cast: self._cast, exp.TryCast: self._try_cast, exp.Convert: self._convert,
            exp.HexString: self._hex, exp.National: self._national, exp.Like: self._like,
            exp.Escape: self._escape, exp.Select: self._select, exp.Ordered: self._ordered,
            exp.CurrentTimestamp: self._now, exp.Collate: self._collate,
            exp.Timestamp: self._odbc_timestamp,
            exp.Lateral: self._lateral, exp.CurrentUser: self._user,
            exp.SessionUser: self._user, exp.Case: self._case, exp.Union: self._set_operation,
            exp.GroupConcat: self._string_agg,
            exp.Except: self._set_operation, exp.Intersect: self._set_operation,
        }  # fmt: skip

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self._parameters)

    def rewrite(self, node: exp.Expression) -> exp.Expression:
        """Rewrite a whole tree."""
        self.ctes |= {c.alias.lower() for c in node.find_all(exp.CTE)}
        self._check(node)
        add_limits(node, self.types)
        return self._rewrite(node)

    def _check(self, root: exp.Expression) -> None:
        for node in root.walk():
            for refused, name in _REFUSED.items():
                if isinstance(node, refused):
                    raise unsupported(name)
            if isinstance(node, exp.Select) and node.args.get("for_"):
                raise unsupported("FOR XML and FOR JSON")
            if isinstance(node, exp.Table) and node.args.get("version"):
                raise unsupported("FOR SYSTEM_TIME")

    def _rewrite(self, node: exp.Expression) -> exp.Expression:
        for child in list(node.iter_expressions()):
            changed = self._rewrite(child)
            if changed is not child:
                child.replace(changed)
        handler = self._handlers.get(type(node))
        return handler(node) if handler is not None else node

    # ---- result columns, read before the tree is rewritten

    def output(self, item: exp.Expression) -> Output:
        """Return the result column of a select item."""
        if isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        ):
            return Output(None, star=True)
        if isinstance(item, exp.Alias):
            return Output(item.alias, self._known_type(item.this))
        if isinstance(item, exp.Column):
            return Output(item.name)
        return Output("", self._known_type(item))

    def _known_type(self, node: exp.Expression) -> SqlType | None:
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.National):
            return SqlType("nvarchar", length=max(1, min(len(node.name), 4000)))
        if isinstance(node, exp.Literal) and node.is_string:
            return SqlType("varchar", length=max(1, min(len(node.name.encode()), 8000)))
        if isinstance(node, exp.Parameter):
            return self._type_of(_variable_name(node))
        if isinstance(node, exp.Anonymous) and not node.expressions:
            alias = NILADIC.get(str(node.name).lower())
            return self._type_of(alias) if alias else None
        return None

    # ---- names

    def _identifier(self, node: exp.Identifier) -> exp.Expression:
        name = str(node.this).lower()
        if node.args.get("temporary"):
            name = "#" + name.lstrip("#")
        elif node.args.get("global_"):
            name = "##" + name.lstrip("#")
        return exp.to_identifier(name, quoted=True)

    def place(self, table: exp.Expression) -> PgName:
        """Return a table's PostgreSQL name; call it before the names are rewritten."""
        if isinstance(table, exp.Parameter):
            return None, _variable_name(table)
        if isinstance(table, exp.Identifier):
            return locate([self._identifier(table).name], self.database)
        if not isinstance(table, exp.Table):
            raise unsupported(f"{type(table).__name__} in the place of a table")
        if isinstance(table.this, exp.Parameter):
            return None, _variable_name(table.this)
        parts = [table.args.get("catalog"), table.args.get("db"), table.this]
        names: list[str] = []
        for part in parts:
            if part is None:
                if names:
                    names.append("")
                continue
            names.append(
                self._identifier(part).name if isinstance(part, exp.Identifier) else part.name
            )
        return locate(names, self.database)

    def _table(self, node: exp.Table) -> exp.Expression:
        hints = {
            str(h.name).upper() for group in node.args.get("hints") or [] for h in group.expressions
        }
        node.set("hints", None)
        if isinstance(node.this, exp.Anonymous):
            return self._table_function(node)
        if isinstance(node.this, exp.OpenJSON):
            return open_json(node.this, node.args.get("alias"))
        if not isinstance(node.this, exp.Identifier | exp.Var):
            return node
        simple = not node.args.get("db") and not node.args.get("catalog")
        if simple and node.name in self.ctes:
            return node
        schema, name = locate(
            [n.name if n else "" for n in (node.args.get("catalog"), node.args.get("db"))]
            + [node.name]
            if not simple
            else [node.name],
            self.database,
        )
        if hints & _LOCKING_HINTS:
            self.locks.append((schema, name))
        node.set("this", exp.to_identifier(name, quoted=True))
        node.set("catalog", None)
        node.set("db", exp.to_identifier(schema or "pg_temp", quoted=True))
        return node

    def _table_function(self, node: exp.Table) -> exp.Expression:
        inner = node.this
        name = str(inner.name).lower()
        schema = node.text("db").lower()
        if schema == "cdc":
            database = node.text("catalog").lower() or self.database.lower()
            node.set("this", call((f"{database}.cdc", name), *inner.expressions))
        elif name in _TABLE_FUNCTIONS and not schema:
            node.set("this", call(_TABLE_FUNCTIONS[name], *inner.expressions))
        elif not isinstance(inner, PgCall):
            raise SqlError(208, f"Invalid object name '{inner.name}'.")
        node.set("db", None)
        node.set("catalog", None)
        return node

    def _lateral(self, node: exp.Lateral) -> exp.Expression:
        if isinstance(node.this, exp.Anonymous):
            name = str(node.this.name).lower()
            if name not in _TABLE_FUNCTIONS:
                raise SqlError(208, f"Invalid object name '{name}'.")
            node.set("this", call(_TABLE_FUNCTIONS[name], *node.this.expressions))
        return node

    def _column(self, node: exp.Column) -> exp.Expression:
        schema = node.args.get("db")
        if schema is not None:
            database = node.text("catalog") or self.database.lower()
            node.set("db", exp.to_identifier(f"{database}.{schema.name}", quoted=True))
            node.set("catalog", None)
        return node

    # ---- values

    def _type_of(self, name: str) -> SqlType:
        kind = self.types.get(name) or GLOBALS.get(name)
        if kind is None:
            if name.startswith("@@"):
                raise unsupported(f"the global variable {name.upper()}")
            raise SqlError(137, f'Must declare the scalar variable "{name}".', severity=15)
        return kind

    def variable(self, name: str, *, bare: bool = False) -> exp.Expression:
        """Return a reference to a variable: `$n`, with its type unless `bare`."""
        kind = self._type_of(name)
        self._parameters.append(name)
        place = PgParameter(this=str(len(self._parameters)))
        return place if bare else exp.Cast(this=place, to=pg_type(kind.pg_unsized))

    def _parameter(self, node: exp.Parameter) -> exp.Expression:
        if isinstance(node.parent, exp.Parameter):
            return node
        if isinstance(node.parent, exp.Table):
            return exp.to_identifier(_variable_name(node), quoted=True)
        name = _variable_name(node)
        return self.variable(name, bare=self._type_of(name).is_character and _compared(node))

    def _function(self, node: exp.Anonymous) -> exp.Expression:
        if isinstance(node.parent, exp.Dot | exp.Table | exp.Lateral):
            return node
        name = node.this.name if isinstance(node.this, exp.Expression) else str(node.this)
        if name.lower() == "ident_current":
            return self._ident_current(node)
        return function(name, node.expressions, self.variable)

    def _ident_current(self, node: exp.Anonymous) -> exp.Expression:
        argument = node.expressions[0] if node.expressions else None
        if not isinstance(argument, exp.Literal):
            raise unsupported("IDENT_CURRENT of an expression")
        place = locate(split_name(argument.name), self.database)
        return call("mssql.ident_current", exp.Literal.string(quoted(place)))

    def _dot(self, node: exp.Dot) -> exp.Expression:
        if isinstance(node.parent, exp.Dot):
            return node
        parts = [part.name for part in node.flatten() if not isinstance(part, exp.Anonymous)]
        inner = node.expression
        if not isinstance(inner, exp.Anonymous):
            raise unsupported("a method call")
        name = str(inner.name).lower()
        database = parts[0] if len(parts) == 2 else self.database.lower()
        if parts[-1:] == ["sys"] and _CDC_FUNCTION.fullmatch(name):
            return call(f"mssql.{name}", exp.Literal.string(database), *inner.expressions)
        raise SqlError(
            4121,
            f'Cannot find either column "{parts[-1]}" or the user-defined function or aggregate '
            f'"{".".join(parts)}.{inner.name}", or the name is ambiguous.',
        )

    def _cast(self, node: exp.Cast) -> exp.Expression:
        if isinstance(node.to, PgType):
            return node
        return cast_to(node.this, sql_type(node.to))

    def _try_cast(self, node: exp.TryCast) -> exp.Expression:
        return attempted(node.this, sql_type(node.to))

    def _convert(self, node: exp.Convert) -> exp.Expression:
        kind, value = sql_type(node.this), node.expression
        if node.args.get("safe"):
            return attempted(value, kind)
        return converted(value, kind, node.args.get("style"))

    def _hex(self, node: exp.HexString) -> exp.Expression:
        digits = node.name if len(node.name) % 2 == 0 else "0" + node.name
        return exp.Cast(this=exp.Literal.string("\\x" + digits), to=pg_type("mssql.varbinary"))

    def _national(self, node: exp.National) -> exp.Expression:
        text = exp.Literal.string(node.name)
        parent = node.parent
        if isinstance(parent, exp.Anonymous) and parent.name.lower() == "datalength":
            return exp.Cast(this=text, to=pg_type("mssql.nvarchar"))
        return text

    def _now(self, node: exp.CurrentTimestamp) -> exp.Expression:
        return call("mssql.getdate")

    def _user(self, node: exp.Expression) -> exp.Expression:
        return self.variable("@@user_name")

    def _odbc_timestamp(self, node: exp.Timestamp) -> exp.Expression:
        return exp.Cast(this=node.this, to=pg_type("mssql.datetime"))

    def _collate(self, node: exp.Collate) -> exp.Expression:
        refuse_unknown_collation(node.expression.name)
        inner: exp.Expression = node.this
        return inner

    def _like(self, node: exp.Like) -> exp.Expression:
        return node if isinstance(node.parent, exp.Escape) else _pattern(node, None)

    def _escape(self, node: exp.Escape) -> exp.Expression:
        return _pattern(node.this, node.expression)

    def _case(self, node: exp.Case) -> exp.Expression:
        """Convert '' to 0 in `CASE number WHEN 0 … WHEN '' …`, where text meets numbers."""
        tests = [branch.this for branch in node.args["ifs"]] if node.this is not None else []
        if any(isinstance(t, exp.Literal) and not t.is_string for t in tests):
            for test in tests:
                if isinstance(test, exp.Literal) and test.is_string and not test.name.strip():
                    test.replace(exp.Literal.number(0))
        return node

    # ---- clauses

    def _select(self, node: exp.Select) -> exp.Expression:
        node.set("options", None)
        limit = node.args.get("limit")
        if isinstance(limit, exp.Fetch):
            node.set("limit", exp.Limit(expression=limit.args.get("count")))
        if node.find(exp.Rollup, exp.Cube, bfs=False) and _with_rollup(node):
            raise unsupported("WITH ROLLUP and WITH CUBE")
        if isinstance(limit, exp.Limit):
            options = limit.args.get("limit_options")
            if options is not None and options.args.get("percent"):
                raise unsupported("TOP … PERCENT")
            if options is not None and options.args.get("with_ties"):
                node.set("limit", exp.Fetch(
                    direction="FIRST", count=exp.Paren(this=limit.expression),
                    limit_options=options,
                ))  # fmt: skip
                options.set("rows", True)
        order = node.args.get("order")
        if order is not None and all(isinstance(o.this, exp.Subquery) for o in order.expressions):
            node.set("order", None)
        return node

    def _string_agg(self, node: exp.GroupConcat) -> exp.Expression:
        holder = node.this if isinstance(node.this, exp.Order) else node
        holder.set("this", text_of(holder.this))
        return node

    def _set_operation(self, node: exp.SetOperation) -> exp.Expression:
        """Remove table names from ORDER BY of a UNION, where PostgreSQL requires bare columns."""
        order = node.args.get("order")
        for column in order.find_all(exp.Column) if order is not None else ():
            column.set("table", None)
        return node

    def _ordered(self, node: exp.Ordered) -> exp.Expression:
        if node.this.name in _UNORDERED_NULLS and isinstance(node.this, exp.Column):
            node.set("nulls_first", bool(node.args.get("desc")))
        return node


def _with_rollup(select: exp.Select) -> bool:
    group = select.args.get("group")
    found = (group.args.get("rollup") or []) + (group.args.get("cube") or []) if group else []
    return any(not item.expressions for item in found)


def _variable_name(node: exp.Expression) -> str:
    inner = node.this
    if isinstance(inner, exp.Parameter):
        return "@@" + inner.name.lower()
    return "@" + node.name.lower()


def _compared(node: exp.Expression) -> bool:
    """Return whether a variable is compared with a typed expression or is in VALUES."""
    parent = node.parent
    if not isinstance(parent, _COMPARISONS):
        return isinstance(parent, exp.Tuple) and isinstance(parent.parent, exp.Values)
    others = [c for c in parent.iter_expressions() if c is not node]
    return any(o.find(exp.Column, exp.Anonymous, exp.Case) for o in others)


def _pattern(node: exp.Expression, escape: exp.Expression | None) -> exp.Expression:
    pattern = node.expression
    plain = isinstance(pattern, exp.Literal) and "[" not in pattern.name and escape is None
    if plain:
        result: exp.Expression = exp.Escape(
            this=exp.Like(this=node.this, expression=pattern), expression=exp.Literal.string("")
        )
    else:
        result = call('mssql."like"', node.this, pattern, *([escape] if escape is not None else []))
    return exp.Not(this=exp.Paren(this=result)) if node.args.get("negate") else result
