"""Installation of this server's SQL in PostgreSQL, and of the role that serves clients.

The installation has two parts. The foundation consists of types and tables, which hold data: a
database whose foundation has another version is refused. Functions and views hold no data: they
are replaced if their text has changed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from importlib.resources import files

from psycopg.sql import SQL, Literal

from labctl.errors import ExitCode, LabError
from labctl.sqlserver.backend.connection import Backend, PgError

__all__ = ["install", "reachable_databases"]

_PACKAGE = files("labctl.sqlserver")
_PARTS = (
    ("catalog", "types.sql"),
    ("catalog", "functions.sql"),
    ("catalog", "json.sql"),
    ("catalog", "format.sql"),
    ("catalog", "tables.sql"),
    ("catalog", "catalog.sql"),
    ("catalog", "databases.sql"),
    ("catalog", "definitions.sql"),
    ("cdc", "capture.sql"),
    ("cdc", "reading.sql"),
    ("catalog", "procedures.sql"),
    ("catalog", "rights.sql"),
)
"""The SQL files in dependency order."""
_FOUNDATION = {("catalog", "types.sql"), ("catalog", "tables.sql")}
FOUNDATION_VERSION = 4
"""Version of types and tables. Increase it whenever their text changes."""
_OLDEST = 180_000
_LOCK = 7_261_433
_START_ANEW = "point the stand-in at a new, empty PostgreSQL database (a lab: `labctl destroy`)"


async def install(backend: Backend) -> tuple[str, str]:
    """Install into an empty PostgreSQL database, or replace what has changed in an installation.

    Returns the name and the password of the role that serves clients; the password is new each
    time. Raises `LabError`, with nothing changed, if PostgreSQL is older than 18, if the role of
    `backend` is not a superuser, or if the database has an installation of another version.
    """
    number = (await backend.rows(SQL("SELECT current_setting('server_version_num')")))[0][0]
    if int(number or 0) < _OLDEST:
        raise LabError(
            f"the SQL Server stand-in needs PostgreSQL 18 or newer, this one is {number}",
            exit_code=ExitCode.ENVIRONMENT,
        )
    await backend.simple(SQL("SELECT pg_advisory_lock({})").format(Literal(_LOCK)))
    try:
        found = await _installed(backend)
        await backend.simple(SQL("BEGIN"))
        if found is None:
            await _install(backend)
        elif found != _digest():
            await _replace_definitions(backend)
        served_by = await _let_serve(backend)
        await backend.simple(SQL("COMMIT"))
    except PgError as error:
        await backend.simple(SQL("ROLLBACK"))
        raise LabError(
            f"PostgreSQL refused the stand-in's objects: {error.message}",
            hint="the role must be a superuser of PostgreSQL 18 or newer; if another version of "
            f"the stand-in was here, {_START_ANEW}",
            details=(error.detail,) if error.detail else (),
        ) from None
    finally:
        await backend.simple(SQL("SELECT pg_advisory_unlock({})").format(Literal(_LOCK)))
    return served_by


async def reachable_databases(backend: Backend, role: str) -> list[str]:
    """Return the other databases of this PostgreSQL server that `role` may connect to."""
    rows = await backend.rows(
        SQL(
            "SELECT d.datname FROM pg_database d WHERE d.datallowconn "
            "AND d.datname <> current_database() "
            "AND has_database_privilege($1::name, d.oid, 'CONNECT') ORDER BY 1"
        ),
        [role],
    )
    return [name or "" for (name,) in rows]


def _text(part: tuple[str, ...]) -> str:
    return _PACKAGE.joinpath(*part).read_text("utf-8")


def _definitions() -> str:
    return "\n".join(_text(part) for part in _PARTS if part not in _FOUNDATION)


def _digest() -> str:
    return hashlib.sha256(_definitions().encode()).hexdigest()


async def _installed(backend: Backend) -> str | None:
    """Return the digest of the functions and views in the database; None if it is empty.

    Raises `LabError` if its types and tables are of another version.
    """
    rows = await backend.rows(
        SQL("SELECT to_regclass('mssql.version') FROM pg_namespace WHERE nspname = 'mssql'")
    )
    if not rows:
        return None
    versions = (
        await backend.rows(SQL("SELECT foundation, definitions FROM mssql.version"))
        if rows[0][0] is not None
        else []
    )
    for number, digest in versions:
        if int(number or 0) == FOUNDATION_VERSION:
            return digest or ""
    raise LabError(
        "this database was set up by another version of the SQL Server stand-in",
        hint=f"use that version of labctl, or {_START_ANEW}",
        exit_code=ExitCode.ENVIRONMENT,
    )


async def _install(backend: Backend) -> None:
    for part in _PARTS:
        await _run(backend, _text(part))
    await backend.simple(
        SQL(
            "SELECT mssql.create_database(n) "
            "FROM unnest(ARRAY['master', 'tempdb', 'model', 'msdb']) n"
        )
    )
    await _remember(backend)


async def _replace_definitions(backend: Backend) -> None:
    """Replace functions and views."""
    rights = _replacing(_text(("catalog", "rights.sql")))
    await _run(backend, f"SET LOCAL check_function_bodies = off; {rights}")
    await backend.simple(SQL("SELECT mssql.drop_catalog_views()"))
    await _run(backend, _replacing(_definitions()))
    await backend.simple(SQL("SELECT mssql.install_catalog_views()"))
    await _remember(backend)


async def _run(backend: Backend, text: str) -> None:
    """Run an SQL text of this package."""
    await backend.simple(SQL(text))


_REPLACEABLE = re.compile(r"^CREATE (?=(?:FUNCTION|AGGREGATE|VIEW) )", re.MULTILINE)
_ONCE = re.compile(r"^CREATE (?:OPERATOR|CAST) .*?;$", re.MULTILINE | re.DOTALL)


def _replacing(definitions: str) -> str:
    """Return the definitions changed to replace existing ones."""
    once = _ONCE.sub(
        lambda found: (
            f"DO $once$ BEGIN {found.group()} EXCEPTION "
            "WHEN duplicate_function OR duplicate_object THEN NULL; END $once$;"
        ),
        definitions,
    )
    return _REPLACEABLE.sub("CREATE OR REPLACE ", once)


async def _remember(backend: Backend) -> None:
    remember = SQL("DELETE FROM mssql.version; INSERT INTO mssql.version VALUES ({}, {})")
    await backend.simple(remember.format(Literal(FOUNDATION_VERSION), Literal(_digest())))


async def _let_serve(backend: Backend) -> tuple[str, str]:
    role = (await backend.rows(SQL("SELECT mssql.service_role()")))[0][0] or ""
    password = secrets.token_urlsafe(24)
    await backend.rows(
        SQL("SELECT mssql.let_serve($1, $2)"), [role, backend.verifier(role, password)]
    )
    return role, password
