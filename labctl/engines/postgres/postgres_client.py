"""PostgreSQL as a source: statements, bulk changes by COPY, exact reading."""

# ruff: noqa: S608 - names are quoted by `quote`, values are parameters

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import psycopg2
from psycopg2 import sql as pgsql
from psycopg2.extensions import connection as Connection  # noqa: N812

from labctl.config.endpoints import Database
from labctl.engines.postgres.postgres_publication import OPTIONS, OPTIONS_OF_18, read_publication
from labctl.engines.postgres.postgres_replica_identity import identity_statement
from labctl.engines.postgres.postgres_rights import repeated
from labctl.errors import ExitCode, LabError
from labctl.sources.base import Declared, Parameter, Row, Source, SourceTable, TableRef
from labctl.sources.refusals import LOCK_SECONDS, no_such_table, not_reached, statement_failed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PostgresSource", "ensure_database"]

_CONNECT_TIMEOUT = 10
_VERSION_18 = 180000
_COLUMNS = """
    SELECT c.column_name,
           CASE c.data_type WHEN 'USER-DEFINED' THEN t.typtype::text ELSE c.data_type END,
           format_type(a.atttypid, a.atttypmod), c.is_nullable = 'YES',
           c.numeric_precision, c.numeric_scale, array_position(i.indkey::int2[], a.attnum)
    FROM information_schema.columns c
    JOIN pg_attribute a
      ON a.attrelid = format('%%I.%%I', c.table_schema, c.table_name)::regclass
     AND a.attname = c.column_name
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
    WHERE c.table_schema = %s AND c.table_name = %s
    ORDER BY c.ordinal_position
"""


def _connect(endpoint: Database, database: str) -> Connection:
    try:
        connection = psycopg2.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=endpoint.user,
            password=endpoint.password.get_secret_value(),
            dbname=database,
            connect_timeout=_CONNECT_TIMEOUT,
            application_name="labctl",
            options="-c timezone=UTC -c datestyle=ISO -c extra_float_digits=1"
            f" -c lock_timeout={LOCK_SECONDS}s",
        )
    except psycopg2.OperationalError as error:
        raise LabError(
            f"PostgreSQL at {endpoint.host}:{endpoint.port} cannot be reached: "
            f"{str(error).strip()}",
            hint=not_reached(str(error)),
            exit_code=ExitCode.NOT_READY,
        ) from error
    connection.autocommit = True
    connection.set_client_encoding("UTF8")
    return connection


def ensure_database(server: Database, database: str, owner: str | None = None) -> None:
    """Create a database if the server does not have it yet. Its owner is `owner`, or else the
    server's administrator."""
    connection = _connect(server, "postgres")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM pg_database WHERE datname = %s", (database,))
            if cursor.fetchone() is None:
                named = map(pgsql.Identifier, (database, owner or server.user))
                cursor.execute(pgsql.SQL("CREATE DATABASE {} OWNER {}").format(*named))
    finally:
        connection.close()


class PostgresSource(Source):
    """A connection to a PostgreSQL database; see `labctl.sources.base.Source`."""

    engine = "postgres"
    # The information schema shows constraints only to users who may write to the table.
    _unique = (
        "SELECT t.relname, i.indexrelid, i.indisprimary, a.attname, a.attnotnull"
        " FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid"
        " JOIN pg_namespace n ON n.oid = t.relnamespace"
        " CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(number, place)"
        " LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number"
        " WHERE n.nspname = %s AND i.indisunique AND i.indisvalid AND i.indpred IS NULL"
        " AND k.place <= i.indnkeyatts ORDER BY 1, 2, k.place"
    )

    def __init__(self, endpoint: Database) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._connection = _connect(endpoint, endpoint.database)

    def close(self) -> None:
        self._connection.close()

    @property
    def closed(self) -> bool:
        return bool(self._connection.closed)

    def execute(self, sql: str, parameters: Sequence[Parameter] = ()) -> list[Row]:
        with self._cursor(sql) as cursor:
            cursor.execute(sql, tuple(parameters) or None)
            return cursor.fetchall() if cursor.description is not None else []

    def affect(self, sql: str, parameters: Sequence[Parameter] = ()) -> int:
        with self._cursor(sql) as cursor:
            cursor.execute(sql, tuple(parameters) or None)
            return cursor.rowcount

    def run_script(self, sql: str) -> None:
        self.execute(sql)

    @contextmanager
    def _cursor(self, sql: str) -> Iterator[psycopg2.extensions.cursor]:
        try:
            with self._connection.cursor() as cursor:
                yield cursor
        except psycopg2.Error as error:
            raise statement_failed("PostgreSQL", sql, str(error)) from error

    def describe(self, ref: TableRef) -> SourceTable:
        from labctl.engines.postgres.postgres_types import POSTGRES

        columns: list[tuple[str, Declared, bool]] = []
        keys: list[tuple[int, str]] = []
        for name, kind, full, nullable, precision, scale, position in self.execute(
            _COLUMNS, (ref.schema, ref.name)
        ):
            declared = Declared("enum" if kind == "e" else kind, full, precision, scale)
            columns.append((name, declared, nullable))
            if position is not None:
                keys.append((position, name))
        if not columns:
            raise no_such_table("PostgreSQL", ref)
        return SourceTable.of(ref, POSTGRES, columns, [name for _, name in sorted(keys)])

    def comments(self, ref: TableRef) -> dict[str, str]:
        return dict(
            self.execute(
                "SELECT attname, col_description(attrelid, attnum) FROM pg_attribute"
                " WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
                " AND col_description(attrelid, attnum) IS NOT NULL",
                (self.qualified(ref),),
            )
        )

    def read(self, ref: TableRef) -> pa.Table:
        from labctl.sources.text import from_csv

        table = self.describe(ref)
        fields = ", ".join(c.rule.expression.format(self.quote(c.name)) for c in table.columns)
        copy = f"COPY (SELECT {fields} FROM {self.qualified(ref)}) TO STDOUT (FORMAT csv)"
        sink = io.BytesIO()
        with self._cursor(copy) as cursor:
            cursor.copy_expert(copy, sink)
        return from_csv(sink.getvalue(), table.columns)

    def sample(self, table: SourceTable, count: int) -> list[tuple[str, ...]]:
        fields = [f"quote_nullable({self.quote(c.name)}::text)" for c in table.columns]
        return self.execute(self._first(table, fields, count))

    def insert(self, ref: TableRef, rows: pa.Table) -> None:
        self._copy(f"{self.qualified(ref)} ({self._names(rows.column_names)})", rows)

    def _copy(self, target: str, rows: pa.Table) -> None:
        from labctl.sources.text import to_csv

        copy = f"COPY {target} FROM STDIN (FORMAT csv)"
        with self._cursor(copy) as cursor:
            cursor.copy_expert(copy, io.BytesIO(to_csv(rows)))

    def upsert(self, ref: TableRef, rows: pa.Table) -> None:
        keys = self.describe(ref).keys
        names = self._names(rows.column_names)
        others = [name for name in rows.column_names if name not in keys]
        changes = ", ".join(f"{self.quote(n)} = excluded.{self.quote(n)}" for n in others)
        with self._staged(ref, rows) as staged:
            self.execute(
                f"INSERT INTO {self.qualified(ref)} ({names}) SELECT {names} FROM {staged}"
                f" ON CONFLICT ({self._names(keys)}) DO "
                + (f"UPDATE SET {changes}" if changes else "NOTHING")
            )

    def delete(self, ref: TableRef, keys: pa.Table) -> None:
        same = self._same(keys.column_names)
        with self._staged(ref, keys) as staged:
            self.execute(f"DELETE FROM {self.qualified(ref)} t USING {staged} s WHERE {same}")

    @contextmanager
    def _staged(self, ref: TableRef, rows: pa.Table) -> Iterator[str]:
        """Keep rows in a temporary table, which no connector captures, until the block ends."""
        with self._atomic():
            names = self._names(rows.column_names)
            self.execute(
                "CREATE TEMP TABLE labctl_staged ON COMMIT DROP"
                f" AS SELECT {names} FROM {self.qualified(ref)} WITH NO DATA"
            )
            self._copy("labctl_staged", rows)
            yield "labctl_staged"
            self.execute("DROP TABLE labctl_staged")

    def capture(self, refs: Sequence[TableRef], publication: str) -> None:
        # This runs as the tables' owner, so that the connector's user need not own them.
        self._ensure_publication(publication)
        if refs:
            self.execute(identity_statement(refs))
        published = self.captured(publication)
        for ref in refs:
            if ref not in published:
                self.execute(
                    f"ALTER PUBLICATION {self.quote(publication)} ADD TABLE {self.qualified(ref)}"
                )

    def _ensure_publication(self, name: str) -> None:
        """Create the publication, or set the options it needs if labctl may alter it."""
        options = OPTIONS_OF_18 if self._connection.server_version >= _VERSION_18 else OPTIONS
        publication = read_publication(self, name)
        if publication is None:
            self.execute(f"CREATE PUBLICATION {self.quote(name)} WITH ({options})")
        elif publication.wrong and publication.is_own:
            self.execute(publication.correction)

    def captured(self, publication: str) -> set[TableRef]:
        # The view lists a partitioned table or its partitions; pg_publication_rel has the table.
        rows = self.execute(
            "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s"
            " UNION SELECT nspname, relname FROM pg_publication p"
            " JOIN pg_publication_rel r ON r.prpubid = p.oid JOIN pg_class c ON c.oid = r.prrelid"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE pubname = %s",
            (publication, publication),
        )
        return {TableRef(schema, name) for schema, name in rows}

    def release(self, ref: TableRef, publication: str) -> None:
        found = read_publication(self, publication)
        if found and not found.has_all_tables and ref in self.captured(publication):
            self.execute(
                f"ALTER PUBLICATION {self.quote(publication)} DROP TABLE {self.qualified(ref)}"
            )

    def let_read(self, user: str, schema: str) -> None:
        role, owned = self.quote(user), self.quote(schema)
        for statement in (
            f"GRANT CONNECT ON DATABASE {self.quote(self._endpoint.database)} TO {role}",
            f"GRANT USAGE ON SCHEMA {owned} TO {role}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {owned} TO {role}",
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {owned} GRANT SELECT ON TABLES TO {role}",
        ):
            repeated(partial(self.execute, statement))

    def let_signal(self, user: str, ref: TableRef) -> None:
        self.let_read(user, ref.schema)
        statement = f"GRANT INSERT ON {self.qualified(ref)} TO {self.quote(user)}"
        repeated(partial(self.execute, statement))
