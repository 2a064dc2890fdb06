"""ALTER TABLE."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Literal

from labctl.sqlserver.client_errors import unsupported
from labctl.sqlserver.tsql.casts import refuse_unknown_collation
from labctl.sqlserver.tsql.create_table import TABLE_CONSTRAINTS, TableParser
from labctl.sqlserver.tsql.object_names import identifier, locate, quoted, split_name

__all__ = ["AlterParser"]


class AlterParser(TableParser):
    """Parser of ALTER TABLE, from the table's name on."""

    def alter(self) -> list[Composable]:
        text = self.cursor.dotted()
        self.place = locate(split_name(text), self.database)
        check = True
        if self.cursor.skip("WITH", "NOCHECK"):
            check = False
        else:
            self.cursor.skip("WITH", "CHECK")
        if self.cursor.skip("ADD"):
            actions = self._add(check=check)
        elif self.cursor.skip("DROP"):
            actions = self._drop()
        elif self.cursor.skip("ALTER", "COLUMN"):
            actions = self._alter_column()
        elif self.cursor.key() in {"CHECK", "NOCHECK"} and self.cursor.key(1) == "CONSTRAINT":
            if self.cursor.key() == "NOCHECK":
                raise unsupported("NOCHECK CONSTRAINT")
            return []
        else:
            raise unsupported(f"ALTER TABLE … {self.cursor.key()}")
        self.cursor.finish()
        if self.place[0] is None:
            return [*actions, *self.after]
        source = Literal(quoted(self.place))
        return [
            SQL("SELECT mssql.detach_views({}::regclass)").format(source),
            SQL("SELECT mssql.cdc_before_alter({}::regclass)").format(source),
            *actions,
            *self.after,
            SQL("SELECT mssql.cdc_after_alter({}::regclass, {})").format(
                source, Literal(self.cursor.text)
            ),
            self.attach_views(),
        ]

    def _altered(self, action: Composable) -> Composable:
        return SQL("ALTER TABLE {} {}").format(self.target(), action)

    def _add(self, *, check: bool) -> list[Composable]:
        actions: list[Composable] = []
        while True:
            if self.cursor.key() == "CONSTRAINT" and self.cursor.key(2) == "DEFAULT":
                name = self.named()
                self.cursor.expect("DEFAULT")
                actions.append(self._default_for(name))
            elif self.cursor.skip("DEFAULT"):
                actions.append(self._default_for(None))
            elif self.cursor.key() in TABLE_CONSTRAINTS:
                ahead = 2 if self.cursor.key() == "CONSTRAINT" else 0
                unchecked = not check and self.cursor.key(ahead) in {"FOREIGN", "CHECK"}
                add = SQL("ADD {} NOT VALID" if unchecked else "ADD {}")
                actions.append(add.format(self.constraint()))
            else:
                actions.append(SQL("ADD COLUMN {}").format(self.column()))
                self.cursor.skip("WITH", "VALUES")
            if not self.cursor.skip(","):
                return [self._altered(action) for action in actions]

    def _default_for(self, name: str | None) -> Composable:
        text = self.cursor.until({"FOR"})
        self.cursor.expect("FOR")
        column = self.cursor.name().lower()
        self.name_default(column, name, text)
        change = SQL("ALTER COLUMN {} SET DEFAULT {}")
        return change.format(identifier(column), self.scalar(text))

    def _drop(self) -> list[Composable]:
        statements: list[Composable] = []
        drops = {
            "CONSTRAINT": SQL("SELECT mssql.drop_constraint({}::regclass, {}, {})"),
            "COLUMN": SQL("SELECT mssql.drop_column({}::regclass, {}, {})"),
        }
        kind = "CONSTRAINT"
        while True:
            if self.cursor.key() in drops:
                kind = self.cursor.take().key
            optional = self.cursor.skip("IF", "EXISTS")
            values = (self._regclass(), self.cursor.name(), optional)
            statements.append(drops[kind].format(*(Literal(value) for value in values)))
            if not self.cursor.skip(","):
                return statements

    def _regclass(self) -> str:
        """Return the table's name in the form that `regclass` reads."""
        return quoted(self.place[1] if self.place[0] is None else self.place)

    def _alter_column(self) -> list[Composable]:
        column = identifier(self.cursor.name().lower())
        if self.cursor.key() in {"ADD", "DROP"}:
            raise unsupported(f"ALTER COLUMN {self.cursor.key()}")
        kind = self.type()
        if self.cursor.skip("COLLATE"):
            refuse_unknown_collation(self.cursor.name())
        change = SQL("ALTER COLUMN {} TYPE {} USING {}::{}")
        actions: list[Composable] = [change.format(column, kind.sql, column, kind.sql)]
        if self.cursor.skip("NOT", "NULL"):
            actions.append(SQL("ALTER COLUMN {} SET NOT NULL").format(column))
        else:
            self.cursor.skip("NULL")
            actions.append(SQL("ALTER COLUMN {} DROP NOT NULL").format(column))
        return [self._altered(action) for action in actions]
