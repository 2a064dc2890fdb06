"""TICKIT in real databases: loaded, left alone, brought back, and readable by the connectors."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pydantic import SecretStr

from labctl.config.endpoints import Endpoints
from labctl.datasets import Action, SeedResult, prepare, seed
from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.sources import CDC_USER, Source, TableRef, connect
from labctl.verify import verify_table
from seeds.tickit import DATA_SET, TABLES, generate

pytestmark = pytest.mark.long

CATEGORY = TableRef("ems", "category")
EVENT = TableRef("ems", "event")
SALE = TableRef("ecomm", "sale")
SCALE = 0.01


@pytest.fixture
def postgres(endpoints: Endpoints) -> Iterator[Endpoints]:
    """A PostgreSQL database of the test's own, and no other database."""
    name = f"seed_{uuid.uuid4().hex[:12]}"
    scratch = endpoints.sources["postgres"].model_copy(update={"database": name})
    yield endpoints.model_copy(update={"sources": {"postgres": scratch}})
    with connect(endpoints, "postgres") as source:
        source.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def mysql(endpoints: Endpoints) -> Iterator[Endpoints]:
    """The lab's MySQL alone, holding exactly the data set before and after the test."""
    only = endpoints.model_copy(update={"sources": {"mysql": endpoints.sources["mysql"]}})
    seed(only, DATA_SET, reset=True)
    yield only
    seed(only, DATA_SET, reset=True)


@pytest.fixture
def sqlserver(endpoints: Endpoints) -> Iterator[Endpoints]:
    """The lab's SQL Server alone, holding exactly the data set before and after the test."""
    only = endpoints.model_copy(update={"sources": {"sqlserver": endpoints.sources["sqlserver"]}})
    seed(only, DATA_SET, reset=True)
    yield only
    seed(only, DATA_SET, reset=True)


def actions(result: SeedResult) -> dict[str, Action]:
    return {table.table: table.action for table in result.tables}


def holds_data_set(source: Source, name: str, scale: float) -> bool:
    table = TABLES[name]
    present = source.read(TableRef(table.schema, name))
    # MySQL's boolean is a number, which may be another one than 0 and 1.
    number = pa.int32() if source.engine == "mysql" else pa.bool_()
    wanted = [f.with_type(number) if f.type == pa.bool_() else f for f in table.arrow]
    assert present.schema.equals(pa.schema(wanted))
    return verify_table(generate(scale)[name], present, [table.key]).equal


@pytest.mark.parametrize("engine", ["postgres", "mysql", "sqlserver"])
def test_every_table_holds_exactly_the_data_set(
    engine: str, request: pytest.FixtureRequest
) -> None:
    endpoints: Endpoints = request.getfixturevalue(engine)
    seed(endpoints, DATA_SET)
    with connect(endpoints, engine) as source:
        for name, table in TABLES.items():
            if table.engine == engine:
                assert holds_data_set(source, name, scale=1.0)


def test_seeding_again_changes_nothing(postgres: Endpoints) -> None:
    first = seed(postgres, DATA_SET, scale=SCALE)
    assert set(actions(first).values()) == {Action.LOADED}
    assert first.rows == sum(t.written for t in first.tables) == 11 + 202 + 88
    assert set(first.skipped) == {t.label for t in TABLES.values() if t.engine != "postgres"}
    second = seed(postgres, DATA_SET, scale=SCALE)
    assert set(actions(second).values()) == {Action.UNCHANGED}
    assert sum(t.written + t.deleted for t in second.tables) == 0


def test_changed_tables_are_kept_until_reset(postgres: Endpoints) -> None:
    seed(postgres, DATA_SET, scale=SCALE)
    with connect(postgres, "postgres") as source:
        source.execute("UPDATE ems.event SET eventname = %s WHERE eventid = 7", ["100 % mine"])
        source.execute("DELETE FROM ems.event WHERE eventid IN (8, 9)")
        source.execute("INSERT INTO ems.event VALUES (100000, 1, 1, 1827, 'new', NULL)")
        kept = seed(postgres, DATA_SET, scale=SCALE)
        assert actions(kept)["ems.event"] is Action.KEPT
        assert [t.note for t in kept.kept] == ["2 missing, 1 added, 1 changed"]
        assert not holds_data_set(source, "event", SCALE)
        reset = seed(postgres, DATA_SET, scale=SCALE, reset=True)
        assert actions(reset)["ems.event"] is Action.RESET
        assert {(t.written, t.deleted) for t in reset.tables if t.table == "ems.event"} == {(3, 1)}
        assert holds_data_set(source, "event", SCALE)


def test_changed_rows_of_mysql_are_reset(mysql: Endpoints) -> None:
    with connect(mysql, "mysql") as source:
        source.execute("UPDATE ecomm.sale SET pricepaid = NULL, qtysold = 1 WHERE salesid = 200")
        source.execute("DELETE FROM ecomm.sale WHERE salesid = %s", [201])
        assert actions(seed(mysql, DATA_SET))["ecomm.sale"] is Action.KEPT
        reset = seed(mysql, DATA_SET, reset=True)
        assert {(t.written, t.deleted) for t in reset.tables if t.table == "ecomm.sale"} == {(2, 0)}
        assert holds_data_set(source, "sale", scale=1.0)


def test_changed_rows_of_sql_server_are_reset(sqlserver: Endpoints) -> None:
    with connect(sqlserver, "sqlserver") as source:
        source.execute("UPDATE crm.[user] SET email = NULL, likesports = 1 WHERE userid = 200")
        source.execute("DELETE FROM crm.[user] WHERE userid = %s", [201])
        source.execute("INSERT INTO crm.[user] (userid, firstname) VALUES (100000, N'Zoë')")
        assert actions(seed(sqlserver, DATA_SET))["crm.user"] is Action.KEPT
        reset = seed(sqlserver, DATA_SET, reset=True)
        assert {(t.written, t.deleted) for t in reset.tables} == {(2, 1)}
        assert holds_data_set(source, "user", scale=1.0)


def test_another_scale_replaces_the_rows(postgres: Endpoints) -> None:
    seed(postgres, DATA_SET, scale=SCALE)
    larger = seed(postgres, DATA_SET, scale=2 * SCALE, reset=True)
    assert actions(larger)["ems.event"] is Action.RESET
    smaller = seed(postgres, DATA_SET, scale=SCALE, reset=True)
    with connect(postgres, "postgres") as source:
        assert source.count(EVENT) == 88
    assert next(t for t in smaller.tables if t.table == "ems.event").deleted == 88


def test_bad_input_touches_nothing(postgres: Endpoints, tmp_path: Path) -> None:
    (tmp_path / "category_pipe.txt").write_text("1|Sports|MLB|x\nx|Sports|NHL|y\n")
    with pytest.raises(LabError, match=r"category_pipe\.txt, line 2, column catid"):
        seed(postgres, DATA_SET, from_path=tmp_path)
    with pytest.raises(LabError, match="makes no data set"):
        seed(postgres, DATA_SET, scale=0)
    with pytest.raises(LabError, match="--scale cannot be combined with --from"):
        seed(postgres, DATA_SET, scale=0.5, from_path=tmp_path)
    with pytest.raises(LabError, match="cannot be reached"):
        connect(postgres, "postgres")


def test_original_files_are_loaded(postgres: Endpoints, tmp_path: Path) -> None:
    (tmp_path / "category_pipe.txt").write_text("1|Sports|MLB|Baseball\n2|Shows||\n")
    (tmp_path / "venue_pipe.txt").write_text("1|Opéra|Montréal|QC|\n")
    (tmp_path / "allevents_pipe.txt").write_text("1|1|1|1851|Tosca|2008-01-25 14:30:00\n")
    result = seed(postgres, DATA_SET, from_path=tmp_path)
    assert (result.rows, result.origin) == (4, str(tmp_path))
    with connect(postgres, "postgres") as source:
        assert source.execute("SELECT * FROM ems.category ORDER BY 1") == [
            (1, "Sports", "MLB", "Baseball"),
            (2, "Shows", None, None),
        ]


def test_a_table_without_a_column_is_refused(postgres: Endpoints) -> None:
    seed(postgres, DATA_SET, scale=SCALE)
    with connect(postgres, "postgres") as source:
        source.execute("ALTER TABLE ems.event DROP COLUMN eventname")
    with pytest.raises(LabError, match="lacks the column eventname"):
        seed(postgres, DATA_SET, scale=SCALE, reset=True)


def test_a_column_that_was_added_stays(postgres: Endpoints) -> None:
    seed(postgres, DATA_SET, scale=SCALE)
    with connect(postgres, "postgres") as source:
        source.execute("ALTER TABLE ems.event ADD COLUMN stage text DEFAULT 'main'")
        assert actions(seed(postgres, DATA_SET, scale=SCALE))["ems.event"] is Action.UNCHANGED
        assert source.execute("SELECT DISTINCT stage FROM ems.event") == [("main",)]


def test_everything_is_published_with_its_old_rows(postgres: Endpoints) -> None:
    def capture(source: Source) -> None:
        source.capture(source.tables("ems"), "tickit_debezium")

    prepare(postgres, DATA_SET)
    with connect(postgres, "postgres") as source:
        capture(source)
        source.execute("DROP TABLE ems.venue")
        prepare(postgres, DATA_SET)
        capture(source)
        published = source.execute(
            "SELECT tablename FROM pg_publication_tables"
            " WHERE pubname = 'tickit_debezium' AND schemaname = 'ems' ORDER BY 1"
        )
        assert published == [("category",), ("event",), ("venue",)]
        identities = source.execute(
            "SELECT DISTINCT relreplident FROM pg_class WHERE relnamespace = 'ems'::regnamespace"
            " AND relkind = 'r'"
        )
        assert identities == [("f",)]


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_the_connectors_user_reads_and_cannot_write(
    engine: str, databases: Lab, request: pytest.FixtureRequest
) -> None:
    endpoints: Endpoints = request.getfixturevalue(engine)
    seed(endpoints, DATA_SET)
    ref = {"postgres": CATEGORY, "mysql": SALE}[engine]
    with connect(endpoints, engine) as owner:
        owner.let_read(CDC_USER, ref.schema)
    endpoint = endpoints.sources[engine].model_copy(
        update={"user": CDC_USER, "password": SecretStr(databases.passwords["cdc"])}
    )
    with connect(endpoints.model_copy(update={"sources": {engine: endpoint}}), engine) as reader:
        assert reader.count(ref) > 0
        with pytest.raises(LabError, match="denied"):
            reader.execute(f"DELETE FROM {reader.qualified(ref)}")
        if engine == "mysql":
            assert reader.execute("SHOW BINARY LOGS")
        else:
            assert reader.execute(
                "SELECT rolreplication, rolsuper FROM pg_roles WHERE rolname = current_user"
            ) == [(True, False)]
