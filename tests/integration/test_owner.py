"""Whoever writes a schema file is the owner of a source's database, and no administrator."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from labctl.config.endpoints import Database, Endpoints
from labctl.engines.mysql import mysql_service as mysql
from labctl.engines.postgres import postgres_service as postgres
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.services.handing_over import hand_over
from labctl.sources import (
    CDC_USER,
    ENGINES,
    Source,
    TableRef,
    connect,
    connect_server,
    ensure_database,
)
from labctl.sources.scripts import read_script, run_statements

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def scratch(endpoints: Endpoints) -> Iterator[Endpoints]:
    """The lab's servers, each with one source of the module's own."""
    name = f"owned_{uuid.uuid4().hex[:12]}"
    sources = {
        engine: endpoints.sources[engine].model_copy(update={"database": name, "schemas": (name,)})
        for engine in ("postgres", "mysql")
    }
    made = endpoints.model_copy(update={"sources": sources})
    for engine in sources:
        ensure_database(made, engine)
    yield made
    for engine, what in (("postgres", "DATABASE {} WITH (FORCE)"), ("mysql", "DATABASE {}")):
        with connect_server(made, engine) as server:
            server.execute(f"DROP {what.format(name)}")


def server_in(endpoints: Endpoints, engine: str) -> Database:
    """The source's database, as the administrator."""
    source = endpoints.sources[engine]
    server = endpoints.servers[source.engine]
    assert server is not None
    return server.model_copy(update={"database": source.database})


def administrator(endpoints: Endpoints, engine: str) -> Source:
    """The administrator in the source's database, where labctl makes no such connection."""
    return ENGINES[endpoints.sources[engine].engine].client(server_in(endpoints, engine))


def refused(source: Source, folder: Path, text: str) -> LabError:
    """The one error that a schema file ends in."""
    file = folder / "shop.sql"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LabError) as raised:
        run_statements(source, file, read_script(file, source.engine))
    error = raised.value
    assert error.what.startswith(f"{file}:1: "), error.what
    assert error.details[0] in text
    assert error.exit_code is ExitCode.USAGE
    return error


POSTGRES_REFUSED = [
    "COPY (SELECT 1) TO PROGRAM 'touch {canary}'",
    "COPY (SELECT 1) TO '{canary}'",
    "CREATE TABLE t (line text); COPY t FROM '/etc/passwd'",
    "CREATE TABLE t (line text); COPY t FROM PROGRAM 'touch {canary}'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('PG_VERSION')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(lo_create(0), '{canary}')",
    "CREATE ROLE mighty SUPERUSER",
    "CREATE ROLE other",
    "CREATE DATABASE other",
    "ALTER ROLE labctl_owner SUPERUSER",
    "ALTER ROLE labctl_owner REPLICATION",
    "ALTER ROLE labctl PASSWORD 'known'",
    "ALTER ROLE debezium SUPERUSER",
    "GRANT pg_execute_server_program TO labctl_owner",
    "GRANT labctl TO labctl_owner",
    "SET ROLE labctl",
    "SET SESSION AUTHORIZATION labctl",
    "SET ROLE debezium",
    "ALTER SYSTEM SET archive_command = 'touch {canary}'",
    "SELECT pg_reload_conf()",
    "SET session_preload_libraries = 'x'",
    "ALTER DATABASE {database} SET session_preload_libraries = 'x'",
    "LOAD '/tmp/x.so'",
    "CREATE EXTENSION dblink",
    "CREATE EXTENSION file_fdw",
    "CREATE EXTENSION adminpack",
    "CREATE EXTENSION plpython3u",
    "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/tmp/x.so'",
    "CREATE FUNCTION f() RETURNS text LANGUAGE internal AS 'pg_read_file'",
    "CREATE FUNCTION e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
    " CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION e()",
    "CREATE PUBLICATION everything FOR ALL TABLES",
    "CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p",
    "SELECT pg_create_physical_replication_slot('mine')",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'labctl'"
    " UNION ALL SELECT 1 / 0 IS NULL",
    "DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch {canary}'''; END $$",
    "CREATE TABLESPACE t LOCATION '/tmp'",
]
MYSQL_REFUSED = [
    "SELECT 1 INTO OUTFILE '{canary}'",
    "SELECT 1 INTO DUMPFILE '{canary}'",
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE {database}.lines",
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE {database}.lines",
    "CREATE USER mighty",
    "ALTER USER labctl_admin IDENTIFIED BY 'known'",
    "GRANT ALL ON *.* TO labctl",
    "GRANT FILE ON *.* TO labctl",
    "SET GLOBAL local_infile = 1",
    "SET PERSIST max_connections = 7",
    "INSTALL PLUGIN x SONAME 'x.so'",
    "INSTALL COMPONENT 'file://component_validate_password'",
    "CREATE FUNCTION sys_exec RETURNS string SONAME 'x.so'",
    "SELECT * FROM mysql.user",
    "CREATE DATABASE another",
    "SHUTDOWN",
    "CREATE TABLE {database}.elsewhere (id integer) DATA DIRECTORY = '/tmp'",
    "CREATE TABLE {database}.elsewhere (id integer) ENGINE = MyISAM DATA DIRECTORY = '/tmp'",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')",
    "CREATE DEFINER=labctl_admin TRIGGER {database}.raised BEFORE INSERT ON {database}.lines"
    " FOR EACH ROW SET NEW.line = LOAD_FILE('/etc/passwd')",
    "CREATE DEFINER='root'@'localhost' VIEW {database}.v AS SELECT 1",
    "CREATE DEFINER=labctl_admin PROCEDURE {database}.p() SELECT 1",
    "CREATE DEFINER=labctl_admin EVENT {database}.e ON SCHEDULE EVERY 1 SECOND DO SET @x = 1",
]


@pytest.mark.parametrize("statement", POSTGRES_REFUSED)
def test_a_schema_file_cannot_reach_beyond_its_database_in_postgresql(
    statement: str, scratch: Endpoints, tmp_path: Path
) -> None:
    cannot_reach(scratch, "postgres", statement, tmp_path)


@pytest.mark.parametrize("statement", MYSQL_REFUSED)
def test_a_schema_file_cannot_reach_beyond_its_databases_in_mysql(
    statement: str, scratch: Endpoints, tmp_path: Path
) -> None:
    database = scratch.sources["mysql"].database
    with connect(scratch, "mysql") as source:
        source.execute(f"CREATE TABLE IF NOT EXISTS {database}.lines (line text)")
    cannot_reach(scratch, "mysql", statement, tmp_path)


def cannot_reach(scratch: Endpoints, engine: str, statement: str, folder: Path) -> None:
    canary = Path("/tmp") / f"labctl-canary-{uuid.uuid4().hex}"  # noqa: S108 - any user may write
    names = {"canary": canary, "database": scratch.sources[engine].database}
    text = (
        statement.format(**names)
        if "$$" not in statement
        else statement.replace("{canary}", str(canary))
    )
    with connect(scratch, engine) as source:
        error = refused(source, folder, text)
    assert not canary.exists()
    assert error.hint is not None


def test_a_file_function_of_mysql_reads_nothing(scratch: Endpoints) -> None:
    with connect(scratch, "mysql") as source:
        assert source.execute("SELECT LOAD_FILE('/etc/passwd')") == [(None,)]


def test_what_a_schema_file_may_do(scratch: Endpoints) -> None:
    """Schemas, tables, functions, triggers, views, and extensions that PostgreSQL trusts."""
    with connect(scratch, "postgres") as source:
        for statement in (
            "CREATE EXTENSION IF NOT EXISTS pg_trgm",
            "CREATE SCHEMA shop",
            "CREATE TYPE shop.size AS ENUM ('s', 'm')",
            "CREATE TABLE shop.item (id serial PRIMARY KEY, size shop.size)",
            "CREATE VIEW shop.small AS SELECT id FROM shop.item WHERE size = 's'",
            "CREATE TABLE in_public (id integer)",
            "CREATE TEMPORARY TABLE t (id integer)",
            "DROP SCHEMA shop CASCADE",
            "DROP TABLE in_public",
        ):
            source.execute(statement)
    name = scratch.sources["mysql"].database
    with connect(scratch, "mysql") as source:
        for statement in (
            f"CREATE TABLE {name}.item (id integer PRIMARY KEY)",
            f"CREATE TRIGGER {name}.doubled BEFORE INSERT ON {name}.item FOR EACH ROW"
            " SET NEW.id = 2 * NEW.id",
            f"CREATE FUNCTION {name}.two() RETURNS int DETERMINISTIC RETURN 2",
            f"CREATE VIEW {name}.items AS SELECT * FROM {name}.item",
            f"CREATE EVENT {name}.later ON SCHEDULE AT now() + INTERVAL 1 DAY DO SET @x = 1",
            f"INSERT INTO {name}.item VALUES ({name}.two())",
        ):
            source.execute(statement)
        assert source.execute(f"SELECT id FROM {name}.items") == [(4,)]


SPIES = """
CREATE SCHEMA trap;
CREATE TABLE trap.seen (who text);
CREATE FUNCTION public.spy() RETURNS void LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO trap.seen VALUES (current_user); END $$;
CREATE FUNCTION trap.fired() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM public.spy(); RETURN NEW; END $$;
CREATE TABLE trap.bait (id integer PRIMARY KEY, v text);
CREATE TRIGGER fired BEFORE INSERT OR UPDATE OR DELETE ON trap.bait
    FOR EACH ROW EXECUTE FUNCTION trap.fired();
CREATE FUNCTION public.format_type(oid, integer) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN PERFORM public.spy(); RETURN pg_catalog.format_type($1, $2); END $$;
CREATE FUNCTION public.equal(name, text) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN PERFORM public.spy(); RETURN $1::text OPERATOR(pg_catalog.=) $2; END $$;
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = text, FUNCTION = public.equal);
CREATE VIEW trap.looked AS SELECT 1 AS id FROM public.spy();
ALTER DATABASE {database} SET search_path = public, trap, pg_catalog;
"""


def test_nothing_of_a_source_runs_as_the_administrator(scratch: Endpoints) -> None:
    """Whatever labctl does with a table, code of its owner sees nobody but the owner."""
    database = scratch.sources["postgres"].database
    ref = TableRef("trap", "bait")
    with connect(scratch, "postgres") as source:
        for statement in SPIES.replace("{database}", database).split(";\n"):
            if statement.strip():
                source.execute(statement)
    with connect(scratch, "postgres") as source:
        source.execute("INSERT INTO trap.bait VALUES (1, 'x')")
        source.capture([ref], "everything")
        source.let_read(CDC_USER, "trap")
        source.upsert(ref, source.read(ref))
        source.describe(ref)
        source.comments(ref)
        source.execute("SELECT id FROM trap.looked")
        # One that the administrator made, of this module's own code.
        with administrator(scratch, "postgres") as admin:
            admin.execute("SET search_path = pg_catalog")
            admin.execute("CREATE TABLE trap.by_hand (id integer)")
        hand_over(server_in(scratch, "postgres"), postgres.OWNER)
        seen = {who for (who,) in source.execute("SELECT who FROM trap.seen")}
        assert seen == {postgres.OWNER}
        assert source.execute(
            "SELECT pg_catalog.pg_get_userbyid(relowner) FROM pg_class WHERE oid"
            " OPERATOR(pg_catalog.=) 'trap.by_hand'::regclass"
        ) == [(postgres.OWNER,)]
        source.execute(f"ALTER DATABASE {database} RESET search_path")
        source.execute("DROP SCHEMA trap CASCADE")


BY_HAND = """
CREATE SCHEMA older;
CREATE TYPE older.size AS ENUM ('s', 'm');
CREATE TYPE older.pair AS (a integer, b integer);
CREATE DOMAIN older.positive AS integer CHECK (VALUE > 0);
CREATE TYPE older.span AS RANGE (subtype = integer);
CREATE TABLE older.item (id serial PRIMARY KEY, size older.size, other integer GENERATED ALWAYS
    AS IDENTITY);
CREATE TABLE older.parted (id integer) PARTITION BY RANGE (id);
CREATE TABLE older.part PARTITION OF older.parted FOR VALUES FROM (1) TO (9);
CREATE SEQUENCE older.numbers;
CREATE VIEW older.items AS SELECT * FROM older.item;
CREATE MATERIALIZED VIEW older.kept AS SELECT * FROM older.item;
CREATE STATISTICS older.both ON id, size FROM older.item;
CREATE FUNCTION older.mighty() RETURNS text LANGUAGE sql SECURITY DEFINER
    AS 'SELECT current_user::text';
CREATE PROCEDURE older.nothing() LANGUAGE sql AS '';
CREATE AGGREGATE older.total(integer) (SFUNC = int4pl, STYPE = integer);
CREATE AGGREGATE older.rows(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0');
CREATE FUNCTION older.same(older.pair, older.pair) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR older.=== (LEFTARG = older.pair, RIGHTARG = older.pair, FUNCTION = older.same);
CREATE TEXT SEARCH CONFIGURATION older.words (COPY = simple);
CREATE COLLATION older.plain FROM "C";
CREATE PUBLICATION older_debezium FOR TABLE older.item;
CREATE EXTENSION citext SCHEMA older;
SELECT lo_create(0)
"""
_NOT_THE_OWNERS = """
SELECT name FROM (
    SELECT relname, relowner FROM pg_class WHERE relnamespace = 'older'::regnamespace
    UNION ALL SELECT proname, proowner FROM pg_proc p WHERE pronamespace = 'older'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype IN ('e', 'i'))
    UNION ALL SELECT typname, typowner FROM pg_type WHERE typnamespace = 'older'::regnamespace
        AND typname NOT LIKE '%%citext'
    UNION ALL SELECT oprname, oprowner FROM pg_operator WHERE oprname = '==='
    UNION ALL SELECT collname, collowner FROM pg_collation WHERE collname = 'plain'
    UNION ALL SELECT cfgname, cfgowner FROM pg_ts_config WHERE cfgname = 'words'
    UNION ALL SELECT stxname, stxowner FROM pg_statistic_ext
    UNION ALL SELECT pubname, pubowner FROM pg_publication WHERE pubname = 'older_debezium'
    UNION ALL SELECT 'large object', lomowner FROM pg_largeobject_metadata
    UNION ALL SELECT nspname, nspowner FROM pg_namespace WHERE nspname = 'older'
    UNION ALL SELECT datname, datdba FROM pg_database WHERE datname = current_database()
) things (name, owner) WHERE pg_get_userbyid(owner) <> %s
"""


def test_up_gives_what_the_administrator_has_made_to_the_owner(databases: Lab) -> None:
    """All but extensions; and what ran with the administrator's rights runs with the owner's."""
    endpoints, ref = databases.endpoints, TableRef("older", "item")
    with administrator(endpoints, "postgres") as admin:
        for statement in BY_HAND.split(";\n"):
            admin.execute(statement)
        admin.execute(
            f"ALTER DATABASE {admin.quote(endpoints.sources['postgres'].database)}"
            f" OWNER TO {postgres.ADMIN}"
        )
        try:
            for _ in range(2):
                postgres.SERVICE.setup(databases.context(postgres.SERVICE))
                assert admin.execute(_NOT_THE_OWNERS, (postgres.OWNER,)) == []
            with connect(endpoints, "postgres") as source:
                source.capture([ref, TableRef("older", "part")], "older_debezium")
                source.let_read(CDC_USER, "older")
                assert source.execute("SELECT older.mighty()") == [(postgres.OWNER,)]
            assert admin.execute("SELECT older.mighty()") == [(postgres.OWNER,)]
        finally:
            admin.execute("DROP PUBLICATION older_debezium")
            admin.execute("DROP SCHEMA older CASCADE")
            admin.execute("SELECT lo_unlink(oid) FROM pg_largeobject_metadata")


def test_the_owner_in_mysql_has_all_rights_in_its_databases_and_no_others(databases: Lab) -> None:
    with connect(databases.endpoints, "mysql") as source:
        grants = {grant for (grant,) in source.execute("SHOW GRANTS")}
    schemas = {s for one in databases.config.sources_of("mysql").values() for s in one.schemas}
    escaped = {schema.replace("_", "\\_") for schema in schemas}
    assert {grant for grant in grants if "*.*" in grant} == {
        f"GRANT USAGE ON *.* TO `{mysql.OWNER}`@`%`"
    }
    assert grants >= {
        f"GRANT ALL PRIVILEGES ON `{schema}`.* TO `{mysql.OWNER}`@`%`" for schema in escaped
    }
