"""What the stand-in may do in PostgreSQL, whatever a client sends; and databases set up before."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import psycopg2
import pytest
from psycopg import errors

from labctl.engines.postgres.postgres_rights import repeated
from labctl.engines.postgres.postgres_service import keep_apart, own_databases
from labctl.errors import LabError
from labctl.services.lab_services import SERVICES
from labctl.sqlserver.backend import install
from labctl.sqlserver.backend.connection import Backend
from tests.integration.sqlserver.conftest import Postgres, Sql, StandIn

SOURCE = "tickit"
"""Another database of the lab's PostgreSQL: that of a source."""
_VIEW_OF_CHANGES = (
    "DECLARE @f binary(10) = sys.fn_cdc_get_min_lsn('dbo_t'), @t binary(10) = "
    "sys.fn_cdc_get_max_lsn() SELECT [__$operation], a FROM "
    "cdc.fn_cdc_get_all_changes_dbo_t(@f, @t, N'all')"
)
_ENABLE = (
    "EXEC sys.sp_cdc_enable_db EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', "
    "@source_name = N'{}', @role_name = NULL, @supports_net_changes = 1"
)


def _role(postgres: Postgres, database: str) -> str:
    name: str = postgres.sql("SELECT mssql.service_role()", database)[0][0]
    return name


def test_clients_are_served_by_a_role_without_rights(
    sql: Sql, standin: StandIn, postgres: Postgres
) -> None:
    role = _role(postgres, standin.database)
    sql("SELECT 1")
    serving = postgres.sql(
        "SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name LIKE 'sqlserver:%' "
        f"AND datname = '{standin.database}'"
    )
    assert serving == [(role,)]
    assert postgres.sql(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, "
        f"pg_has_role(rolname, 'pg_read_server_files', 'MEMBER') FROM pg_roles "
        f"WHERE rolname = '{role}'"
    ) == [(False,) * 6]
    dsn = f"host=127.0.0.1 port={postgres.port} user={role} dbname="
    with psycopg.connect(dsn + standin.database, autocommit=True) as connection:
        for statement in (
            "COPY (SELECT 1) TO PROGRAM 'id'",
            "COPY (SELECT 1) TO '/tmp/file'",
            "SELECT pg_read_file('PG_VERSION')",
            "CREATE FUNCTION f() RETURNS integer LANGUAGE internal AS 'int4um'",
            "CREATE ROLE another",
            "ALTER SYSTEM SET work_mem = '8MB'",
            "CREATE OR REPLACE FUNCTION mssql.len(text) RETURNS integer LANGUAGE sql RETURN 1",
            "SET ROLE postgres",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(statement)


def test_the_role_cannot_reach_the_labs_other_databases(
    standin: StandIn, postgres: Postgres
) -> None:
    role = _role(postgres, standin.database)
    postgres.sql("CREATE ROLE debezium LOGIN")
    for name in (SOURCE, *own_databases(SERVICES)):
        postgres.sql(f'CREATE DATABASE "{name}"')
    with contextlib.closing(psycopg2.connect(postgres.dsn())) as connection:
        keep_apart(connection.cursor(), [SOURCE], own_databases(SERVICES))
        connection.commit()
    for name in ("postgres", "template1", SOURCE, *own_databases(SERVICES)):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            psycopg.connect(f"host=127.0.0.1 port={postgres.port} user={role} dbname={name}")
    psycopg.connect(f"host=127.0.0.1 port={postgres.port} user=debezium dbname={SOURCE}").close()


def test_changes_of_the_same_rights_at_once_are_all_made(postgres: Postgres) -> None:
    """PostgreSQL refuses one that meets another."""
    postgres.sql("CREATE DATABASE met")

    def change(_: int) -> None:
        with contextlib.closing(psycopg2.connect(postgres.dsn())) as connection:
            connection.autocommit = True
            for _ in range(100):
                repeated(partial(keep_apart, connection.cursor(), ["met"], []))

    postgres.sql("DO $$ BEGIN CREATE ROLE debezium; EXCEPTION WHEN OTHERS THEN NULL; END $$")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))


def test_names_that_look_like_sql_are_captured_like_any(sql: Sql) -> None:
    """Capturing makes functions of names: they are quoted at every level."""
    hostile = "t$body$;'\"%s--"
    name = hostile.replace("'", "''")
    sql(f"CREATE TABLE [{hostile}] ([100%] int PRIMARY KEY, [a$make$'\\] varchar(10))")
    sql(_ENABLE.format(name))
    sql(f"INSERT INTO [{hostile}] VALUES (1, 'x')")
    sql(f"UPDATE [{hostile}] SET [100%] = 2, [a$make$'\\] = 'y'")
    assert sql(f"SELECT [__$operation], [100%], [a$make$'\\] FROM cdc.[dbo_{hostile}_CT]") == [
        (2, 1, "x"), (1, 1, "x"), (2, 2, "y"),
    ]  # fmt: skip
    sql(f"DROP TABLE [{hostile}]")
    assert sql.error("CREATE DATABASE [a.b]") == 40517


def test_changed_functions_and_views_are_replaced_and_rows_stay(
    postgres: Postgres, tmp_path: Path
) -> None:
    """What other clients of PostgreSQL have made is given to the role."""
    postgres.sql("CREATE DATABASE older")
    server = StandIn(postgres, "older", tmp_path)
    server.start()
    run = Sql(server.connect())
    run("CREATE DATABASE kept")
    run("USE kept")
    run("CREATE TABLE dbo.t (id int IDENTITY PRIMARY KEY, a varchar(10), d int DEFAULT 4)")
    run("CREATE VIEW dbo.v AS SELECT a FROM dbo.t")
    run(_ENABLE.format("t"))
    run("INSERT INTO t (a) VALUES ('before')")
    server.stop()
    role = _role(postgres, "older")
    postgres.sql(
        f"ALTER ROLE {role} SUPERUSER; UPDATE mssql.version SET definitions = ''; "
        "CREATE OR REPLACE FUNCTION mssql.len(text) RETURNS integer LANGUAGE sql RETURN 0; "
        'DROP VIEW IF EXISTS "kept.sys".tables CASCADE; '
        'ALTER TABLE "kept.dbo".t OWNER TO postgres; '
        'ALTER VIEW "kept.cdc".dbo_t_ct OWNER TO postgres; '
        'ALTER SCHEMA "kept.dbo" OWNER TO postgres',
        "older",
    )
    server.start()
    try:
        run = Sql(server.connect("kept"))
        run("INSERT INTO t (a) VALUES (REPLICATE('x', LEN('after')))")
        run("ALTER TABLE t ADD b int")
        assert run("SELECT a FROM v") == [("before",), ("xxxxx",)]
        assert run(_VIEW_OF_CHANGES) == [(2, "before"), (2, "xxxxx")]
        assert ("t",) in run("SELECT name FROM sys.tables")
        (name,) = run("SELECT name FROM sys.default_constraints")[0]
        run(f"ALTER TABLE t DROP CONSTRAINT {name}")
        assert postgres.sql(f"SELECT rolsuper FROM pg_roles WHERE rolname = '{role}'") == [(False,)]
    finally:
        server.stop()
    for change in (
        "UPDATE mssql.version SET foundation = foundation - 1",
        "UPDATE mssql.version SET foundation = 1000",
        "DROP TABLE mssql.version CASCADE",
    ):
        postgres.sql(change, "older")
        with pytest.raises(LabError, match="another version") as raised:
            asyncio.run(_install(postgres.dsn("older")))
        assert "labctl destroy" in (raised.value.hint or "")


async def _install(dsn: str) -> None:
    backend = await Backend.open(dsn, "test")
    try:
        await install.install(backend)
    finally:
        await backend.close()
