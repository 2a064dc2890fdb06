"""CREATE TABLE: columns and constraints."""

from __future__ import annotations

import hashlib
import re

from psycopg.sql import SQL, Composable, Identifier, Literal

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.sqltypes import SqlType, parse_type
from labctl.sqlserver.tsql import translate
from labctl.sqlserver.tsql.casts import refuse_unknown_collation
from labctl.sqlserver.tsql.cursor import Cursor
from labctl.sqlserver.tsql.object_names import (
    PgName,
    identifier,
    locate,
    quoted,
    split_name,
    whole_name,
)

__all__ = ["TABLE_CONSTRAINTS", "TableParser"]

_AFTER_EXPRESSION = {
    "NOT", "NULL", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "FOREIGN", "DEFAULT",
    "IDENTITY", "COLLATE", "WITH", "FOR", "ON",
}  # fmt: skip
TABLE_CONSTRAINTS = {"CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "INDEX"}


_NOTHING = SQL("")
_WHOLE_NUMBER = re.compile(r"\s*([-+]?)\s*(\d{1,19})\s*", re.ASCII)
_ACTIONS = {
    ("NO", "ACTION"): SQL("NO ACTION"), ("SET", "NULL"): SQL("SET NULL"),
    ("SET", "DEFAULT"): SQL("SET DEFAULT"), ("CASCADE",): SQL("CASCADE"),
}  # fmt: skip
_EVENTS = {"DELETE": SQL("DELETE"), "UPDATE": SQL("UPDATE")}


class TableParser:
    """Parser of table definitions; `after` collects the SQL that follows the main statement."""

    def __init__(self, cursor: Cursor, database: str) -> None:
        self.cursor = cursor
        self.database = database
        self.place: PgName = (None, "")
        self.after: list[Composable] = []

    # ---- expressions

    def scalar(self, text: str) -> Composable:
        """Translate the expression of a DEFAULT or a computed column."""
        return translate.fixed_expression(text, self.database)

    def boolean(self, text: str) -> Composable:
        """Translate the condition of a CHECK or a filtered index."""
        return translate.fixed_condition(text, self.database)

    # ---- CREATE TABLE

    def create(self) -> list[Composable]:
        text = self.cursor.dotted()
        parts = split_name(text)
        self.place = locate(parts, self.database)
        if self.cursor.key() == "AS":
            raise unsupported("CREATE TABLE AS")
        body = self.columns(self.cursor.parenthesized())
        self.storage_options()
        self.cursor.finish()
        create = SQL(
            "CREATE TEMP TABLE {} ({})" if self.place[0] is None else "CREATE TABLE {} ({})"
        )
        target = self.target()
        if parts[-1] != parts[-1].lower():
            comment = SQL("COMMENT ON TABLE {} IS {}").format(target, Literal(parts[-1]))
            self.after.insert(0, comment)
        created = [create.format(target, body), *self.after]
        if self.place[0] is not None:
            created.append(self.attach_views())
        return created

    def columns(self, text: str) -> Composable:
        """Translate column and constraint definitions to PostgreSQL's."""
        inner = TableParser(Cursor(text), self.database)
        inner.place, inner.after = self.place, self.after
        items = []
        while inner.cursor.at < len(inner.cursor.tokens):
            if inner.cursor.key() in TABLE_CONSTRAINTS:
                items.append(inner.constraint())
            else:
                items.append(inner.column())
            if not inner.cursor.skip(","):
                break
        inner.cursor.finish()
        return SQL(", ").join(items)

    def target(self) -> Identifier:
        return identifier(self.place[1] if self.place[0] is None else self.place)

    def column(self) -> Composable:
        name = self.cursor.name()
        low = identifier(whole_name(name.lower()))
        if name != name.lower():
            comment = SQL("COMMENT ON COLUMN {}.{} IS {}")
            self.after.append(comment.format(self.target(), low, Literal(name)))
        if self.cursor.skip("AS"):
            raise unsupported(f"a computed column ({name})")
        kind = self.type()
        sql = SQL("{} {}").format(low, kind.sql)
        nullable: bool | None = None
        primary = False
        while (key := self.cursor.key()) and key not in {",", ")"}:
            if key == "WITH" and self.cursor.key(1) == "VALUES":
                break
            if self.cursor.skip("NOT", "NULL"):
                nullable = False
            elif self.cursor.skip("NULL"):
                nullable = True
            elif self.cursor.skip("IDENTITY"):
                sql += self._identity(kind)
                nullable = False
            elif self.cursor.skip("COLLATE"):
                refuse_unknown_collation(self.cursor.name())
            elif self.cursor.skip("ROWGUIDCOL") or self.cursor.skip("SPARSE"):
                continue
            else:
                piece, is_key = self._column_constraint(name)
                sql += piece
                primary = primary or is_key
        if nullable is False and not primary:
            sql += SQL(" NOT NULL")
        return sql

    def type(self) -> SqlType:
        """Parse the data type that comes next."""
        start = self.cursor.at
        self.cursor.take()
        while self.cursor.skip("."):
            self.cursor.take()
        while self.cursor.key() in {"VARYING", "PRECISION", "CHARACTER", "CHAR"}:
            self.cursor.take()
        if self.cursor.key() == "(":
            self.cursor.parenthesized()
        return parse_type(self.cursor.slice(start, self.cursor.at))

    def _identity(self, kind: SqlType) -> Composable:
        if kind.name not in {"tinyint", "smallint", "int", "bigint", "decimal", "numeric"}:
            raise SqlError(
                2749,
                "Identity column must be of data type int, bigint, smallint, tinyint, or decimal "
                "or numeric with a scale of 0.",
            )
        if kind.name not in {"smallint", "int", "bigint"}:
            raise unsupported(f"IDENTITY on {kind.declared()}")
        seed = step = 1
        if self.cursor.key() == "(":
            seed, step = self._seed_and_step()
        self.cursor.skip("NOT", "FOR", "REPLICATION")
        if step < 0:
            lowest = {"smallint": -(2**15), "int": -(2**31), "bigint": -(2**63)}[kind.name]
            limit = SQL("MINVALUE {} MAXVALUE {}").format(Literal(lowest), Literal(seed))
        else:
            limit = SQL("MINVALUE {}").format(Literal(seed))
        return SQL(" GENERATED ALWAYS AS IDENTITY (START WITH {} INCREMENT BY {} {})").format(
            Literal(seed), Literal(step), limit
        )

    def _seed_and_step(self) -> tuple[int, int]:
        """Parse `(seed, step)` of IDENTITY: two whole numbers, the second not 0."""
        matches = [_WHOLE_NUMBER.fullmatch(p) for p in self.cursor.parenthesized().split(",")]
        numbers = [int(m[1] + m[2]) for m in matches if m is not None]
        if len(matches) != 2 or len(numbers) != 2 or numbers[1] == 0:
            raise SqlError(102, "Incorrect syntax near 'IDENTITY'.", severity=15)
        return numbers[0], numbers[1]

    def named(self) -> str | None:
        return self.cursor.name() if self.cursor.skip("CONSTRAINT") else None

    def _label(self, name: str | None, kind: str, columns: str) -> str:
        """Return a constraint's name; generate one in SQL Server's style if it has none."""
        if name is None:
            name = _system_name(kind, self.place, columns)
        if name != name.lower() and self.place[0] is not None:
            comment = SQL("COMMENT ON CONSTRAINT {} ON {} IS {}")
            low = identifier(name.lower())
            self.after.append(comment.format(low, self.target(), Literal(name)))
            if kind in {"PK", "UQ"}:
                index = identifier((self.place[0], name.lower()))
                self.after.append(SQL("COMMENT ON INDEX {} IS {}").format(index, Literal(name)))
        return name.lower()

    def _column_constraint(self, column: str) -> tuple[Composable, bool]:
        """Translate a constraint of a column; return whether it is the primary key."""
        name, cursor = self.named(), self.cursor
        if cursor.skip("DEFAULT"):
            return SQL(" DEFAULT {}").format(self._default(column.lower(), name)), False
        if cursor.skip("PRIMARY", "KEY"):
            self._clustering()
            label = self._label(name, "PK", column)
            self.storage_options()
            return SQL(" CONSTRAINT {} PRIMARY KEY").format(identifier(label)), True
        if cursor.skip("UNIQUE"):
            self._clustering()
            label = self._label(name, "UQ", column)
            self.storage_options()
            unique = SQL(" CONSTRAINT {} UNIQUE NULLS NOT DISTINCT")
            return unique.format(identifier(label)), False
        if cursor.skip("CHECK"):
            return SQL(" {}").format(self._check(name, column)), False
        cursor.skip("FOREIGN", "KEY")
        if cursor.skip("REFERENCES"):
            label = self._label(name, "FK", column)
            return SQL(" CONSTRAINT {}{}").format(identifier(label), self._references()), False
        if cursor.key() in {"MASKED", "ENCRYPTED", "GENERATED", "FILESTREAM", "HIDDEN"}:
            raise unsupported(f"{cursor.key()} on a column")
        if name is None and cursor.key() in {"WITH", "ON", "TEXTIMAGE_ON"}:
            before = self.cursor.at
            self.storage_options()
            if self.cursor.at > before:
                return _NOTHING, False
        raise SqlError(
            102, f"Incorrect syntax near '{cursor.take().text}' ({column}).", severity=15
        )

    def _default(self, column: str, name: str | None) -> Composable:
        """Translate the expression of the DEFAULT that comes next, and record its name."""
        text = self.cursor.until(_AFTER_EXPRESSION)
        if not text:
            text = self.cursor.take().text
        self.name_default(column, name, text)
        return self.scalar(text)

    def name_default(self, column: str, name: str | None, text: str) -> None:
        if self.place[0] is None:
            return
        shown = name or _system_name("DF", self.place, column)
        definition = text if text.startswith("(") else f"({text})"
        remember = SQL("SELECT mssql.set_default({}::regclass, {}, {}, {}, {})")
        values = (quoted(self.place), column, shown, definition, name is None)
        self.after.append(remember.format(*(Literal(value) for value in values)))

    def _check(self, name: str | None, column: str) -> Composable:
        self.cursor.skip("NOT", "FOR", "REPLICATION")
        text = self.cursor.parenthesized()
        label = self._label(name, "CK", column + text)
        if self.place[0] is not None:
            remember = SQL(
                "INSERT INTO mssql.checks SELECT c.oid, {} FROM pg_constraint c "
                "WHERE c.conrelid = {}::regclass AND c.conname = {}"
            )
            shown, table = Literal(f"({text})"), Literal(quoted(self.place))
            self.after.append(remember.format(shown, table, Literal(label)))
        return SQL("CONSTRAINT {} CHECK ({})").format(identifier(label), self.boolean(text))

    def _clustering(self) -> None:
        if self.cursor.key() in {"CLUSTERED", "NONCLUSTERED"}:
            self.cursor.take()

    def _references(self) -> Composable:
        place = locate(split_name(self.cursor.dotted()), self.database)
        sql = SQL(" REFERENCES {}").format(identifier(place))
        if self.cursor.key() == "(":
            sql += SQL(" ") + self.cursor.column_list()
        while self.cursor.skip("ON"):
            event = _EVENTS.get(self.cursor.take().key)
            words: tuple[str, ...] = (self.cursor.take().key,)
            if words[0] in {"NO", "SET"}:
                words += (self.cursor.take().key,)
            action = _ACTIONS.get(words)
            if event is None or action is None:
                raise self.cursor.error()
            sql += SQL(" ON {} {}").format(event, action)
        self.cursor.skip("NOT", "FOR", "REPLICATION")
        return sql

    def storage_options(self) -> None:
        """Skip storage options: `WITH (…)`, `ON filegroup`, `TEXTIMAGE_ON …`."""
        while True:
            if self.cursor.key() == "WITH" and self.cursor.key(1) == "(":
                self.cursor.take()
                self.cursor.parenthesized()
            elif self.cursor.key() in {"ON", "TEXTIMAGE_ON"} and self.cursor.key(1) not in {
                "DELETE", "UPDATE",
            }:  # fmt: skip
                self.cursor.take()
                self.cursor.name()
                if self.cursor.key() == "(":
                    raise unsupported("a partition scheme")
            else:
                return

    def constraint(self) -> Composable:
        """Translate a table constraint."""
        name, cursor = self.named(), self.cursor
        if cursor.skip("PRIMARY", "KEY") or cursor.skip("UNIQUE"):
            unique = cursor.tokens[cursor.at - 1].key == "UNIQUE"
            self._clustering()
            columns = cursor.column_list()
            label = self._label(name, "UQ" if unique else "PK", columns.as_string(None))
            self.storage_options()
            kind = SQL("UNIQUE NULLS NOT DISTINCT" if unique else "PRIMARY KEY")
            return SQL("CONSTRAINT {} {} {}").format(identifier(label), kind, columns)
        if cursor.skip("FOREIGN", "KEY"):
            columns = cursor.column_list()
            cursor.expect("REFERENCES")
            label = self._label(name, "FK", columns.as_string(None))
            key = SQL("CONSTRAINT {} FOREIGN KEY {}{}")
            return key.format(identifier(label), columns, self._references())
        if cursor.skip("CHECK"):
            return self._check(name, "")
        if cursor.key() == "INDEX":
            raise unsupported("an INDEX in CREATE TABLE (use CREATE INDEX)")
        raise cursor.error()

    def attach_views(self) -> Composable:
        return SQL("SELECT mssql.attach_views({})").format(Literal(self.database))


def _system_name(kind: str, place: PgName, columns: str) -> str:
    """Return a generated name, in SQL Server's style, for an unnamed constraint."""
    digest = hashlib.blake2b(f"{place}{kind}{columns}".encode(), digest_size=4)
    table = f"{place[1][:9]}__{columns[:5]}" if kind == "DF" else place[1]
    return f"{kind}__{table}__{digest.hexdigest().upper()}"
