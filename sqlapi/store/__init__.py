"""The service's state, in its own schema of a PostgreSQL database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

__all__ = ["Row", "Store", "storable"]

Row = dict[str, Any]
_SCHEMA = "sqlapi"
_LOCK = 8_402_117
_WAIT_SECONDS = 5.0
_UNKEPT = re.compile(r"[\x00\ud800-\udfff]")


class Store:
    """A pool of a few connections. Every statement is its own transaction."""

    def __init__(self, dsn: str, *, connections: int = 6) -> None:
        """Create or migrate the schema. Raises psycopg.OperationalError."""
        self._pool: ConnectionPool[Any] = ConnectionPool(
            make_conninfo(dsn, options=f"-c search_path={_SCHEMA} -c timezone=UTC"),
            min_size=1,
            max_size=connections,
            timeout=_WAIT_SECONDS,
            kwargs={"autocommit": True, "row_factory": dict_row},
            check=ConnectionPool.check_connection,
            open=True,
        )
        self._migrate()

    def _migrate(self) -> None:
        with self._pool.connection() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            connection.execute(
                sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(_SCHEMA))
            )
            connection.execute("CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY)")
            done = {row["name"] for row in connection.execute("SELECT name FROM migration")}
            for file in sorted(
                (files("sqlapi.store") / "migrations").iterdir(), key=lambda f: f.name
            ):
                if file.name.endswith(".sql") and file.name not in done:
                    connection.execute(file.read_text(encoding="utf-8").encode())
                    connection.execute("INSERT INTO migration VALUES (%s)", [file.name])

    def rows(self, text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Return the rows of a statement."""
        with self._pool.connection() as connection:
            cursor = connection.execute(text.encode(), storable(values))
            return list(cursor.fetchall()) if cursor.description else []

    def row(self, text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Row | None:
        """Return the first row, or None."""
        return next(iter(self.rows(text, values)), None)

    def run(self, text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> int:
        """Return the number of rows that a statement changed."""
        with self._pool.connection() as connection:
            return int(connection.execute(text.encode(), storable(values)).rowcount)

    def close(self) -> None:
        self._pool.close()


def storable(value: Any) -> Any:
    """Return the value with U+FFFD for each character that PostgreSQL cannot store.

    Error messages may have such characters. Clients' input has none (see `read_members`).
    """
    if isinstance(value, str):
        return _UNKEPT.sub("\ufffd", value)
    if isinstance(value, Jsonb):
        return Jsonb(storable(value.obj))
    if isinstance(value, Mapping):
        return {storable(key): storable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [storable(one) for one in value]
    return value
