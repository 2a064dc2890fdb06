# ruff: noqa: S608 - SQL is written here on purpose: names are quoted, texts are literals
"""CREATE TABLE and ALTER TABLE."""

from __future__ import annotations

import hashlib

from labctl.sqlserver.errors import SqlError, unsupported
from labctl.sqlserver.sqltypes import SqlType, parse_type
from labctl.sqlserver.tsql import translate
from labctl.sqlserver.tsql.casts import refuse_unknown_collation
from labctl.sqlserver.tsql.cursor import Cursor
from labctl.sqlserver.tsql.names import PgName, locate, quoted, split_name

__all__ = ["TableParser", "literal"]

_AFTER_EXPRESSION = {
    "NOT", "NULL", "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "FOREIGN", "DEFAULT",
    "IDENTITY", "COLLATE", "WITH", "FOR", "ON",
}  # fmt: skip
_TABLE_CONSTRAINTS = {"CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "INDEX"}


def literal(text: str) -> str:
    """A PostgreSQL string literal."""
    escaped = text.replace("'", "''")
    if "\\" in escaped:
        return " E'" + escaped.replace("\\", "\\\\") + "'"
    return f"'{escaped}'"


class TableParser:
    """Reads table definitions; the SQL that follows the main statement collects in `after`."""

    def __init__(self, cursor: Cursor, database: str) -> None:
        self.cursor = cursor
        self.database = database
        self.place: PgName = (None, "")
        self.after: list[str] = []

    # ---- expressions

    def scalar(self, text: str) -> str:
        """A DEFAULT's or computed column's expression."""
        statement = translate.expression(text, self.database, {})
        if statement.parameters:
            raise unsupported(f"{statement.parameters[0]} in a table definition")
        return statement.sql.removeprefix("SELECT ")

    def boolean(self, text: str) -> str:
        """A CHECK's or filtered index's condition."""
        statement = translate.condition(text, self.database, {})
        if statement.parameters:
            raise unsupported(f"{statement.parameters[0]} in a table definition")
        return statement.sql.removeprefix("SELECT CASE WHEN ").removesuffix(" THEN 1 ELSE 0 END")

    # ---- CREATE TABLE

    def create(self) -> list[str]:
        text = self.cursor.dotted()
        parts = split_name(text)
        self.place = locate(parts, self.database)
        if self.cursor.key() == "AS":
            raise unsupported("CREATE TABLE AS")
        body = self.columns(self.cursor.parenthesized())
        self.storage_options()
        self.cursor.finish()
        head = "CREATE TEMP TABLE" if self.place[0] is None else "CREATE TABLE"
        target = quoted(self.place[1]) if self.place[0] is None else quoted(self.place)
        if parts[-1] != parts[-1].lower():
            self.after.insert(0, f"COMMENT ON TABLE {target} IS {literal(parts[-1])}")
        return [f"{head} {target} ({body})", *self.after]

    def columns(self, text: str) -> str:
        """Column and constraint definitions, as PostgreSQL's."""
        inner = TableParser(Cursor(text), self.database)
        inner.place, inner.after = self.place, self.after
        items = []
        while inner.cursor.at < len(inner.cursor.tokens):
            if inner.cursor.key() in _TABLE_CONSTRAINTS:
                items.append(inner.constraint())
            else:
                items.append(inner.column())
            if not inner.cursor.skip(","):
                break
        inner.cursor.finish()
        return ", ".join(i for i in items if i)

    def _target(self) -> str:
        return quoted(self.place[1]) if self.place[0] is None else quoted(self.place)

    def column(self) -> str:
        name = self.cursor.name()
        low = quoted(name.lower())
        if name != name.lower():
            self.after.append(f"COMMENT ON COLUMN {self._target()}.{low} IS {literal(name)}")
        if self.cursor.skip("AS"):
            expression = self.scalar(f"({self.cursor.parenthesized()})")
            if not self.cursor.skip("PERSISTED"):
                raise unsupported("a computed column that is not PERSISTED")
            raise unsupported(f"a computed column ({expression})")
        kind = self.type()
        sql = f"{low} {kind.pg}"
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
            sql += " NOT NULL"
        return sql

    def type(self) -> SqlType:
        """The data type that comes next."""
        start = self.cursor.at
        self.cursor.take()
        while self.cursor.skip("."):
            self.cursor.take()
        while self.cursor.key() in {"VARYING", "PRECISION", "CHARACTER", "CHAR"}:
            self.cursor.take()
        if self.cursor.key() == "(":
            self.cursor.parenthesized()
        return parse_type(self.cursor.slice(start, self.cursor.at))

    def _identity(self, kind: SqlType) -> str:
        if kind.name not in {"tinyint", "smallint", "int", "bigint", "decimal", "numeric"}:
            raise SqlError(
                2749,
                "Identity column must be of data type int, bigint, smallint, tinyint, or decimal "
                "or numeric with a scale of 0.",
            )
        if kind.name not in {"smallint", "int", "bigint"}:
            raise unsupported(f"IDENTITY on {kind.declared()}")
        seed, step = "1", "1"
        if self.cursor.key() == "(":
            seed, step = (p.strip() for p in self.cursor.parenthesized().split(","))
        self.cursor.skip("NOT", "FOR", "REPLICATION")
        if step.startswith("-"):
            lowest = {"smallint": -(2**15), "int": -(2**31), "bigint": -(2**63)}[kind.name]
            limit = f"MINVALUE {lowest} MAXVALUE {seed}"
        else:
            limit = f"MINVALUE {seed}"
        return f" GENERATED ALWAYS AS IDENTITY (START WITH {seed} INCREMENT BY {step} {limit})"

    def _named(self) -> str | None:
        return self.cursor.name() if self.cursor.skip("CONSTRAINT") else None

    def _label(self, name: str | None, kind: str, columns: str) -> str:
        """`CONSTRAINT name`; an unnamed one gets a name in SQL Server's way."""
        table = self.place[1]
        if name is None:
            digest = hashlib.blake2b(f"{self.place}{kind}{columns}".encode(), digest_size=4)
            name = f"{kind}__{table}__{digest.hexdigest().upper()}"
        if name != name.lower() and self.place[0] is not None:
            self.after.append(
                f"COMMENT ON CONSTRAINT {quoted(name.lower())} ON {self._target()} "
                f"IS {literal(name)}"
            )
            if kind in {"PK", "UQ"}:
                index = quoted((self.place[0], name.lower()))
                self.after.append(f"COMMENT ON INDEX {index} IS {literal(name)}")
        return f" CONSTRAINT {quoted(name.lower())}"

    def _column_constraint(self, column: str) -> tuple[str, bool]:
        """One constraint of a column, and whether it is the primary key."""
        name, cursor, low = self._named(), self.cursor, quoted(column.lower())
        if cursor.skip("DEFAULT"):
            return f" DEFAULT {self._default(column.lower())}", False
        if cursor.skip("PRIMARY", "KEY"):
            self._clustering()
            label = self._label(name, "PK", column)
            self.storage_options()
            return f"{label} PRIMARY KEY", True
        if cursor.skip("UNIQUE"):
            self._clustering()
            label = self._label(name, "UQ", column)
            self.storage_options()
            return f"{label} UNIQUE NULLS NOT DISTINCT", False
        if cursor.skip("CHECK"):
            return self._check(name, column), False
        cursor.skip("FOREIGN", "KEY")
        if cursor.skip("REFERENCES"):
            return self._label(name, "FK", column) + self._references(), False
        if cursor.key() in {"MASKED", "ENCRYPTED", "GENERATED", "FILESTREAM", "HIDDEN"}:
            raise unsupported(f"{cursor.key()} on a column")
        if name is None and cursor.key() in {"WITH", "ON", "TEXTIMAGE_ON"}:
            before = self.cursor.at
            self.storage_options()
            if self.cursor.at > before:
                return "", False
        raise SqlError(102, f"Incorrect syntax near '{cursor.take().text}' ({low}).", severity=15)

    def _default(self, column: str) -> str:
        text = self.cursor.until(_AFTER_EXPRESSION)
        if not text:
            text = self.cursor.take().text
        if self.place[0] is not None:
            self.after.append(
                "INSERT INTO mssql.defaults SELECT a.attrelid, a.attnum, "
                f"{literal(text if text.startswith('(') else f'({text})')} FROM pg_attribute a "
                f"WHERE a.attrelid = {literal(quoted(self.place))}::regclass "
                f"AND a.attname = {literal(column)} "
                "ON CONFLICT (relid, attnum) DO UPDATE SET definition = EXCLUDED.definition"
            )
        return self.scalar(text)

    def _check(self, name: str | None, column: str) -> str:
        self.cursor.skip("NOT", "FOR", "REPLICATION")
        text = self.cursor.parenthesized()
        label = self._label(name, "CK", column + text)
        if self.place[0] is not None:
            constraint = label.removeprefix(" CONSTRAINT ").strip('"')
            self.after.append(
                f"INSERT INTO mssql.checks SELECT c.oid, {literal(f'({text})')} "
                "FROM pg_constraint c "
                f"WHERE c.conrelid = {literal(quoted(self.place))}::regclass "
                f"AND c.conname = {literal(constraint)}"
            )
        return f"{label} CHECK ({self.boolean(text)})"

    def _clustering(self) -> None:
        if self.cursor.key() in {"CLUSTERED", "NONCLUSTERED"}:
            self.cursor.take()

    def _references(self) -> str:
        place = locate(split_name(self.cursor.dotted()), self.database)
        sql = f" REFERENCES {quoted(place)}"
        if self.cursor.key() == "(":
            sql += " " + self.cursor.column_list()
        while self.cursor.skip("ON"):
            event = self.cursor.take().key
            words = self.cursor.take().key
            if words in {"NO", "SET"}:
                words += " " + self.cursor.take().key
            sql += f" ON {event} {words}"
        self.cursor.skip("NOT", "FOR", "REPLICATION")
        return sql

    def storage_options(self) -> None:
        """`WITH (…)`, `ON filegroup`, `TEXTIMAGE_ON …`: storage SQL Server has and this has not."""
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

    def constraint(self) -> str:
        """A table constraint."""
        name, cursor = self._named(), self.cursor
        if cursor.skip("PRIMARY", "KEY") or cursor.skip("UNIQUE"):
            unique = cursor.tokens[cursor.at - 1].key == "UNIQUE"
            self._clustering()
            columns = cursor.column_list()
            label = self._label(name, "UQ" if unique else "PK", columns)
            self.storage_options()
            return f"{label} {'UNIQUE NULLS NOT DISTINCT' if unique else 'PRIMARY KEY'} {columns}"
        if cursor.skip("FOREIGN", "KEY"):
            columns = cursor.column_list()
            cursor.expect("REFERENCES")
            return f"{self._label(name, 'FK', columns)} FOREIGN KEY {columns}{self._references()}"
        if cursor.skip("CHECK"):
            return self._check(name, "")
        if cursor.key() == "INDEX":
            raise unsupported("an INDEX in CREATE TABLE (use CREATE INDEX)")
        raise cursor.error()

    # ---- ALTER TABLE

    def alter(self) -> list[str]:
        text = self.cursor.dotted()
        self.place = locate(split_name(text), self.database)
        target = self._target()
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
        source = f"{literal(target)}::regclass"
        captured = self.place[0] is not None
        before = [f"SELECT mssql.cdc_before_alter({source})"] if captured else []
        after = (
            [f"SELECT mssql.cdc_after_alter({source}, {literal(self.cursor.text)})"]
            if captured
            else []
        )
        return [*before, *(f"ALTER TABLE {target} {a}" for a in actions), *self.after, *after]

    def _add(self, *, check: bool) -> list[str]:
        actions = []
        while True:
            if self.cursor.key() == "CONSTRAINT" and self.cursor.key(2) == "DEFAULT":
                self.cursor.at += 3
                actions.append(self._default_for())
            elif self.cursor.skip("DEFAULT"):
                actions.append(self._default_for())
            elif self.cursor.key() in _TABLE_CONSTRAINTS:
                item = self.constraint()
                suffix = (
                    " NOT VALID"
                    if not check and ("FOREIGN KEY" in item or "CHECK (" in item)
                    else ""
                )
                actions.append(f"ADD{item}{suffix}")
            else:
                actions.append(f"ADD COLUMN {self.column()}")
                self.cursor.skip("WITH", "VALUES")
            if not self.cursor.skip(","):
                return actions

    def _default_for(self) -> str:
        text = self.cursor.until({"FOR"})
        self.cursor.expect("FOR")
        column = self.cursor.name().lower()
        return f"ALTER COLUMN {quoted(column)} SET DEFAULT {self.scalar(text)}"

    def _drop(self) -> list[str]:
        actions, kind = [], "CONSTRAINT"
        while True:
            if self.cursor.skip("COLUMN"):
                kind = "COLUMN"
            elif self.cursor.skip("CONSTRAINT"):
                kind = "CONSTRAINT"
            optional = " IF EXISTS" if self.cursor.skip("IF", "EXISTS") else ""
            actions.append(f"DROP {kind}{optional} {quoted(self.cursor.name().lower())}")
            if not self.cursor.skip(","):
                return actions

    def _alter_column(self) -> list[str]:
        column = quoted(self.cursor.name().lower())
        if self.cursor.key() in {"ADD", "DROP"}:
            raise unsupported(f"ALTER COLUMN {self.cursor.key()}")
        kind = self.type()
        if self.cursor.skip("COLLATE"):
            refuse_unknown_collation(self.cursor.name())
        actions = [f"ALTER COLUMN {column} TYPE {kind.pg} USING {column}::{kind.pg}"]
        if self.cursor.skip("NOT", "NULL"):
            actions.append(f"ALTER COLUMN {column} SET NOT NULL")
        else:
            self.cursor.skip("NULL")
            actions.append(f"ALTER COLUMN {column} DROP NOT NULL")
        return actions
