"""INSERT, UPDATE, DELETE and MERGE, built clause by clause because PostgreSQL's syntax differs."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Literal
from sqlglot import exp

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.tsql.dialect import PgCall, written
from labctl.sqlserver.tsql.functions import call
from labctl.sqlserver.tsql.object_names import identifier
from labctl.sqlserver.tsql.rewrite import Rewriter
from labctl.sqlserver.tsql.statement import Insertion, Output, Statement

__all__ = ["change_sql"]

_NOTHING = SQL("")


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
        self.ctes: Composable | None = self.sql(with_) if with_ is not None else None
        self.outputs: tuple[Output, ...] = ()
        self.into: Composable | None = None

    def sql(self, node: exp.Expression) -> SQL:
        """Rewrite a part of the statement and return it as SQL."""
        parent, key = node.parent, node.arg_key
        rewritten = self.rewriter.rewrite(node)
        if rewritten is not node and parent is not None and key:
            rewritten.parent = parent
        return written(rewritten)

    def finish(self, verb: str, body: Composable, returning: Composable) -> Statement:
        before, after = self._around()
        return Statement(
            before + body + returning + after,
            verb,
            self.rewriter.parameters,
            returns=returning is not _NOTHING and self.into is None,
            outputs=self.outputs,
            reads=True,
        )

    def _around(self) -> tuple[Composable, Composable]:
        """Return the SQL before and after the change: its CTEs, and OUTPUT's INTO."""
        if self.into is None:
            return SQL("{} ").format(self.ctes) if self.ctes is not None else _NOTHING, _NOTHING
        head = SQL("{}, ").format(self.ctes) if self.ctes is not None else SQL("WITH ")
        return head + SQL("changed AS ("), SQL(") INSERT INTO {} SELECT * FROM changed").format(
            self.into
        )

    def returning(self, tree: exp.Expression) -> Composable:
        """Translate the OUTPUT clause to RETURNING with PostgreSQL's `new` and `old` rows."""
        clause = tree.args.get("returning")
        if clause is None:
            return _NOTHING
        into = clause.args.get("into")
        if into:
            target = self.rewriter.place(into)
            self.into = identifier(target)
        self.outputs = tuple(self.rewriter.output(e) for e in clause.expressions)
        for column in clause.find_all(exp.Column):
            row = column.table.lower()
            if row in {"inserted", "deleted"}:
                column.set("table", exp.to_identifier("new" if row == "inserted" else "old"))
            elif column.name.lower() == "$action":
                column.replace(call("merge_action"))
        parts = [self._returned(e) for e in clause.expressions]
        return SQL(" RETURNING {}").format(SQL(", ").join(parts))

    def _returned(self, item: exp.Expression) -> Composable:
        if isinstance(item, PgCall) and item.name == "merge_action":
            return SQL('{} AS "$action"').format(self.sql(item))
        return self.sql(item)

    # ---- INSERT

    def insert(self, tree: exp.Insert) -> Statement:
        target: exp.Expression = tree.this
        columns: Composable = _NOTHING
        if isinstance(target, exp.Schema):
            columns = _columns(target.expressions)
            target = target.this
        if not isinstance(target, exp.Table):
            raise unsupported("this INSERT target")
        place = self.rewriter.place(target)
        returning = self.returning(tree)
        default = tree.args.get("default")
        if tree.expression is None and not default:
            raise SqlError(102, "Incorrect syntax near 'INSERT'.", severity=15)
        source = SQL("DEFAULT VALUES") if default else self.sql(tree.expression)
        head = SQL("INSERT INTO {}{}").format(identifier(place), columns)
        statement = self.finish("INSERT", SQL("{} {}").format(head, source), returning)
        before, after = self._around()
        statement.insertion = Insertion(
            place,
            before + head,
            source + returning + after,
            lists_columns=columns is not _NOTHING or bool(default),
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
            settings.append(self._setting(item))
        body = SQL("UPDATE {} SET {}").format(target, SQL(", ").join(settings))
        if sources:
            body += SQL(" FROM {}").format(SQL(", ").join(sources))
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
        body = SQL("DELETE FROM {}").format(target)
        if sources:
            body += SQL(" USING {}").format(SQL(", ").join(sources))
        body += self._where(tree, conditions, target, bool(sources))
        return self.finish("DELETE", body, self.returning(tree))

    def _setting(self, item: exp.Expression) -> Composable:
        """Translate `column = value` of UPDATE."""
        value = item.args["expression"]
        return SQL("{} = {}").format(
            identifier(item.this.name.lower()),
            SQL("DEFAULT") if _is_default(value) else self.sql(value),
        )

    def _where(
        self, tree: exp.Expression, conditions: list[Composable], target: Composable, joined: bool
    ) -> Composable:
        where = tree.args.get("where")
        if where is not None:
            conditions = [*conditions, SQL("({})").format(self.sql(where.this))]
        clause: Composable = _NOTHING
        if conditions:
            clause = SQL(" WHERE {}").format(SQL(" AND ").join(conditions))
        if self.top is None:
            return clause
        if joined:
            raise unsupported("TOP in an UPDATE or DELETE with a join")
        if not self.top.strip().isdecimal():
            raise unsupported("TOP with an expression in UPDATE or DELETE")
        return SQL(" WHERE ctid = ANY (ARRAY(SELECT ctid FROM {}{} LIMIT {} FOR UPDATE))").format(
            target, clause, Literal(int(self.top))
        )

    def _target(
        self, target: exp.Table, from_: exp.From | None
    ) -> tuple[Composable, list[Composable], list[Composable]]:
        """Return the table to change, the other tables, and the join conditions between them."""
        if target.name.lower() in self.rewriter.ctes and not target.args.get("db"):
            raise unsupported(f"UPDATE or DELETE of the common table expression {target.name}")
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
        conditions: list[Composable] = []
        for join in joins:
            if join.side or join.args.get("kind") not in (None, "", "INNER", "CROSS"):
                raise unsupported(f"{join.side or join.args.get('kind')} JOIN in UPDATE or DELETE")
            if join.args.get("on") is not None:
                conditions.append(SQL("({})").format(self.sql(join.args["on"])))
        changed = chosen[0] if chosen else target
        others: list[Composable] = [self.sql(t) for t in tables if t is not changed]
        return self.sql(changed), others, conditions

    def _same(self, one: exp.Table, other: exp.Table) -> bool:
        return self.rewriter.place(one) == self.rewriter.place(other)

    # ---- MERGE

    def merge(self, tree: exp.Merge) -> Statement:
        target = self.sql(tree.this)
        using, condition = self.sql(tree.args["using"]), self.sql(tree.args["on"])
        clauses = [self._when(w, tree.this.alias_or_name) for w in tree.args["whens"].expressions]
        body = SQL("MERGE INTO {} USING {} ON {} {}").format(
            target, using, condition, SQL(" ").join(clauses)
        )
        return self.finish("MERGE", body, self.returning(tree))

    def _when(self, when: exp.When, target: str) -> Composable:
        text: Composable = SQL("WHEN MATCHED")
        if not when.args.get("matched"):
            by_source = when.args.get("source")
            text = SQL("WHEN NOT MATCHED BY SOURCE" if by_source else "WHEN NOT MATCHED BY TARGET")
        extra = when.args.get("condition")
        if extra is not None:
            text = SQL("{} AND {}").format(text, self.sql(extra))
        then = when.args["then"]
        if isinstance(then, exp.Update):
            for item in then.expressions:
                _qualify_own(item, target)
            pairs = SQL(", ").join([self._setting(e) for e in then.expressions])
            return SQL("{} THEN UPDATE SET {}").format(text, pairs)
        if isinstance(then, exp.Insert):
            if then.expression is None:
                return SQL("{} THEN INSERT DEFAULT VALUES").format(text)
            names = _columns(then.this.expressions) if then.this is not None else _NOTHING
            values = SQL(", ").join([self.sql(v) for v in then.expression.expressions])
            return SQL("{} THEN INSERT{} VALUES ({})").format(text, names, values)
        return SQL("{} THEN DELETE").format(text)


def _columns(columns: list[exp.Expression]) -> Composable:
    """Return a column list in parentheses."""
    names = [identifier(c.name.lower()) for c in columns]
    return SQL(" ({})").format(SQL(", ").join(names))


def _is_default(value: exp.Expression) -> bool:
    """Return whether a value is the word DEFAULT, which sqlglot takes for a column."""
    name = value.this if isinstance(value, exp.Column) and not value.table else None
    return isinstance(name, exp.Identifier) and not name.quoted and name.name.upper() == "DEFAULT"


def _qualify_own(item: exp.Expression, target: str) -> None:
    """Qualify `v` of `SET v += 1` with the target: other tables may have a `v` too."""
    value = item.args.get("expression")
    if isinstance(value, exp.Binary) and isinstance(value.this, exp.Column):
        column = value.this
        if not column.table and column.name.lower() == item.this.name.lower():
            column.set("table", exp.to_identifier(target, quoted=True))
