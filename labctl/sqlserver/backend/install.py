# ruff: noqa: S608 - SQL is written here on purpose: names are quoted, texts are literals
"""Installing the SQL this server keeps in PostgreSQL."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from labctl.errors import ExitCode, LabError
from labctl.sqlserver.backend.connection import Backend, PgError

__all__ = ["install"]

_PARTS = (
    ("catalog", "types.sql"),
    ("catalog", "functions.sql"),
    ("catalog", "tables.sql"),
    ("catalog", "catalog.sql"),
    ("catalog", "databases.sql"),
    ("cdc", "capture.sql"),
    ("cdc", "reading.sql"),
    ("catalog", "procedures.sql"),
)
_OLDEST = 180_000
_LOCK = 7_261_433


async def install(backend: Backend) -> None:
    """Install into an empty PostgreSQL database, or check what an earlier start installed.

    Raises `LabError` when PostgreSQL is older than 18, when the role is no superuser, or when the
    database holds another version of this server's objects.
    """
    version = (await backend.rows("SELECT current_setting('server_version_num')"))[0][0]
    if int(version or 0) < _OLDEST:
        raise LabError(
            f"the SQL Server stand-in needs PostgreSQL 18 or newer, this one is {version}",
            exit_code=ExitCode.ENVIRONMENT,
        )
    package = files("labctl.sqlserver")
    text = "\n".join(package.joinpath(*part).read_text("utf-8") for part in _PARTS)
    digest = hashlib.sha256(text.encode()).hexdigest()
    await backend.simple(f"SELECT pg_advisory_lock({_LOCK})")
    try:
        found = await _installed(backend)
        if found is None:
            await backend.simple(
                f"BEGIN; {text}; "
                "SELECT mssql.create_database(n) "
                "FROM unnest(ARRAY['master', 'tempdb', 'model', 'msdb']) n; "
                f"COMMENT ON SCHEMA mssql IS '{digest}'; COMMIT"
            )
        elif found != digest:
            raise LabError(
                "this database was set up by another version of the SQL Server stand-in",
                hint="point the stand-in at a new, empty PostgreSQL database",
            )
    except PgError as error:
        await backend.simple("ROLLBACK")
        raise LabError(
            f"PostgreSQL refused the stand-in's objects: {error.message}",
            hint="the role must be a superuser of PostgreSQL 18 or newer",
            details=(error.detail,) if error.detail else (),
        ) from None
    finally:
        await backend.simple(f"SELECT pg_advisory_unlock({_LOCK})")


async def _installed(backend: Backend) -> str | None:
    rows = await backend.rows(
        "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace "
        "WHERE nspname = 'mssql'"
    )
    return rows[0][0] if rows else None
