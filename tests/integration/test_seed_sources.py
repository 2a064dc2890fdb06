"""Reading and changing real databases, for every type at its limits."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import labctl.cli.init  # noqa: F401 - registers its command
from labctl.cli.app import root
from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import LabConfig
from labctl.engines.postgres.postgres_sql_files import label_literal
from labctl.errors import LabError
from labctl.scaffolding.existing import existing_source
from labctl.scaffolding.foreign import type_text
from labctl.scaffolding.new_source import NewSource
from labctl.sources import (
    ENGINES,
    Rollback,
    Source,
    TableKeys,
    TableRef,
    UnreadColumn,
    connect,
    connect_server,
    ensure_database,
)
from labctl.sources.scripts import split_script
from labctl.tables import lab_tables
from labctl.verify import verify_table
from labctl.verify.pairs import lost_values

EPOCH = dt.datetime(1970, 1, 1)
Case = tuple[str, list[str], Sequence[object]]
"""Column type, values as SQL literals, and the same values as silver has them."""


def micros(text: str) -> int:
    return (dt.datetime.fromisoformat(text) - EPOCH) // dt.timedelta(microseconds=1)


TEXTS = ["''", "' a '", "'it''s, \"quoted\"\r\nnext'", "'😀 Ünïcode'", "NULL"]
TEXT_VALUES = ["", " a ", 'it\'s, "quoted"\r\nnext', "😀 Ünïcode", None]
NINES = "9" * 38
WIDE = f"{'9' * 35}.{'9' * 30}"

POSTGRES_CASES: list[Case] = [
    ("smallint", ["-32768", "32767", "NULL"], [-32768, 32767, None]),
    ("integer", ["-2147483648", "2147483647"], [-(2**31), 2**31 - 1]),
    ("bigint", ["-9223372036854775808", "9223372036854775807"], [-(2**63), 2**63 - 1]),
    (
        "numeric(8,2)",
        ["-999999.99", "0.10", "NULL"],
        [Decimal("-999999.99"), Decimal("0.10"), None],
    ),
    ("numeric(38,0)", [NINES], [Decimal(NINES)]),
    (
        "numeric(50,10)",
        [f"-{'9' * 40}.5", "0.10", "NULL"],
        [f"-{'9' * 40}.5000000000", "0.1000000000", None],
    ),
    ("numeric", ["1.500", "-0.0000000001"], ["1.5", "-0.0000000001"]),
    (
        "real",
        ["'NaN'", "3.4028235e38", "0.1"],
        [float("nan"), 3.4028234663852886e38, 0.10000000149011612],
    ),
    (
        "double precision",
        ["'-0'", "'Infinity'", "5e-324", "0.1"],
        [-0.0, float("inf"), 5e-324, 0.1],
    ),
    ("boolean", ["true", "false", "NULL"], [True, False, None]),
    ("varchar(100)", TEXTS, TEXT_VALUES),
    ("text", TEXTS, TEXT_VALUES),
    ("char(4)", ["'ab'", "''"], ["ab  ", "    "]),
    ("uuid", ["'00000000-0000-0000-0000-00000000000a'"], ["00000000-0000-0000-0000-00000000000a"]),
    ("jsonb", ["'{\"a\": [1, null]}'"], ['{"a": [1, null]}']),
    ("bytea", ["'\\x00ff'", "''", "NULL"], [b"\x00\xff", b"", None]),
    ("date", ["'0001-01-01'", "'9999-12-31'", "NULL"], [dt.date.min, dt.date.max, None]),
    (
        "timestamp",
        ["'0001-01-01'", "'2008-01-01 00:00:00.000001'", "'9999-12-31 23:59:59.999999'"],
        [
            micros("0001-01-01"),
            micros("2008-01-01 00:00:00.000001"),
            micros("9999-12-31 23:59:59.999999"),
        ],
    ),
    ("timestamptz", ["'2008-01-01 02:00:00.5+02'"], [micros("2008-01-01 00:00:00.500000")]),
    ("time", ["'00:00:00.000001'", "'24:00:00'"], [1, 86_400_000_000]),
]
MYSQL_CASES: list[Case] = [
    ("boolean", ["true", "false", "NULL", "2", "-1"], [1, 0, None, 2, -1]),
    ("tinyint", ["-128", "127"], [-128, 127]),
    ("smallint unsigned", ["0", "65535"], [0, 65535]),
    ("mediumint", ["-8388608"], [-8388608]),
    ("integer", ["-2147483648", "NULL"], [-(2**31), None]),
    ("int unsigned", ["4294967295"], [2**32 - 1]),
    ("bigint", ["-9223372036854775808"], [-(2**63)]),
    (
        "bigint unsigned",
        ["18446744073709551615", "0", "NULL"],
        [Decimal(2**64 - 1), Decimal(0), None],
    ),
    (
        "decimal(8,2)",
        ["-999999.99", "0.10", "NULL"],
        [Decimal("-999999.99"), Decimal("0.10"), None],
    ),
    ("decimal(38,0)", [NINES], [Decimal(NINES)]),
    ("decimal(65,30)", [f"-{WIDE}", "0", "NULL"], [f"-{WIDE}", f"0.{'0' * 30}", None]),
    ("bit(1)", ["1", "0", "NULL"], [True, False, None]),
    ("bit(64)", ["18446744073709551615", "1", "NULL"], [b"\xff" * 8, b"\1" + b"\0" * 7, None]),
    (
        "json",
        ["""'{"it''s": [1.50, null, "a\\\\"b"]}'""", "'null'", "NULL"],
        ['{"it\'s": [1.5, null, "a\\"b"]}', "null", None],
    ),
    ("float", ["16777216", "0.1"], [16777216.0, 0.10000000149011612]),
    (
        "double",
        ["1.7976931348623157e308", "0.1", "2.2250738585072014e-308"],
        [1.7976931348623157e308, 0.1, 2.2250738585072014e-308],
    ),
    ("varchar(100)", TEXTS, TEXT_VALUES),
    ("longtext", ["'a\\\\b'", "NULL"], ["a\\b", None]),
    ("char(4)", ["'ab'", "''"], ["ab", ""]),
    ("enum('x','y')", ["'y'"], ["y"]),
    ("blob", ["x'00ff'", "''", "NULL"], [b"\x00\xff", b"", None]),
    ("binary(3)", ["x'01'"], [b"\x01\x00\x00"]),
    ("year", ["1901", "2155"], [1901, 2155]),
    ("date", ["'1000-01-01'", "'9999-12-31'", "NULL"], [dt.date(1000, 1, 1), dt.date.max, None]),
    (
        "datetime(6)",
        ["'1000-01-01'", "'2008-01-01 00:00:00.000001'", "'9999-12-31 23:59:59.999999'", "NULL"],
        [
            micros("1000-01-01"),
            micros("2008-01-01 00:00:00.000001"),
            micros("9999-12-31 23:59:59.999999"),
            None,
        ],
    ),
    ("datetime", ["'2008-02-29 23:59:59'"], [micros("2008-02-29 23:59:59")]),
    ("timestamp(6)", ["'2038-01-19 03:14:07.499999'"], [micros("2038-01-19 03:14:07.499999")]),
    (
        "time(6)",
        ["'-838:59:59'", "'00:00:00.000001'", "'-00:00:00.5'"],
        [-3020399000000, 1, -500000],
    ),
    ("time", ["'12:34:56'"], [45296000000]),
]
SQLSERVER_CASES: list[Case] = [
    ("bit", ["1", "0", "NULL"], [True, False, None]),
    (
        "money",
        ["-922337203685477.5808", "0.0001"],
        [Decimal("-922337203685477.5808"), Decimal("0.0001")],
    ),
    (
        "decimal(38,10)",
        ["-1234567890123456789012345678.0123456789"],
        [Decimal("-1234567890123456789012345678.0123456789")],
    ),
    ("nvarchar(max)", ["N''", "REPLICATE(N'𝄞', 4000)", "N'  x '"], ["", "𝄞" * 4000, "  x "]),
    ("nchar(3)", ["N'ﷺ'"], ["ﷺ  "]),
    ("varbinary(max)", ["0x", "0x00ff"], [b"", b"\x00\xff"]),
    (
        "uniqueidentifier",
        ["'123e4567-e89b-12d3-a456-42661417400f'"],
        ["123E4567-E89B-12D3-A456-42661417400F"],
    ),
    ("date", ["'0001-01-01'", "'9999-12-31'", "NULL"], [dt.date.min, dt.date.max, None]),
    ("datetime", ["'2008-02-29T23:59:59.997'"], [micros("2008-02-29 23:59:59.997")]),
    ("datetime2(6)", ["'9999-12-31T23:59:59.999999'"], [micros("9999-12-31 23:59:59.999999")]),
    ("datetime2", ["'1969-12-31T23:59:59.999999'"], [-1000]),
    ("time", ["'23:59:59.999999'", "'00:00:00'"], [86_399_999_999_000, 0]),
    ("time(3)", ["'12:34:56.789'"], [45_296_789_000]),
]
CASES = [
    *(("postgres", case) for case in POSTGRES_CASES),
    *(("mysql", case) for case in MYSQL_CASES),
    *(("sqlserver", case) for case in SQLSERVER_CASES),
]


CASES_OF = {
    "postgres": POSTGRES_CASES,
    "mysql": MYSQL_CASES,
    "sqlserver": SQLSERVER_CASES,
}


@pytest.fixture(scope="module")
def schemas(endpoints: Endpoints) -> Iterator[str]:
    """The name of a schema of this module's own, in every engine."""
    name = f"sources_{uuid.uuid4().hex[:12]}"
    for engine in ("postgres", "sqlserver"):
        with connect(endpoints, engine) as source:
            source.execute(f"CREATE SCHEMA {name}")
    mysql = endpoints.sources["mysql"].model_copy(update={"schemas": (name,)})
    ensure_database(endpoints.model_copy(update={"sources": {"mysql": mysql}}), "mysql")
    yield name
    with connect(endpoints, "postgres") as source:
        source.execute(f"DROP SCHEMA {name} CASCADE")
    with connect(endpoints, "mysql") as source:
        source.execute(f"DROP SCHEMA {name}")
    with connect(endpoints, "sqlserver") as source:
        for table in source.tables(name):
            source.execute(f"DROP TABLE {source.qualified(table)}")
        source.execute(f"DROP SCHEMA {name}")


@pytest.fixture(params=ENGINES)
def source(request: pytest.FixtureRequest, endpoints: Endpoints) -> Iterator[Source]:
    with connect(endpoints, request.param) as opened:
        yield opened


@pytest.fixture
def table(source: Source, schemas: str) -> TableRef:
    """An empty table with a key and a value."""
    ref = TableRef(schemas, f"t_{uuid.uuid4().hex[:12]}")
    source.execute(f"CREATE TABLE {source.qualified(ref)} (id integer PRIMARY KEY, v varchar(50))")
    return ref


def rows(values: dict[int, str | None]) -> pa.Table:
    return pa.table(
        {"id": pa.array(values, pa.int32()), "v": pa.array(values.values(), pa.string())}
    )


def stored(source: Source, ref: TableRef) -> list[tuple[Any, ...]]:
    return source.execute(f"SELECT id, v FROM {source.qualified(ref)} ORDER BY id")


@pytest.mark.parametrize(("engine", "case"), CASES, ids=lambda x: x if isinstance(x, str) else x[0])
def test_values_arrive_exactly(endpoints: Endpoints, schemas: str, engine: str, case: Case) -> None:
    declared, literals, expected = case
    with connect(endpoints, engine) as source:
        ref = TableRef(schemas, f"c_{uuid.uuid4().hex[:12]}")
        name = source.qualified(ref)
        source.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v {declared})")
        for number, literal in enumerate(literals):
            source.execute(f"INSERT INTO {name} VALUES ({number}, {literal})")
        read = source.read(ref)
        kind = read.schema.field("v").type
        wanted = (
            pa.array(expected, pa.int64()).cast(kind)
            if pa.types.is_timestamp(kind)
            else pa.array(expected, kind)
        )
        numbered = pa.table({"id": pa.array(range(len(expected)), pa.int32()), "v": wanted})
        diff = verify_table(numbered, read, ["id"])
        assert diff.equal, diff
        assert source.describe(ref).arrow.equals(read.schema)


@pytest.mark.parametrize("declared", ["date", "timestamp", "timestamptz"])
def test_an_infinite_date_differs_from_every_date(
    declared: str, endpoints: Endpoints, schemas: str
) -> None:
    """PostgreSQL has infinite dates; silver has none of them."""
    words = ["infinity", "-infinity"]
    with connect(endpoints, "postgres") as source:
        ref = TableRef(schemas, f"c_{uuid.uuid4().hex[:12]}")
        name = source.qualified(ref)
        source.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, v {declared})")
        for number, word in enumerate(words):
            source.execute(f"INSERT INTO {name} VALUES ({number}, '{word}')")
        read = source.read(ref)
        ids = pa.array(range(len(words)), pa.int32())
        for other in (None, 0):
            kind = read.schema.field("v").type
            value = pa.array(
                [other] * len(words), pa.int64() if kind != pa.date32() else pa.int32()
            )
            silver = pa.table({"id": ids, "v": value.cast(kind)})
            diff = verify_table(read, silver, ["id"])
            assert diff.different == len(words)
            assert len(diff.changes) == len(words)


@pytest.mark.parametrize("declared", ["numeric", "numeric(8,2)"])
def test_no_number_is_read_as_null_and_counted_by_its_column(
    declared: str, endpoints: Endpoints, schemas: str
) -> None:
    """PostgreSQL has NaN among its numbers; silver has no form for it."""
    with connect(endpoints, "postgres") as source:
        ref = TableRef(schemas, f"c_{uuid.uuid4().hex[:12]}")
        name = source.qualified(ref)
        source.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, price {declared})")
        source.execute(f"INSERT INTO {name} VALUES (1, 'NaN'), (2, NULL), (3, 0.5), (4, 'NaN')")
        read = source.read(ref)
        assert read["price"].is_null().to_pylist() == [True, True, False, True]
        lost = lost_values(source, source.describe(ref), read)
        assert lost == {"price": "2 times NaN or infinity"}


def test_what_is_captured_is_known_and_can_be_released(source: Source, table: TableRef) -> None:
    publication = f"labctl_{uuid.uuid4().hex[:12]}"
    source.capture([table], publication)
    known = source.captured(publication)
    assert known is None if source.engine == "mysql" else table in (known or ())
    for _ in range(2):
        source.release(table, publication)
    assert table not in (source.captured(publication) or ())
    if source.engine == "postgres":
        source.execute(f"DROP PUBLICATION {publication}")


COMMENTS = {
    "postgres": "COMMENT ON COLUMN {table}.v IS 'who is it?'",
    "mysql": "ALTER TABLE {table} MODIFY v varchar(50) COMMENT 'who is it?'",
    "sqlserver": "EXEC sp_addextendedproperty N'MS_Description', N'who is it?', "
    "N'SCHEMA', N'{ref.schema}', N'TABLE', N'{ref.name}', N'COLUMN', N'v'",
}


def test_what_columns_are_said_to_be(source: Source, table: TableRef) -> None:
    assert source.comments(table) == {}
    statement = COMMENTS[source.engine]
    source.execute(statement.format(table=source.qualified(table), ref=table))
    assert source.comments(table) == {"v": "who is it?"}
    assert source.comments(TableRef(table.schema, "nothing")) == {}


def test_a_database_that_is_there_is_made_again_from_what_is_read(
    endpoints: Endpoints, source: Source, tmp_path: Path
) -> None:
    """Types, keys and a sample: what `labctl init --from-database` writes makes the same tables."""
    cases = CASES_OF[source.engine]
    with foreign_database(endpoints, source) as (there, schema, dsn):
        ref = TableRef(schema, "Odd-name")
        columns = ", ".join(f"c{n} {kind}" for n, (kind, _, _) in enumerate(cases))
        there.execute(f"CREATE TABLE {there.qualified(ref)} (id integer PRIMARY KEY, {columns})")
        for row in range(2):
            values = ", ".join(literals[row % len(literals)] for _, literals, _ in cases)
            there.execute(f"INSERT INTO {there.qualified(ref)} VALUES ({row}, {values})")
        there.execute("CREATE TABLE keyless (v integer)")
        before, held = there.describe(ref), there.read(ref)
        found = existing_source(dsn, copy_rows=10)
        assert [(t.ref, t.keys) for t in found.tables] == [(ref, ("id",))]
        assert any("keyless has no primary key" in note for note in found.notes)
        both = [f"--from-database={name}={dsn}" for name in ("first", "second")]
        done = CliRunner().invoke(root, ["init", str(tmp_path / "both"), *both])
        assert done.exit_code == 0, done.output
        config = LabConfig.load(tmp_path / "both" / "lab.toml")
        assert [*config.sources] == ["first", "second"]
        names = [table.name for table in lab_tables(tmp_path / "both", config)]
        assert names == ["both.odd_name", "second.odd_name"]
        made_again(there, schema, found)
        assert there.describe(ref) == before
        assert verify_table(held, there.read(ref), ["id"]).equal


def test_of_a_partitioned_table_the_whole_is_read_and_no_partition(endpoints: Endpoints) -> None:
    with connect(endpoints, "postgres") as source:
        pass
    with foreign_database(endpoints, source) as (there, schema, dsn):
        whole = TableRef(schema, "event")
        there.execute(
            f"CREATE TABLE {whole} (id integer, on_day date, price money, PRIMARY KEY (id, on_day))"
            " PARTITION BY RANGE (on_day)"
        )
        for year in (2025, 2026):
            there.execute(
                f"CREATE TABLE {schema}.event_{year} PARTITION OF {whole}"
                f" FOR VALUES FROM ('{year}-01-01') TO ('{year + 1}-01-01')"
            )
        found = existing_source(dsn)
    assert [table.ref for table in found.tables] == [whole]
    left_out = [note for note in found.notes if "is left out" in note]
    assert len(left_out) == 2, found.notes
    assert all("it is a partition of" in note for note in left_out)
    assert any("event: price (with a loss: text with two digits" in note for note in found.notes)


HOSTILE_COLUMNS = [
    "a: int);COPY(SELECT 1)TO PROGRAM'touch /tmp/x';/*",
    "b: */CREATE TABLE z(id int,--",
    "quote\"`]'; DROP TABLE t; --",
    "c $$; SELECT 1; $$ %s %(x)s",
]
LINES = "x\nGO\r\n'; DROP TABLE t; --\nDELIMITER //\n\\"


def test_hostile_names_and_values_are_names_and_values(
    endpoints: Endpoints, source: Source
) -> None:
    """They are written as they are, or their table is left out and named."""
    with foreign_database(endpoints, source) as (there, schema, dsn):
        ref, outside = TableRef(schema, "t-1"), TableRef(schema, "x/../../outside")
        kinds = ["point" if source.engine == "postgres" else "varchar(90)", "varchar(90)"]
        columns = ", ".join(
            f"{there.quote(name)} {kinds[number % 2]}"
            for number, name in enumerate(HOSTILE_COLUMNS)
        )
        there.execute(f"CREATE TABLE {there.qualified(ref)} (id integer PRIMARY KEY, {columns})")
        there.insert(ref, pa.table({"id": pa.array([1], pa.int32()), HOSTILE_COLUMNS[1]: [LINES]}))
        there.execute(f"CREATE TABLE {there.qualified(outside)} (id integer PRIMARY KEY)")
        injected = there.quote("id\nhoodie.injected=1")
        there.execute(f"CREATE TABLE {there.quote(schema)}.keyed ({injected} integer PRIMARY KEY)")
        no_topic = there.qualified(TableRef(schema, "t;'--"))
        there.execute(f"CREATE TABLE {no_topic} (id integer PRIMARY KEY)")
        before, held = there.describe(ref), there.read(ref)
        found = existing_source(dsn, copy_rows=10)
        assert [table.ref for table in found.tables] == [ref]
        left_out = [note for note in found.notes if "is left out" in note]
        for reason in ("slash", "control", "another one in its topic"):
            assert len([note for note in left_out if reason in note]) == 1, left_out
        assert len(left_out) == 3
        made_again(there, schema, found)
        assert there.tables(schema) == [ref]
        assert there.describe(ref) == before
        assert verify_table(held, there.read(ref), ["id"]).equal


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_labels_with_control_characters_come_along(engine: str, endpoints: Endpoints) -> None:
    labels = ["a", "tab\t'\\", "\x01\n", "GO", "\x85\u2028"]
    with connect(endpoints, engine) as source:
        pass
    with foreign_database(endpoints, source) as (there, schema, dsn):
        ref = TableRef(schema, "odd")
        listed = ", ".join(map(label_literal, labels)) if engine == "postgres" else ""
        if engine == "postgres":
            there.execute(f"CREATE TYPE public.label AS ENUM ({listed})")
            kind = "public.label"
        else:
            kind = type_text(f"enum({','.join(map(mysql_text, labels))})", "mysql")
        there.execute(f"CREATE TABLE {there.qualified(ref)} (id integer PRIMARY KEY, v {kind})")
        for number, label in enumerate(labels):
            there.execute(f"INSERT INTO {there.qualified(ref)} VALUES (%s, %s)", (number, label))
        before, held = there.describe(ref), there.read(ref)
        found = existing_source(dsn, copy_rows=10)
        there.execute(f"DROP TABLE {there.qualified(ref)}")
        if engine == "postgres":
            there.execute("DROP TYPE public.label")
        made_again(there, schema, found)
        assert there.describe(ref) == before
        assert verify_table(held, there.read(ref), ["id"]).equal


def mysql_text(text: str) -> str:
    """A text as MySQL's catalogue writes it in a type."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n") + "'"


@contextmanager
def foreign_database(endpoints: Endpoints, source: Source) -> Iterator[tuple[Source, str, str]]:
    """A new database on the source's server: a connection to it, a schema, and its DSN."""
    engine, database = ENGINES[source.engine], f"there_{uuid.uuid4().hex[:12]}"
    server = endpoints.servers[source.engine]
    assert server is not None
    endpoint = server.model_copy(update={"database": database})
    engine.ensure_database(server, database, server.user)
    login = f"{endpoint.user}:{quote(endpoint.password.get_secret_value(), safe='')}"
    dsn = f"{source.engine}://{login}@{endpoint.host}:{endpoint.port}/{database}"
    schema = {"postgres": "public", "mysql": database, "sqlserver": "dbo"}[source.engine]
    with engine.client(endpoint) as there:
        yield there, schema, dsn
    with connect_server(endpoints, source.engine) as other:
        name = other.quote(database)
        other.execute(f"DROP {'DATABASE' if source.engine != 'mysql' else 'SCHEMA'} {name}")


def made_again(there: Source, schema: str, found: NewSource) -> None:
    """Drop all tables, and run what `labctl init --from-database` has written of them, twice."""
    for table in there.tables(schema):
        there.execute(f"DROP TABLE {there.qualified(table)}")
    for script in (found.schema_sql, found.schema_sql, found.rows_sql or ""):
        for statement in split_script(script, there.engine):
            there.execute(statement.text)


@pytest.mark.parametrize("values", [("x", None), (None, "x"), (None, ""), (None,), (None, None)])
def test_null_is_null_in_every_row(
    source: Source, table: TableRef, values: tuple[str | None, ...]
) -> None:
    """With a key, and where it is all that the table has."""
    numbered = dict(enumerate(values))
    source.insert(table, rows(numbered))
    assert verify_table(rows(numbered), source.read(table), ["id"]).equal
    alone = TableRef(table.schema, f"{table.name}_alone")
    source.execute(f"CREATE TABLE {source.qualified(alone)} (v varchar(50))")
    source.insert(alone, rows(numbered).select(["v"]))
    read = source.read(alone)["v"].to_pylist()
    assert sorted(read, key=repr) == sorted(values, key=repr)


def test_large_tables_and_odd_text_survive_a_round_trip(source: Source, table: TableRef) -> None:
    odd = ["", "\\", "'", '"', "a,b", "\n", "\r\n", "NULL", "\\N", "100 %", "%s", "😀", " x ", None]
    values = {number: odd[number % len(odd)] for number in range(-10_000, 10_000)}
    source.insert(table, rows(values))
    assert verify_table(rows(values), source.read(table), ["id"]).equal
    assert source.count(table) == len(values)


def test_bulk_changes(source: Source, table: TableRef) -> None:
    source.insert(table, rows({1: "a", 2: "b", 3: "c"}))
    source.upsert(table, rows({2: None, 4: "d"}))
    source.delete(table, rows({1: None}).select(["id"]))
    source.delete(table, rows({}).select(["id"]))
    source.insert(table, rows({}))
    assert stored(source, table) == [(2, None), (3, "c"), (4, "d")]


def test_a_bulk_insert_is_all_or_nothing(source: Source, table: TableRef) -> None:
    source.insert(table, rows({50_000: "there already"}))
    with pytest.raises(LabError, match="refused a statement") as caught:
        source.insert(table, rows(dict.fromkeys(range(60000), "x" * 50)))
    assert all(len(line) < 300 for line in caught.value.details)
    assert source.count(table) == 1


def test_transactions(source: Source, table: TableRef) -> None:
    insert = f"INSERT INTO {source.qualified(table)} VALUES (%s, %s)"
    with source.transaction():
        source.execute(insert, (1, "committed"))
        source.upsert(table, rows({2: "too"}))
    with source.transaction():
        source.execute(insert, (3, "not"))
        raise Rollback
    with pytest.raises(LabError), source.transaction():
        source.execute(insert, (4, "not"))
        source.execute(insert, (1, "a key that exists"))
    with pytest.raises(KeyError), source.transaction():
        source.execute(insert, (5, "not"))
        raise KeyError
    with pytest.raises(LabError, match="open already"), source.transaction(), source.transaction():
        pass
    assert stored(source, table) == [(1, "committed"), (2, "too")]


def test_uncommitted_rows_are_not_seen(
    source: Source, table: TableRef, endpoints: Endpoints
) -> None:
    with connect(endpoints, source.engine) as other, source.transaction():
        source.execute(f"INSERT INTO {source.qualified(table)} VALUES (1, 'x')")
        assert other.count(table) == 0
        assert source.count(table) == 1


def test_affected_rows(source: Source, table: TableRef) -> None:
    source.insert(table, rows({1: "a", 2: "b"}))
    update = f"UPDATE {source.qualified(table)} SET v = %s WHERE id >= %s"
    assert source.affect(update, ("%", 1)) == 2
    assert source.affect(update, ("y", 9)) == 0


NOT_OF_EVERY_ROW = {
    "postgres": ("(c) WHERE c > 0", "(d, (c % 2))"),
    "mysql": ("(d, (c % 2))",),
    "sqlserver": ("(c) WHERE c > 0",),
}
"""Unique indexes whose columns alone are no key."""


def test_catalogue(source: Source, schemas: str) -> None:
    ref = TableRef(schemas, "order")
    name = source.qualified(ref)
    source.execute(
        f"CREATE TABLE {name} (b varchar(3) NOT NULL, a integer NOT NULL, {source.quote('select')}"
        " decimal(8,2), PRIMARY KEY (a, b))"
    )
    described = source.describe(ref)
    assert described.keys == ("a", "b")
    assert [(c.name, c.nullable) for c in described.columns] == [
        ("b", False),
        ("a", False),
        ("select", True),
    ]
    assert described.arrow.field("select").type == pa.decimal128(8, 2)
    keyless = TableRef(schemas, "keyless")
    source.execute(f"CREATE TABLE {source.qualified(keyless)} (id integer UNIQUE)")
    assert {ref, keyless} <= set(source.tables(schemas))
    unique = TableRef(schemas, "unique")
    source.execute(
        f"CREATE TABLE {source.qualified(unique)}"
        " (d integer NOT NULL, c integer NOT NULL, n integer, UNIQUE (d, c), UNIQUE (d, n))"
    )
    for number, index in enumerate(NOT_OF_EVERY_ROW[source.engine]):
        source.execute(f"CREATE UNIQUE INDEX i{number} ON {source.qualified(unique)} {index}")
    keys = source.keys_of_tables(schemas)
    assert keys[ref] == TableKeys(("a", "b"), (("a", "b"),))
    assert keys[unique] == TableKeys((), (("d", "c"),))
    assert keyless not in keys
    with pytest.raises(LabError, match="has no table"):
        source.describe(TableRef(schemas, "absent"))


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_a_column_without_an_exact_form_is_told_and_the_others_are_read(
    engine: str, endpoints: Endpoints, schemas: str
) -> None:
    odd = {"postgres": "tsvector", "mysql": "point"}[engine]
    ref = TableRef(schemas, "odd")
    with connect(endpoints, engine) as source:
        source.execute(f"CREATE TABLE {source.qualified(ref)} (id integer PRIMARY KEY, v {odd})")
        source.execute(f"INSERT INTO {source.qualified(ref)} (id) VALUES (1)")
        assert source.describe(ref).unread == (UnreadColumn("v", odd),)
        assert source.read(ref).to_pydict() == {"id": [1]}


def test_mysql_types_that_have_several_forms_are_read_in_silvers(
    endpoints: Endpoints, schemas: str
) -> None:
    ref = TableRef(schemas, "forms")
    with connect(endpoints, "mysql") as source:
        name = source.qualified(ref)
        source.execute(
            f"CREATE TABLE {name} (id integer PRIMARY KEY, bu bigint unsigned, z int(6) unsigned"
            " zerofill, b1 bit(1), b9 bit(9), j json, fu float unsigned, du double unsigned)"
        )
        source.execute(
            f"INSERT INTO {name} VALUES"
            " (1, 18446744073709551615, 4294967295, b'1', b'100000011', '[1]', 0.5, 1.5),"
            " (2, 0, 42, b'0', b'0', 'null', 0, 0), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
        )
        assert source.read(ref).to_pydict() == {
            "id": [1, 2, 3],
            "bu": [2**64 - 1, 0, None],
            "z": [2**32 - 1, 42, None],
            "b1": [True, False, None],
            "b9": [b"\x03\x01", b"\0\0", None],
            "j": ["[1]", "null", None],
            "fu": [0.5, 0.0, None],
            "du": [1.5, 0.0, None],
        }
        bits = [row[3:5] for row in source.sample(source.describe(ref), 3)]
        assert bits == [("x'01'", "x'0103'"), ("x'00'", "x'0000'"), ("NULL", "NULL")]


INTERVALS = {
    "1 year 2 mons -3 days 04:05:06.000007": "P1Y2M-3DT4H5M6.000007S",
    "-1 days +02:03:04": "P0Y0M-1DT2H3M4S",
    "-00:00:00.000001": "P0Y0M0DT0H0M-0.000001S",
    "-13 months": "P-1Y-1M0DT0H0M0S",
    "100000 hours": "P0Y0M0DT100000H0M0S",
    "-178000000 years": "P-178000000Y0M0DT0H0M0S",
}
"""In the form that Debezium sends."""


def test_postgresql_types_that_debezium_sends_as_text_are_read_so(
    endpoints: Endpoints, schemas: str
) -> None:
    ref = TableRef(schemas, "texts")
    with connect(endpoints, "postgres") as source:
        name = source.qualified(ref)
        source.execute(
            f'CREATE TABLE {name} (id integer PRIMARY KEY, i interval, a inet, r tsrange, c "char",'
            " o oid, n numrange)"
        )
        for number, text in enumerate(INTERVALS):
            source.execute(f"INSERT INTO {name} VALUES ({number}, '{text}')")
        source.execute(
            f"INSERT INTO {name} VALUES (10, NULL, '10.0.0.5', '[2024-01-01,2024-02-01 12:00)',"
            " 'x', 4294967295, '(1.50,2.5]'), (11, NULL, 'fe80::1/64', 'empty', '', 0, '(,)')"
        )
        read = source.read(ref)
        rows = {row.pop("id"): row for row in read.to_pylist()}
        assert [rows[n]["i"] for n in range(len(INTERVALS))] == list(INTERVALS.values())
        assert list(rows[10].values()) == [
            *(None, "10.0.0.5", '["2024-01-01 00:00:00","2024-02-01 12:00:00")', "x"),
            *(2**32 - 1, "(1.50,2.5]"),
        ]
        assert list(rows[11].values()) == [None, "fe80::1/64", "empty", "", 0, "(,)"]
        assert not source.describe(ref).unread


def test_mysql_zero_dates_are_read_as_null_and_counted(endpoints: Endpoints, schemas: str) -> None:
    ref = TableRef(schemas, "zeros")
    with connect(endpoints, "mysql") as source:
        name = source.qualified(ref)
        source.execute(
            f"CREATE TABLE {name} (id integer PRIMARY KEY, d date NOT NULL, n datetime(6),"
            " t timestamp NOT NULL, e date NOT NULL, y year NOT NULL)"
        )
        source.execute(
            f"INSERT INTO {name} VALUES (1, '0000-00-00', '2024-00-10', '0000-00-00', '1970-01-01',"
            " 0), (2, '2024-02-00', NULL, '1970-01-01 00:00:01', '0001-01-01', 1901)"
        )
        rows = source.read(ref)
        assert rows["d"].null_count == rows["n"].null_count == 2
        assert rows["t"].null_count == 1
        assert rows["e"].null_count == 0
        assert rows["y"].to_pylist() == [0, 1901]
        assert lost_values(source, source.describe(ref), rows) == {
            "d": "2 zero dates, NULL in silver",
            "n": "1 zero date, NULL in silver",
            "t": "1 zero date, NULL in silver",
        }


def test_a_bad_statement_says_which(source: Source) -> None:
    with pytest.raises(LabError, match="refused a statement") as caught:
        source.execute("SELEKT 1")
    assert caught.value.details == ("SELEKT 1",)
    assert source.execute("SELECT 1") == [(1,)]


def test_no_such_engine_and_no_answer(endpoints: Endpoints) -> None:
    with pytest.raises(LabError, match="no source 'oracle'"):
        connect(endpoints, "oracle")
    wrong = endpoints.sources["mysql"].model_copy(update={"user": "nobody_there"})
    with pytest.raises(LabError, match="cannot be reached"):
        connect(endpoints.model_copy(update={"sources": {"mysql": wrong}}), "mysql")
