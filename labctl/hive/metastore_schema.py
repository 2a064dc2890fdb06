"""The metastore's own tables, in its database of the lab's PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from labctl.config.endpoints import Database

__all__ = ["ensure_schema"]


def ensure_schema(database: Database, statements: Path) -> bool:
    """Create the tables with the SQL in `statements` unless they exist; return whether it did.

    All tables are created, or none. Raises psycopg2.Error.
    """
    import psycopg2

    connection = psycopg2.connect(
        host=database.host,
        port=database.port,
        user=database.user,
        password=database.password.get_secret_value(),
        dbname=database.database,
        connect_timeout=5,
    )
    try:
        with connection, connection.cursor() as cursor:
            # The statements fill VERSION last, and they set their own search path.
            cursor.execute("SELECT to_regclass('public.\"VERSION\"') IS NULL")
            row = cursor.fetchone()
            if row is None or not row[0]:
                return False
            cursor.execute(statements.read_text(encoding="utf-8"))
            return True
    finally:
        connection.close()
