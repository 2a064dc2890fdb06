"""MySQL as a source: statements, bulk changes by multi-row statements, exact reading."""

# ruff: noqa: S608 - names are quoted by `quote`, values are parameters

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pymysql
from pymysql.cursors import Cursor, SSCursor

from labctl.config.endpoints import Database
from labctl.errors import ExitCode, LabError
from labctl.sources.base import (
    Declared,
    Parameter,
    Row,
    Source,
    SourceColumn,
    SourceTable,
    TableRef,
)
from labctl.sources.refusals import LOCK_SECONDS, no_such_table, not_reached, statement_failed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MySqlSource", "allow", "ensure_database"]

_CONNECT_TIMEOUT = 10
_SESSION = (
    # NO_ZERO_DATE is left out: a project's table may contain zero dates.
    "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES',"
    f" lock_wait_timeout = {LOCK_SECONDS}, innodb_lock_wait_timeout = {LOCK_SECONDS}"
)
_COLUMNS = """
    SELECT c.column_name, c.data_type, c.column_type, c.is_nullable = 'YES',
           c.numeric_precision, c.numeric_scale, k.ordinal_position
    FROM information_schema.columns c
    LEFT JOIN information_schema.key_column_usage k
      ON k.table_schema = c.table_schema AND k.table_name = c.table_name
     AND k.column_name = c.column_name AND k.constraint_name = 'PRIMARY'
    WHERE c.table_schema = %s AND c.table_name = %s
    ORDER BY c.ordinal_position
"""


_VERSION_COMMENTS = re.compile(r"(?:\s*/\*[^*]*\*/)+$")
"""Comments after MariaDB's types about their storage, such as `/*M!100301 COMPRESSED*/`."""


def _connect(endpoint: Database, database: str | None) -> pymysql.Connection[Cursor]:
    try:
        return pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=endpoint.user,
            password=endpoint.password.get_secret_value(),
            database=database,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=_CONNECT_TIMEOUT,
            init_command=_SESSION,
            program_name="labctl",
        )
    except pymysql.OperationalError as error:
        raise LabError(
            f"MySQL at {endpoint.host}:{endpoint.port} cannot be reached: {error.args[-1]}",
            hint=not_reached(str(error.args[-1])),
            exit_code=ExitCode.NOT_READY,
        ) from error


def ensure_database(server: Database, database: str, owner: str) -> None:
    """Create a database if the server does not have it yet, and grant `owner` all rights to it."""
    connection = _connect(server, None)
    try:
        with connection.cursor() as cursor:
            name = MySqlSource.quote(database)
            cursor.execute(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4")
            if owner != server.user:
                allow(cursor, "ALL", database, owner)
    finally:
        connection.close()


def allow(cursor: Cursor, rights: str, database: str, user: str) -> None:
    """Grant rights to a database, but not to others whose names match it as a pattern."""
    # In the database name of a GRANT, `_` and `%` are wildcards.
    exact = re.sub(r"([_%\\])", r"\\\1", database)
    placed = MySqlSource.quote(exact).replace("%", "%%")
    cursor.execute(f"GRANT {rights} ON {placed}.* TO %s@'%%'", (user,))


class MySqlSource(Source):
    """A connection to a MySQL server; see `labctl.sources.base.Source`."""

    engine = "mysql"
    _quotes = ("`", "`")
    _unique = (
        "SELECT table_name, index_name, index_name = 'PRIMARY', column_name, nullable <> 'YES'"
        " FROM information_schema.statistics WHERE table_schema = %s AND non_unique = 0"
        " ORDER BY table_name, index_name, seq_in_index"
    )

    def __init__(self, endpoint: Database) -> None:
        super().__init__()
        self._connection = _connect(endpoint, endpoint.database or None)

    def close(self) -> None:
        if self._connection.open:
            self._connection.close()

    @property
    def closed(self) -> bool:
        return not self._connection.open

    def execute(self, sql: str, parameters: Sequence[Parameter] = ()) -> list[Row]:
        with self._cursor(sql) as cursor:
            cursor.execute(sql, tuple(parameters) or None)
            return list(cursor.fetchall())

    def affect(self, sql: str, parameters: Sequence[Parameter] = ()) -> int:
        with self._cursor(sql) as cursor:
            return cursor.execute(sql, tuple(parameters) or None)

    def run_script(self, sql: str) -> None:
        for statement in sql.split(";\n"):
            if statement.strip():
                self.execute(statement)

    @contextmanager
    def _cursor(self, sql: str, kind: type[Cursor] = Cursor) -> Iterator[Cursor]:
        try:
            with self._connection.cursor(kind) as cursor:
                yield cursor
        except pymysql.Error as error:
            raise statement_failed("MySQL", sql, str(error.args[-1])) from error

    def describe(self, ref: TableRef) -> SourceTable:
        from labctl.engines.mysql.mysql_types import MYSQL

        columns: list[tuple[str, Declared, bool]] = []
        keys: list[tuple[int, str]] = []
        for name, kind, full, nullable, precision, scale, position in self.execute(
            _COLUMNS, (ref.schema, ref.name)
        ):
            written = _VERSION_COMMENTS.sub("", full)
            declared = Declared(_type_name(kind, written), written, precision, scale)
            columns.append((name, declared, bool(nullable)))
            if position is not None:
                keys.append((position, name))
        if not columns:
            raise no_such_table("MySQL", ref)
        return SourceTable.of(ref, MYSQL, columns, [name for _, name in sorted(keys)])

    def comments(self, ref: TableRef) -> dict[str, str]:
        return dict(
            self.execute(
                "SELECT column_name, column_comment FROM information_schema.columns"
                " WHERE table_schema = %s AND table_name = %s AND column_comment <> ''",
                (ref.schema, ref.name),
            )
        )

    def read(self, ref: TableRef) -> pa.Table:
        from labctl.sources.text import from_csv

        table = self.describe(ref)
        fields = ", ".join(self._field(column) for column in table.columns)
        query = f"SELECT CONCAT_WS(',', {fields}) FROM {self.qualified(ref)}"
        with self._cursor(query, SSCursor) as cursor:
            cursor.execute(query)
            data = "".join(f"{line}\n" for (line,) in cursor).encode()
        return from_csv(data, table.columns)

    def sample(self, table: SourceTable, count: int) -> list[tuple[str, ...]]:
        fields = [self._literal(column) for column in table.columns]
        return self.execute(self._first(table, fields, count))

    def _literal(self, column: SourceColumn) -> str:
        """Return the expression for a column's value as a SQL literal: text in quotes, bytes as
        hexadecimal digits."""
        import pyarrow as pa

        name = self.quote(column.name)
        if pa.types.is_binary(column.arrow) or column.declared.name == "bit(1)":
            digits = f"HEX(CAST({name} AS BINARY))"
            return f"IF({name} IS NULL, 'NULL', CONCAT('x', QUOTE({digits})))"
        exact = column.rule.expression.format(name) if column.declared.name == "float" else name
        return f"QUOTE({exact})"

    def _field(self, column: SourceColumn) -> str:
        """Return the expression for a column as a CSV field: null is empty, text is quoted."""
        import pyarrow as pa

        value = column.rule.expression.format(self.quote(column.name))
        if pa.types.is_string(column.wire):
            text = f"CONVERT({value} USING utf8mb4)"
            value = f"""CONCAT('"', REPLACE({text}, '"', '""'), '"')"""
        return f"COALESCE({value}, '')"

    def insert(self, ref: TableRef, rows: pa.Table) -> None:
        self._insert(ref, rows, "")

    def upsert(self, ref: TableRef, rows: pa.Table) -> None:
        changes = ", ".join(
            f"{self.quote(name)} = VALUES({self.quote(name)})" for name in rows.column_names
        )
        self._insert(ref, rows, f" ON DUPLICATE KEY UPDATE {changes}")

    def _insert(self, ref: TableRef, rows: pa.Table, tail: str) -> None:
        from labctl.sources.text import row_literals, statements

        head = f"INSERT INTO {self.qualified(ref)} ({self._names(rows.column_names)}) VALUES "
        self._run_all(statements(head, row_literals(rows), tail))

    def delete(self, ref: TableRef, keys: pa.Table) -> None:
        from labctl.sources.text import row_literals, statements

        head = f"DELETE FROM {self.qualified(ref)} WHERE ({self._names(keys.column_names)}) IN ("
        self._run_all(statements(head, row_literals(keys), ")"))

    def _run_all(self, batches: Iterator[str]) -> None:
        with self._atomic():
            for statement in batches:
                self.execute(statement)

    def capture(self, refs: Sequence[TableRef], publication: str) -> None:
        """Do nothing: the binary log records every table."""

    def captured(self, publication: str) -> None:
        return None

    def release(self, ref: TableRef, publication: str) -> None:
        """Do nothing: the binary log always records every table."""

    def let_read(self, user: str, schema: str) -> None:
        """Do nothing: the administrator has granted the rights to every schema of a source."""

    def let_signal(self, user: str, ref: TableRef) -> None:
        """Do nothing: the administrator has granted the right to the schema of signal tables."""


def _type_name(kind: str, full: str) -> str:
    """Return the name of a type in `MYSQL`."""
    if full in ("tinyint(1)", "bit(1)"):
        return full
    return f"{kind} unsigned" if "unsigned" in full.split() else kind
