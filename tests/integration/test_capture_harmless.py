"""Capturing a PostgreSQL table changes the outcome of no statement of its application."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg2
import pytest

from labctl.config.endpoints import Endpoints
from labctl.engines.postgres.postgres_client import PostgresSource
from labctl.engines.postgres.postgres_limits import UNDECODED, UNSENT, UNUSUAL
from labctl.engines.postgres.postgres_row_security import policies_statement
from labctl.errors import LabError
from labctl.sources import CDC_USER, ENGINES, Preparation, Source, TableRef, connect
from labctl.sources.capture_limits import UNLOGGED
from tests.integration.test_owner import administrator

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Kind:
    """A kind of table: its columns, and what stands in its schema besides."""

    columns: str
    more: tuple[str, ...] = ()
    """Statements; `{schema}` stands for the schema's name."""
    identity: str | None = "f"
    """The replica identity once it is captured; None where capture refuses the table."""
    key: str = "id"


KEYED = "id integer PRIMARY KEY, v text"
OTHERS = "CREATE PUBLICATION {schema}_other FOR TABLE {schema}.t"
KINDS = {
    "plain": Kind(KEYED),
    "no key": Kind("id integer, v text"),
    "odd names": Kind('id integer PRIMARY KEY, v text, "Odd ""%s name" text'),
    "stored": Kind(f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) STORED"),
    "virtual": Kind(f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) VIRTUAL", identity="d"),
    "virtual with FULL": Kind(
        f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) VIRTUAL",
        ("ALTER TABLE {schema}.t REPLICA IDENTITY FULL",),
        identity="d",
    ),
    "virtual without key": Kind("id int, v text, g int GENERATED ALWAYS AS (id) VIRTUAL", (), None),
    "virtual, deferrable key": Kind(
        "id int PRIMARY KEY DEFERRABLE, v text, g text GENERATED ALWAYS AS (upper(v)) VIRTUAL",
        identity=None,
    ),
    "deferrable key": Kind("id int PRIMARY KEY DEFERRABLE, v text"),
    "identity column": Kind(
        "id integer PRIMARY KEY, v text, n bigint GENERATED ALWAYS AS IDENTITY, s serial"
    ),
    "partitioned": Kind(
        f"{KEYED}) PARTITION BY RANGE (id",
        (
            "CREATE TABLE {schema}.low PARTITION OF {schema}.t FOR VALUES FROM (0) TO (100)",
            "CREATE TABLE {schema}.high PARTITION OF {schema}.t FOR VALUES FROM (100) TO (999)",
        ),
    ),
    "partitioned, virtual": Kind(
        f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) VIRTUAL) PARTITION BY RANGE (id",
        ("CREATE TABLE {schema}.low PARTITION OF {schema}.t FOR VALUES FROM (0) TO (999)",),
        identity="d",
    ),
    "inherited": Kind(KEYED, ("CREATE TABLE {schema}.child () INHERITS ({schema}.t)",)),
    "domain": Kind(
        "id {schema}.positive PRIMARY KEY, v text",
        ("CREATE DOMAIN {schema}.positive AS integer CHECK (VALUE > 0)",),
    ),
    "row security": Kind(KEYED, ("ALTER TABLE {schema}.t ENABLE ROW LEVEL SECURITY",)),
    "row security, forced": Kind(
        KEYED,
        (
            "ALTER TABLE {schema}.t ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE {schema}.t FORCE ROW LEVEL SECURITY",
            "CREATE POLICY own ON {schema}.t USING (true)",
        ),
    ),
    "unlogged": Kind(KEYED, ("ALTER TABLE {schema}.t SET UNLOGGED",), identity=None),
    "identity FULL": Kind(KEYED, ("ALTER TABLE {schema}.t REPLICA IDENTITY FULL",)),
    "identity NOTHING": Kind(KEYED, ("ALTER TABLE {schema}.t REPLICA IDENTITY NOTHING",)),
    "identity INDEX": Kind(
        "id integer PRIMARY KEY, v text NOT NULL, CONSTRAINT own UNIQUE (id, v)",
        ("ALTER TABLE {schema}.t REPLICA IDENTITY USING INDEX own",),
    ),
    "published elsewhere": Kind(KEYED, (OTHERS,)),
    "columns published elsewhere": Kind(f"{KEYED}, n int", (f"{OTHERS} (id, v)",), identity="d"),
    "stored, published elsewhere": Kind(
        f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) STORED", (OTHERS,), identity="d"
    ),
    "stored, inserts published elsewhere": Kind(
        f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) STORED",
        (f"{OTHERS} WITH (publish = 'insert')",),
    ),
    "rows published elsewhere": Kind(KEYED, (f"{OTHERS} WHERE (id > 1)",)),
    "schema published elsewhere": Kind(
        f"{KEYED}, g text GENERATED ALWAYS AS (upper(v)) STORED",
        ("ADMIN CREATE PUBLICATION {schema}_other FOR TABLES IN SCHEMA {schema}",),
        identity="d",
    ),
}
STATEMENTS = (
    "INSERT INTO {t} (id, v) VALUES (1, 'a'), (2, 'b'), (3, 'c') RETURNING v",
    "UPDATE {t} SET v = 'x' WHERE id = 1",
    "UPDATE {t} SET id = 150 WHERE id = 2",
    "INSERT INTO {t} (id, v) VALUES (1, 'up') ON CONFLICT (id) DO UPDATE SET v = excluded.v",
    "COPY {t} (id, v) FROM STDIN",
    "MERGE INTO {t} USING (VALUES (3, 'm'), (7, 'n')) s (id, v) ON {t}.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
    "MERGE INTO {t} USING (VALUES (7)) s (id) ON {t}.id = s.id WHEN MATCHED THEN DELETE",
    "DELETE FROM {t} WHERE id = 150",
    "UPDATE {t} SET v = v",
    "DELETE FROM {t} WHERE id = 3",
    "TRUNCATE {t}",
    "INSERT INTO {t} (id, v) VALUES (9, 'last')",
)


def outcomes(source: Source, schema: str) -> list[object]:
    """What each statement answers, and what the table has then."""
    assert isinstance(source, PostgresSource)
    found: list[object] = []
    table = f"{schema}.t"
    for statement in STATEMENTS:
        with source._connection.cursor() as cursor:
            try:
                if statement.startswith("COPY"):
                    cursor.copy_expert(statement.format(t=table), io.StringIO("5\tcopied\n"))
                else:
                    cursor.execute(statement.format(t=table))
                found.append(cursor.rowcount)
            except psycopg2.Error as error:
                found.append(str(error).replace(schema, "").splitlines()[0])
            cursor.execute(f"SELECT * FROM {table} ORDER BY id, v")
            found.append(cursor.fetchall())
    return found


@pytest.fixture
def source(endpoints: Endpoints) -> Iterator[Source]:
    with connect(endpoints, "postgres") as opened:
        yield opened


@pytest.fixture
def schemas(endpoints: Endpoints, source: Source) -> Iterator[tuple[str, str]]:
    """Two schemas; what is made in them, and their publications, goes after the test."""
    names = f"a_{uuid.uuid4().hex[:8]}", f"b_{uuid.uuid4().hex[:8]}"
    for name in names:
        source.execute(f"CREATE SCHEMA {name}")
    yield names
    with administrator(endpoints, "postgres") as admin:
        for name in names:
            for (publication,) in admin.execute(
                "SELECT pubname FROM pg_publication WHERE pubname LIKE %s", (f"{name}%",)
            ):
                admin.execute(f"DROP PUBLICATION {publication}")
            admin.execute(f"DROP SCHEMA {name} CASCADE")


def make(endpoints: Endpoints, source: Source, kind: Kind, schema: str) -> None:
    """Make a table of a kind. What its columns need comes before it, all else behind."""
    more = [statement.format(schema=schema) for statement in kind.more]
    for statement in (one for one in more if "DOMAIN" in one):
        source.execute(statement)
    source.execute(f"CREATE TABLE {schema}.t ({kind.columns.replace('{schema}', schema)})")
    for statement in (one for one in more if "DOMAIN" not in one):
        if statement.startswith("ADMIN "):
            with administrator(endpoints, "postgres") as admin:
                admin.execute(statement.removeprefix("ADMIN "))
        else:
            source.execute(statement)


def identities(source: Source, schema: str) -> set[str]:
    return {
        identity
        for (identity,) in source.execute(
            "SELECT relreplident FROM pg_class WHERE relnamespace = %s::regnamespace"
            " AND (relname = 't' OR relispartition) AND relkind IN ('r', 'p')",
            (schema,),
        )
    }


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("by", ["labctl", "the SQL for RDS"])
def test_no_statement_fails_that_worked_before(
    name: str, by: str, endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    kind, (plain, captured) = KINDS[name], schemas
    for schema in schemas:
        make(endpoints, source, kind, schema)
    before = identities(source, captured)
    ref, publication = TableRef(captured, "t"), f"{captured}_debezium"
    assert before == identities(source, plain)
    try:
        for _ in range(2):
            if by == "labctl":
                source.capture([ref], publication)
            else:
                run_prepared(endpoints, source, ref, publication)
    except LabError:
        assert kind.identity is None
        if not name.startswith("virtual"):
            assert identities(source, captured) <= before | {"f"}
    else:
        assert identities(source, captured) == {kind.identity}
        assert ref in (source.captured(publication) or ())
    expected = outcomes(source, plain)
    # Only there, PostgreSQL itself refuses what the other publication does not show.
    if name != "virtual with FULL":
        assert not any("replica identity" in str(one) for one in expected)
    assert outcomes(source, captured) == expected


def run_prepared(endpoints: Endpoints, source: Source, ref: TableRef, publication: str) -> None:
    """Run what `labctl promote` writes for PostgreSQL, but for the login and its rights."""
    text = ENGINES["postgres"].preparation(
        Preparation(
            database=endpoints.sources["postgres"].database,
            schemas=(ref.schema,),
            tables=(ref,),
            user="debezium",
            publication=publication,
            published=(ref,),
            multi_az=False,
        )
    )
    blocks = text[text.index("DO $$ BEGIN\n    IF NOT EXISTS (SELECT FROM pg_publication") :]
    source.execute(blocks)


def test_a_publication_that_exists_gets_what_it_lacks(
    endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    """With FULL and a generated column that is not published, UPDATE fails."""
    schema, _ = schemas
    make(endpoints, source, KINDS["stored"], schema)
    publication = f"{schema}_debezium"
    source.execute(f"CREATE PUBLICATION {publication} FOR TABLE {schema}.t")
    source.execute(f"ALTER TABLE {schema}.t REPLICA IDENTITY FULL")
    source.execute(f"INSERT INTO {schema}.t VALUES (1, 'a')")
    with pytest.raises(LabError, match="unpublished generated columns"):
        source.execute(f"UPDATE {schema}.t SET v = 'b'")
    source.capture([TableRef(schema, "t")], publication)
    assert source.affect(f"UPDATE {schema}.t SET v = 'b'") == 1


def test_a_login_reads_the_rows_that_policies_hide(
    endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    schema, _ = schemas
    make(endpoints, source, KINDS["row security"], schema)
    source.execute(f"INSERT INTO {schema}.t VALUES (1, 'a')")
    reader, other = f"{schema}_reader", f"{schema}_other"
    with administrator(endpoints, "postgres") as admin:

        def seen_by(role: str) -> object:
            admin.execute(f"SET ROLE {role}")
            found = admin.execute(f"SELECT count(*) FROM {schema}.t")
            admin.execute("RESET ROLE")
            return found

        for role in (reader, other):
            admin.execute(f"CREATE ROLE {role}")
        for role in (reader, other, CDC_USER):
            admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
            admin.execute(f"GRANT SELECT ON {schema}.t TO {role}")
        try:
            assert seen_by(reader) == [(0,)]
            for _ in range(2):
                source.execute(policies_statement([TableRef(schema, "t")], reader))
            assert (seen_by(reader), seen_by(other)) == ([(1,)], [(0,)])
            assert seen_by(CDC_USER) == [(1,)]
            source.execute(f"CREATE POLICY narrow ON {schema}.t AS RESTRICTIVE USING (false)")
            with pytest.raises(LabError, match="restrictive policy"):
                source.execute(policies_statement([TableRef(schema, "t")], reader))
        finally:
            admin.execute("RESET ROLE")
            for role in (reader, other):
                admin.execute(f"DROP OWNED BY {role}")
                admin.execute(f"DROP ROLE {role}")


def test_a_partitioned_table_is_captured_as_one(
    endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    schema, _ = schemas
    make(endpoints, source, KINDS["partitioned"], schema)
    ref, publication = TableRef(schema, "t"), f"{schema}_debezium"
    # By default its partitions have the changes.
    source.execute(f"CREATE PUBLICATION {publication} FOR TABLE {schema}.t")
    for _ in range(2):
        source.capture([ref], publication)
    listed = "SELECT tablename FROM pg_publication_tables WHERE pubname = %s"
    assert source.execute(listed, (publication,)) == [("t",)]
    assert source.captured(publication) == {ref}
    for _ in range(2):
        source.release(ref, publication)
    assert source.captured(publication) == set()


@pytest.mark.parametrize("name", KINDS)
def test_what_is_refused_is_known_before_anything_is_changed(
    name: str, endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    kind, (schema, _) = KINDS[name], schemas
    make(endpoints, source, kind, schema)
    found = ENGINES["postgres"].limits(source, TableRef(schema, "t"), "its_own")
    assert (found.refused is not None) == (
        kind.identity is None or name in ("inherited", "row security, forced")
    )
    assert found.columns() == ({"g": UNLOGGED} if "virtual" in name else {})
    in_part = kind.identity != "f" and name != "unlogged"
    assert found.needs_reselect == (in_part or name == "partitioned")


def test_what_no_change_would_have_is_named(
    endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    """A partition, one that is not logged, and large values of types that have no placeholder."""
    schema, _ = schemas
    make(endpoints, source, KINDS["partitioned"], schema)
    limits = ENGINES["postgres"].limits
    part = limits(source, TableRef(schema, "low"), "p").refused or ""
    assert f"a partition of {schema}.t; capture that table" in part
    source.execute(
        f"CREATE UNLOGGED TABLE {schema}.lost PARTITION OF {schema}.t"
        " FOR VALUES FROM (999) TO (1000)"
    )
    assert f"changes of {schema}.lost" in (limits(source, TableRef(schema, "t"), "p").refused or "")
    source.execute(
        f"CREATE TABLE {schema}.large (id int PRIMARY KEY, g int GENERATED ALWAYS AS (id) VIRTUAL,"
        " t text, b bytea, j jsonb, names text[], ip inet, net cidr, sums numeric(10,2)[],"
        " hours tsrange)"
    )
    found = limits(source, TableRef(schema, "large"), "p")
    assert found.columns() == {"g": UNLOGGED, "sums": UNSENT, "hours": UNSENT}
    assert limits(source, TableRef(schema, "gone"), "p") == limits(source, TableRef("x", "y"), "p")


def test_columns_of_the_type_name_are_known_beneath_domains_and_in_keys(
    endpoints: Endpoints, source: Source, schemas: tuple[str, str]
) -> None:
    schema, _ = schemas
    make(endpoints, source, KINDS["plain"], schema)
    for domain, base in (("short", "name"), ("shorter", f"{schema}.short"), ("other", "text")):
        source.execute(f"CREATE DOMAIN {schema}.{domain} AS {base}")
    source.execute(
        f"CREATE TABLE {schema}.named (id int PRIMARY KEY, n name, d {schema}.shorter,"
        f" o {schema}.other, t text, v varchar(63))"
    )
    limits = ENGINES["postgres"].limits
    found = limits(source, TableRef(schema, "named"), "p")
    assert (found.columns(), found.refused) == (dict.fromkeys("nd", UNDECODED), None)
    source.execute(f"CREATE DOMAIN {schema}.tiny AS numeric(2,5)")
    source.execute(
        f"CREATE TABLE {schema}.sized (id int PRIMARY KEY, a numeric(2,5), b numeric(3,-2),"
        f" c numeric(2,5)[], d {schema}.tiny, e numeric, f numeric(5), g numeric(5,5), h numeric[])"
    )
    sized = limits(source, TableRef(schema, "sized"), "p")
    assert sized.columns() == dict.fromkeys("abcd", UNUSUAL)
    source.execute(f"CREATE TABLE {schema}.by_name (n name PRIMARY KEY)")
    refused = limits(source, TableRef(schema, "by_name"), "p").refused or ""
    assert "its key column n is of the type name" in refused
