# ruff: noqa: S608 - SQL is written here on purpose: names are quoted, texts are literals
"""INSERT, UPDATE, DELETE and MERGE: built clause by clause, because PostgreSQL's forms differ."""

from __future__ import annotations

from sqlglot import exp

from labctl.sqlserver.errors import unsupported
from labctl.sqlserver.tsql.dialect import PostgresOut
from labctl.sqlserver.tsql.names import PgName, quoted
from labctl.sqlserver.tsql.rewrite import Rewriter
from labctl.sqlserver.tsql.statement import COLUMNS_MARK, Output, Statement

__all__ = ["change_sql"]


def change_sql(
    tree: exp.Insert | exp.Update | exp.Delete | exp.Merge, rewriter: Rewriter, top: str | None
) -> Statement:
    """Translate a data change; `top` is the row limit of UPDATE or DELETE TOP."""
    builder = _Change(tree, rewriter, top)
    if isinstance(tree, exp.Insert):
        return builder.insert(tree)
    if isinstance(tree, exp.Update):
        return builder.update(tree)
    if isinstance(tree, exp.Delete):
        return builder.delete(tree)
    return builder.merge(tree)


class _Change:
    def __init__(self, tree: exp.Expression, rewriter: Rewriter, top: str | None) -> None:
        self.rewriter = rewriter
        self.top = top
        rewriter.ctes |= {c.alias.lower() for c in tree.find_all(exp.CTE)}
        with_ = tree.args.get("with_")
        self.prefix = self.sql(with_) + " " if with_ is not None else ""
        self.outputs: tuple[Output, ...] = ()
        self.into: str | None = None

    def sql(self, node: exp.Expression) -> str:
        """Rewrite a part of the statement and write it."""
        parent, key = node.parent, node.arg_key
        rewritten = self.rewriter.rewrite(node)
        if rewritten is not node and parent is not None and key:
            rewritten.parent = parent
        return rewritten.sql(dialect=PostgresOut, normalize_functions=False)

    def finish(
        self, verb: str, body: str, returning: str, into_table: PgName | None = None
    ) -> Statement:
        sql = f"{self.prefix}{body}{returning}"
        if self.into is not None:
            tail = f"{self.prefix.strip()}," if self.prefix else "WITH"
            changed = f"changed AS ({body}{returning})"
            sql = f"{tail} {changed} INSERT INTO {self.into} SELECT * FROM changed"
        return Statement(
            sql,
            verb,
            self.rewriter.parameters,
            returns=bool(returning) and self.into is None,
            outputs=self.outputs,
            inserts_into=into_table,
            reads=True,
        )

    def returning(self, tree: exp.Expression) -> str:
        """The OUTPUT clause as RETURNING over PostgreSQL's `new` and `old` rows."""
        clause = tree.args.get("returning")
        if clause is None:
            return ""
        into = clause.args.get("into")
        if into:
            target = self.rewriter.place(into)
            self.into = quoted(target)
        self.outputs = tuple(self.rewriter.output(e) for e in clause.expressions)
        for column in clause.find_all(exp.Column):
            row = column.table.lower()
            if row in {"inserted", "deleted"}:
                column.set("table", exp.to_identifier("new" if row == "inserted" else "old"))
            elif column.name.lower() == "$action":
                column.replace(exp.Anonymous(this="__action"))
        parts = [self._returned(e) for e in clause.expressions]
        return " RETURNING " + ", ".join(parts)

    def _returned(self, item: exp.Expression) -> str:
        if isinstance(item, exp.Anonymous) and item.name == "__action":
            return 'merge_action() AS "$action"'
        if isinstance(item, exp.Alias) and item.this.name == "__action":
            return f"merge_action() AS {quoted(item.alias.lower())}"
        return self.sql(item)

    # ---- INSERT

    def insert(self, tree: exp.Insert) -> Statement:
        target, columns = tree.this, ""
        if isinstance(target, exp.Schema):
            names = [quoted(c.name.lower()) for c in target.expressions]
            columns = f" ({', '.join(names)})"
            target = target.this
        if not isinstance(target, exp.Table):
            raise unsupported("this INSERT target")
        place = self.rewriter.place(target)
        returning = self.returning(tree)
        default = tree.args.get("default")
        source = "DEFAULT VALUES" if default else self.sql(tree.expression)
        bare = not columns and not default
        head = f"INSERT INTO {quoted(place)}{columns or (COLUMNS_MARK if bare else '')}"
        statement = self.finish("INSERT", f"{head} {source}", returning, place)
        statement.without_columns = bare
        statement.explicit_identity = (
            f"{self.prefix}{head} OVERRIDING SYSTEM VALUE {source}{returning}"
        )
        return statement

    # ---- UPDATE and DELETE

    def update(self, tree: exp.Update) -> Statement:
        target, sources, conditions = self._target(tree.this, tree.args.get("from_"))
        settings = []
        for item in tree.expressions:
            if not isinstance(item, exp.EQ) or not isinstance(item.this, exp.Column):
                raise unsupported("SET of a variable in UPDATE")
            _qualify_own(item, tree.this.alias_or_name)
            settings.append(f"{quoted(item.this.name.lower())} = {self.sql(item.expression)}")
        body = f"UPDATE {target} SET {', '.join(settings)}"
        if sources:
            body += " FROM " + ", ".join(sources)
        body += self._where(tree, conditions, target, bool(sources))
        return self.finish("UPDATE", body, self.returning(tree))

    def delete(self, tree: exp.Delete) -> Statement:
        tables = tree.args.get("tables") or []
        source = tree.this or None
        if tables and source is not None:
            from_ = exp.From(this=source)
            target, sources, conditions = self._target(tables[0], from_)
        else:
            only = tables[0] if tables else source
            if not isinstance(only, exp.Table):
                raise unsupported("this DELETE target")
            target, sources, conditions = self._target(only, None)
        body = f"DELETE FROM {target}"
        if sources:
            body += " USING " + ", ".join(sources)
        body += self._where(tree, conditions, target, bool(sources))
        return self.finish("DELETE", body, self.returning(tree))

    def _where(self, tree: exp.Expression, conditions: list[str], target: str, joined: bool) -> str:
        where = tree.args.get("where")
        if where is not None:
            conditions = [*conditions, f"({self.sql(where.this)})"]
        text = " AND ".join(conditions)
        if self.top is None:
            return f" WHERE {text}" if text else ""
        if joined:
            raise unsupported("TOP in an UPDATE or DELETE with a join")
        if not self.top.strip().isdigit():
            raise unsupported("TOP with an expression in UPDATE or DELETE")
        inner = f"SELECT ctid FROM {target}" + (f" WHERE {text}" if text else "")
        return f" WHERE ctid = ANY (ARRAY({inner} LIMIT {self.top.strip()} FOR UPDATE))"

    def _target(
        self, target: exp.Table, from_: exp.From | None
    ) -> tuple[str, list[str], list[str]]:
        """The table to change, the other tables, and the join conditions between them."""
        if from_ is None:
            return self.sql(target), [], []
        first = from_.this
        joins: list[exp.Join] = list(first.args.get("joins") or [])
        outer = from_.parent
        if outer is not None:
            joins += outer.args.get("joins") or []
        first.set("joins", None)
        tables: list[exp.Expression] = [first, *(j.this for j in joins)]
        name = target.name.lower()
        plain = [t for t in tables if isinstance(t, exp.Table)]
        chosen = [
            t for t in plain if t.alias.lower() == name or (not t.alias and self._same(t, target))
        ]
        if not chosen:
            named = [t for t in plain if self._same(t, target)]
            if len(named) > 1:
                raise unsupported("an ambiguous target of UPDATE … FROM")
            chosen = named
        conditions = []
        for join in joins:
            if join.side or join.args.get("kind") not in (None, "", "INNER", "CROSS"):
                raise unsupported(f"{join.side or join.args.get('kind')} JOIN in UPDATE or DELETE")
            if join.args.get("on") is not None:
                conditions.append(f"({self.sql(join.args['on'])})")
        changed = chosen[0] if chosen else target
        others = [self.sql(t) for t in tables if t is not changed]
        return self.sql(changed), others, conditions

    def _same(self, one: exp.Table, other: exp.Table) -> bool:
        return self.rewriter.place(one) == self.rewriter.place(other)

    # ---- MERGE

    def merge(self, tree: exp.Merge) -> Statement:
        target = self.sql(tree.this)
        using, condition = self.sql(tree.args["using"]), self.sql(tree.args["on"])
        clauses = [self._when(w, tree.this.alias_or_name) for w in tree.args["whens"].expressions]
        body = f"MERGE INTO {target} USING {using} ON {condition} " + " ".join(clauses)
        return self.finish("MERGE", body, self.returning(tree))

    def _when(self, when: exp.When, target: str) -> str:
        matched = "MATCHED" if when.args.get("matched") else "NOT MATCHED"
        if not when.args.get("matched"):
            matched += " BY SOURCE" if when.args.get("source") else " BY TARGET"
        extra = when.args.get("condition")
        text = f"WHEN {matched}" + (f" AND {self.sql(extra)}" if extra is not None else "")
        then = when.args["then"]
        if isinstance(then, exp.Update):
            for item in then.expressions:
                _qualify_own(item, target)
            pairs = [
                f"{quoted(e.this.name.lower())} = {self.sql(e.expression)}"
                for e in then.expressions
            ]
            return f"{text} THEN UPDATE SET {', '.join(pairs)}"
        if isinstance(then, exp.Insert):
            if then.expression is None:
                return f"{text} THEN INSERT DEFAULT VALUES"
            names = ""
            if then.this is not None:
                names = f" ({', '.join(quoted(c.name.lower()) for c in then.this.expressions)})"
            values = ", ".join(self.sql(v) for v in then.expression.expressions)
            return f"{text} THEN INSERT{names} VALUES ({values})"
        return f"{text} THEN DELETE"


def _qualify_own(item: exp.Expression, target: str) -> None:
    """`SET v += 1` means the target's `v`, whatever the other tables have."""
    value = item.args.get("expression")
    if isinstance(value, exp.Binary) and isinstance(value.this, exp.Column):
        column = value.this
        if not column.table and column.name.lower() == item.this.name.lower():
            column.set("table", exp.to_identifier(target, quoted=True))
