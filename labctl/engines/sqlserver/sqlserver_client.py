"""SQL Server (or its stand-in) as a source: statements, bulk changes by OPENJSON, exact reading."""

# ruff: noqa: S608 - names are quoted by `quote`, values are parameters or quoted JSON

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pymssql

from labctl.config.endpoints import Database
from labctl.engines.sqlserver.sqlserver_capture_instance import capture_instance
from labctl.engines.sqlserver.sqlserver_silver_array import silver_array
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
from labctl.sources.refusals import LOCK_SECONDS, no_such_table, statement_failed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SqlServerSource", "ensure_database"]

_CONNECT_TIMEOUT = 10
_JSON_ROWS = 5_000
"""Rows in one JSON text, which is then about a megabyte."""
_CDC_ROLE = "cdc_reader"
"""Role whose members may read the change tables."""
_CDC_FILEGROUP = "cdc"
"""Filegroup for change tables, if the database has it."""
_SOURCE = "\0rows\0"
"""Placeholder for the rows in a statement; no identifier can contain it."""
_EPOCH = datetime(1970, 1, 1)
_TICKS = 10_000_000
"""Ticks per second; a tick, SQL Server's finest unit of time, is 100 ns."""
_COLUMNS = """
    SELECT c.COLUMN_NAME, c.DATA_TYPE, c.IS_NULLABLE, c.CHARACTER_MAXIMUM_LENGTH,
           c.NUMERIC_PRECISION, c.NUMERIC_SCALE, c.DATETIME_PRECISION
    FROM INFORMATION_SCHEMA.COLUMNS c
    WHERE c.TABLE_SCHEMA = %s AND c.TABLE_NAME = %s
    ORDER BY c.ORDINAL_POSITION
"""
_KEYS = """
    SELECT k.COLUMN_NAME
    FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS c
    JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE k
      ON k.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA AND k.CONSTRAINT_NAME = c.CONSTRAINT_NAME
    WHERE c.CONSTRAINT_TYPE = 'PRIMARY KEY' AND k.TABLE_SCHEMA = %s AND k.TABLE_NAME = %s
    ORDER BY k.ORDINAL_POSITION
"""


def _connect(endpoint: Database, database: str) -> pymssql.Connection:
    try:
        return pymssql.connect(
            server=endpoint.host,
            port=str(endpoint.port),
            user=endpoint.user,
            password=endpoint.password.get_secret_value(),
            database=database,
            autocommit=True,
            login_timeout=_CONNECT_TIMEOUT,
            appname="labctl",
            use_datetime2=True,
        )
    except pymssql.OperationalError as error:
        raise LabError(
            f"SQL Server at {endpoint.host}:{endpoint.port} cannot be reached: {_said(error)}",
            hint="see `labctl status`",
            exit_code=ExitCode.NOT_READY,
        ) from error


def _execute(cursor: pymssql.Cursor, sql: str, parameters: Sequence[Any]) -> None:
    """Execute a statement. Even empty parameters would make pymssql look for placeholders."""
    if parameters:
        cursor.execute(sql, tuple(parameters))
    else:
        cursor.execute(sql)


def _said(error: pymssql.Error) -> str:
    """Return the server's own message, without the client's message that follows it."""
    said = error.args[-1] if error.args else ""
    while isinstance(said, tuple):
        said = said[-1]
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return text.split("DB-Lib error message")[0].strip() or "the connection was lost"


def ensure_database(server: Database, database: str) -> None:
    """Create a database if the server does not have it yet."""
    connection = _connect(server, "master")
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT DB_ID(%s)", (database,))
        if cursor.fetchone() == (None,):
            cursor.execute(f"CREATE DATABASE {SqlServerSource.quote(database)}")
    finally:
        connection.close()


class SqlServerSource(Source):
    """A connection to a SQL Server database; see `labctl.sources.base.Source`."""

    engine = "sqlserver"
    _quotes = ("[", "]")
    _begin = "BEGIN TRANSACTION"
    _unique = """
        SELECT t.name, i.index_id, i.is_primary_key, c.name,
               CASE WHEN c.is_nullable = 0 THEN 1 ELSE 0 END
        FROM sys.indexes i
        JOIN sys.tables t ON t.object_id = i.object_id
        JOIN sys.schemas s ON s.schema_id = t.schema_id
        JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
        JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
        WHERE s.name = %s AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0
          AND k.key_ordinal > 0
        ORDER BY t.name, i.index_id, k.key_ordinal
    """

    def __init__(self, endpoint: Database) -> None:
        super().__init__()
        self._connection = _connect(endpoint, endpoint.database)
        self._closed = False
        self.execute(f"SET LOCK_TIMEOUT {LOCK_SECONDS * 1000}")

    def close(self) -> None:
        self._closed = True
        self._connection.close()

    @property
    def closed(self) -> bool:
        return self._closed

    def execute(self, sql: str, parameters: Sequence[Parameter] = ()) -> list[Row]:
        with self._cursor(sql) as cursor:
            _execute(cursor, sql, parameters)
            return list(cursor.fetchall()) if cursor.description is not None else []

    def affect(self, sql: str, parameters: Sequence[Parameter] = ()) -> int:
        with self._cursor(sql) as cursor:
            _execute(cursor, sql, parameters)
            return int(cursor.rowcount)

    def run_script(self, sql: str) -> None:
        for batch in f"\n{sql}\n".split("\nGO\n"):
            if batch.strip():
                self.execute(batch)

    @contextmanager
    def _cursor(self, sql: str) -> Iterator[pymssql.Cursor]:
        try:
            with self._connection.cursor() as cursor:
                yield cursor
        except pymssql.Error as error:
            self._closed = self._closed or not self._connection._conn.connected
            raise statement_failed("SQL Server", sql, _said(error)) from error

    def describe(self, ref: TableRef) -> SourceTable:
        from labctl.engines.sqlserver.sqlserver_types import SQLSERVER

        names = (ref.schema, ref.name)
        keys = tuple(name for (name,) in self.execute(_KEYS, names))
        columns = []
        for name, kind, nullable, length, precision, scale, fraction in self.execute(
            _COLUMNS, names
        ):
            full = _full_type(kind, length, precision, scale, fraction)
            declared = Declared(kind, full, precision, fraction if scale is None else scale)
            columns.append((name, declared, nullable == "YES"))
        if not columns:
            raise no_such_table("SQL Server", ref)
        return SourceTable.of(ref, SQLSERVER, columns, keys)

    def comments(self, ref: TableRef) -> dict[str, str]:
        return dict(
            self.execute(
                "SELECT c.name, CAST(p.value AS nvarchar(4000)) FROM sys.extended_properties p"
                " JOIN sys.columns c ON c.object_id = p.major_id AND c.column_id = p.minor_id"
                " WHERE p.class = 1 AND p.name = N'MS_Description' AND p.major_id = OBJECT_ID(%s)",
                (self.qualified(ref),),
            )
        )

    def read(self, ref: TableRef) -> pa.Table:
        import pyarrow as pa

        table = self.describe(ref)
        fields = ", ".join(self._field(column) for column in table.columns)
        rows = self.execute(f"SELECT {fields} FROM {self.qualified(ref)}")
        values = zip(*rows, strict=True) if rows else [()] * len(table.columns)
        arrays = [
            silver_array(ref, column, taken, _arrive)
            for taken, column in zip(values, table.columns, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=table.arrow)

    def sample(self, table: SourceTable, count: int) -> list[tuple[str, ...]]:
        fields = ", ".join(self._field(column) for column in table.columns)
        order = f" ORDER BY {self._names(table.keys)}" if table.keys else ""
        rows = self.execute(
            f"SELECT TOP ({count:d}) {fields} FROM {self.qualified(table.ref)}{order}"
        )
        declared = [column.declared for column in table.columns]
        return [tuple(map(_literal, row, declared)) for row in rows]

    def _field(self, column: SourceColumn) -> str:
        """Return the expression that reads a column. Times with seven digits are read as text,
        because the client's own type has six."""
        name = self.quote(column.name)
        return f"CONVERT(varchar(40), {name})" if _has_nanoseconds(column.declared) else name

    def insert(self, ref: TableRef, rows: pa.Table) -> None:
        names = self._names(rows.column_names)
        self._run(
            self.describe(ref),
            rows,
            f"INSERT INTO {self.qualified(ref)} ({names}) SELECT {names} FROM {_SOURCE} AS s",
        )

    def upsert(self, ref: TableRef, rows: pa.Table) -> None:
        table = self.describe(ref)
        same = self._same(table.keys)
        others = [name for name in rows.column_names if name not in table.keys]
        changes = ", ".join(f"{self.quote(n)} = s.{self.quote(n)}" for n in others)
        matched = f" WHEN MATCHED THEN UPDATE SET {changes}" if changes else ""
        values = ", ".join(f"s.{self.quote(name)}" for name in rows.column_names)
        self._run(
            table,
            rows,
            f"MERGE INTO {self.qualified(ref)} WITH (HOLDLOCK) AS t"
            f" USING (SELECT * FROM {_SOURCE} AS j) AS s ON {same}{matched}"
            f" WHEN NOT MATCHED THEN INSERT ({self._names(rows.column_names)}) VALUES ({values});",
        )

    def delete(self, ref: TableRef, keys: pa.Table) -> None:
        same = self._same(keys.column_names)
        self._run(
            self.describe(ref),
            keys,
            f"DELETE t FROM {self.qualified(ref)} AS t JOIN {_SOURCE} AS s ON {same}",
        )

    def _run(self, table: SourceTable, rows: pa.Table, statement: str) -> None:
        """Run a statement over `_SOURCE`, which stands for the rows, in one transaction."""
        declared = {column.name: column for column in table.columns}
        columns = [declared[name] for name in rows.column_names]
        shape = ", ".join(f"{self.quote(c.name)} {c.declared.full}" for c in columns)
        with self._atomic():
            for start in range(0, rows.num_rows, _JSON_ROWS):
                part = [
                    {c.name: _leave(row[c.name], c.declared) for c in columns}
                    for row in rows.slice(start, _JSON_ROWS).to_pylist()
                ]
                text = json.dumps(part, ensure_ascii=False, allow_nan=False).replace("'", "''")
                self.execute(statement.replace(_SOURCE, f"OPENJSON(N'{text}') WITH ({shape})"))

    def schemas(self) -> list[str]:
        return [name for (name,) in self.execute("SELECT name FROM sys.schemas")]

    def capture(self, refs: Sequence[TableRef], publication: str) -> None:
        if not self.execute(
            "SELECT 1 FROM sys.databases WHERE name = DB_NAME() AND is_cdc_enabled = 1"
        ):
            self.execute("EXEC sys.sp_cdc_enable_db")
        # With a filegroup of their own, change tables do not compete with the data.
        rows = self.execute("SELECT name FROM sys.filegroups WHERE name = %s", (_CDC_FILEGROUP,))
        filegroup = rows[0][0] if rows else None
        for ref in refs:
            if not self._is_tracked(ref):
                self.execute(
                    "EXEC sys.sp_cdc_enable_table @source_schema = %s, @source_name = %s,"
                    " @capture_instance = %s, @role_name = %s, @filegroup_name = %s,"
                    " @supports_net_changes = 0",
                    (ref.schema, ref.name, capture_instance(ref), _CDC_ROLE, filegroup),
                )

    def _is_tracked(self, ref: TableRef) -> bool:
        return bool(
            self.execute(
                "SELECT 1 FROM sys.tables"
                " WHERE object_id = OBJECT_ID(%s) AND is_tracked_by_cdc = 1",
                (self.qualified(ref),),
            )
        )

    def captured(self, publication: str) -> set[TableRef]:
        rows = self.execute(
            "SELECT s.name, t.name FROM sys.tables t JOIN sys.schemas s"
            " ON s.schema_id = t.schema_id WHERE t.is_tracked_by_cdc = 1"
        )
        return {TableRef(schema, name) for schema, name in rows}

    def release(self, ref: TableRef, publication: str) -> None:
        if self._is_tracked(ref):
            self.execute(
                "EXEC sys.sp_cdc_disable_table @source_schema = %s, @source_name = %s,"
                " @capture_instance = 'all'",
                (ref.schema, ref.name),
            )

    def let_read(self, user: str, schema: str) -> None:
        """Do nothing: the server's only login reads everything."""

    def let_signal(self, user: str, ref: TableRef) -> None:
        """Do nothing: the server's only login writes everything."""


def _full_type(
    kind: str, length: int | None, precision: int | None, scale: int | None, fraction: int | None
) -> str:
    """Return the type as in a column definition."""
    if kind in {"decimal", "numeric"}:
        return f"{kind}({precision},{scale})"
    if kind in {"time", "datetime2", "datetimeoffset"}:
        return f"{kind}({fraction})"
    if kind in {"char", "varchar", "nchar", "nvarchar", "binary", "varbinary"}:
        return f"{kind}({'max' if length == -1 else length})"
    return kind


def _has_nanoseconds(declared: Declared) -> bool:
    """Return whether Debezium sends the type as nanoseconds, because it has seven digits."""
    return declared.full in {"time(7)", "datetime2(7)"}


def _arrive(value: Any, declared: Declared) -> Any:
    """Convert a value from the driver to its form in silver."""
    match value:
        case str() if _has_nanoseconds(declared):
            moment, _, ticks = value.partition(".")
            form = "%H:%M:%S" if declared.name == "time" else "%Y-%m-%d %H:%M:%S"
            seconds = _seconds(datetime.strptime(moment, form), of_day=declared.name == "time")
            return (seconds * _TICKS + int(ticks.ljust(7, "0"))) * (1_000_000_000 // _TICKS)
        case time():
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * 1_000_000 + value.microsecond
        case UUID():
            return str(value).upper()
    return value


def _literal(value: Any, declared: Declared) -> str:
    """Convert a value from the driver to a SQL literal."""
    match value if isinstance(value, bytes) else _leave(_arrive(value, declared), declared):
        case None:
            return "NULL"
        case bool() as flag:
            return str(int(flag))
        case bytes() as content:
            return f"0x{content.hex()}"
        case int() | float() as number:
            return repr(number)
        case text:
            return _text_literal(str(text))


def _text_literal(text: str) -> str:
    """Convert a text to a SQL literal on one line: a line `GO` in a script would end the batch,
    even inside a text."""
    marks = (mark for mark in map("<{}>".format, count()) if mark not in text)
    quoted, replaced = text.replace("'", "''"), "{}"
    for end in "\r\n":
        if end in text:
            mark = next(marks)
            quoted = quoted.replace(end, mark)
            replaced = f"REPLACE({replaced}, N'{mark}', NCHAR({ord(end)}))"
    return replaced.replace("{}", f"N'{quoted}'", 1)


def _seconds(moment: datetime, *, of_day: bool) -> int:
    """Return the seconds since midnight, or else since 1970."""
    if of_day:
        return (moment.hour * 60 + moment.minute) * 60 + moment.second
    since = moment - _EPOCH
    return since.days * 86_400 + since.seconds


def _leave(value: Any, declared: Declared) -> Any:
    """Convert a value from silver to the form that OPENJSON reads."""
    match value:
        case int() if declared.name in {"time", "datetime2"}:
            ticks = value // (1_000_000_000 // _TICKS) if _has_nanoseconds(declared) else value * 10
            seconds, fraction = divmod(ticks, _TICKS)
            moment = _EPOCH + timedelta(seconds=seconds)
            form = "%H:%M:%S" if declared.name == "time" else "%Y-%m-%dT%H:%M:%S"
            return f"{moment.strftime(form)}.{fraction:07d}"
        case datetime() if value.tzinfo is None and declared.name == "datetime":
            return value.isoformat(timespec="milliseconds")
        case date() | datetime():
            return value.isoformat()
        case Decimal():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
    return value
