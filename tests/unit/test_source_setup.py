"""What a lab captures is there: schemas before its connectors, tables once they run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import ConnectorFile, read_connector
from labctl.lab.connectors import capture_setup, source_problems, source_refusals
from labctl.lab.connectors.capture_setup import set_up_capture
from labctl.lab.connectors.source_files import source_files
from labctl.lab.connectors.source_problems import key_problem
from labctl.lab.connectors.source_refusals import look_at_sources
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import PipelineStatus, SilverTableStatus
from labctl.lab.tables import table_fitness
from labctl.sources import ENGINES, SourceTable, TableKeys, TableRef
from labctl.sources.base import Declared, Row
from labctl.sources.capture_limits import UNLOGGED, Lack, Limits
from labctl.sources.refusals import no_such_table
from lakecontract.properties import RECORD_KEY
from tests.unit.service_context import PROJECT

CONNECTOR = "source_connector_moma_postgres_kafka"
ARTISTS, ARTWORKS = TableRef("public", "artists"), TableRef("public", "artworks")
TOPIC_OF_ARTISTS = "moma.public.artists"


class Database:
    """One with these tables, all of them with a primary key."""

    engine = "postgres"
    qualified = staticmethod(str)
    quote = staticmethod(str)

    def __init__(self, *tables: TableRef, schemas: tuple[str, ...] = ("public",)) -> None:
        self._tables = tables
        self._schemas = schemas
        self.columns: tuple[str, ...] = ()
        self.captured: list[TableRef] = []
        self.granted: list[str] = []
        self.statements: list[str] = []

    def execute(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        if not parameters:
            self.statements.append(sql)
        return []

    def schemas(self) -> list[str]:
        return list(self._schemas)

    def tables(self, schema: str) -> list[TableRef]:
        return [ref for ref in self._tables if ref.schema == schema]

    def keys_of_tables(self, schema: str) -> dict[TableRef, TableKeys]:
        keys = {ARTISTS: ("artist_id",), ARTWORKS: ("artwork_id",)}
        return {ref: TableKeys(keys[ref], (keys[ref],)) for ref in self.tables(schema)}

    def describe(self, ref: TableRef) -> SourceTable:
        id_ = ("id", Declared("integer", "integer"), False)
        twins = [(name, Declared("text", "text"), True) for name in self.columns]
        return SourceTable.of(ref, POSTGRES, [id_, *twins], ("id",))

    def capture(self, refs: list[TableRef], _publication: str) -> None:
        self.captured += refs

    def let_read(self, _user: str, schema: str) -> None:
        self.granted.append(schema)

    def let_signal(self, user: str, ref: TableRef) -> None:
        self.let_read(user, ref.schema)


@pytest.fixture
def lab(state_home: object) -> Lab:
    lab = Lab.find(name="moma", profile="native", project=PROJECT)
    vars(lab)["endpoints"] = None
    return lab


def connect_to(monkeypatch: pytest.MonkeyPatch, database: Database) -> None:
    for module in (capture_setup, source_refusals):
        monkeypatch.setattr(module, "connect", lambda *_: nullcontext(database))


def files_of(lab: Lab) -> list[ConnectorFile]:
    return [file for file in source_files(lab) if file.name == CONNECTOR]


def test_a_schema_that_does_not_exist_is_told_before_anything_is_set_up(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(ARTISTS, schemas=("museum",))
    connect_to(monkeypatch, database)
    with pytest.raises(LabError, match=r"sources\.moma\.schemas: database moma has no") as raised:
        set_up_capture(lab, files_of(lab))
    assert "'public'" in raised.value.what
    assert raised.value.exit_code is ExitCode.USAGE
    assert (database.captured, database.granted) == ([], [])


def test_a_topic_without_a_table_is_told_with_file_and_line_and_the_others_are_captured(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(ARTWORKS)
    connect_to(monkeypatch, database)
    said = set_up_capture(lab, files_of(lab))[CONNECTOR]
    signals = TableRef("labctl", "signal")
    assert (database.captured, database.granted) == ([ARTWORKS, signals], ["labctl", "public"])
    assert database.statements[-1].startswith(f"CREATE TABLE {signals} (")
    # In both of its silver tables.
    for sentence, database_name in zip(said, ("moma_cow", "moma_mor"), strict=True):
        place, _, rest = sentence.partition(": ")
        path, _, line = place.rpartition(":")
        assert f"{database_name}." in path
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        assert lines[int(line) - 1].endswith(f"={TOPIC_OF_ARTISTS}")
        assert "public.artists, a table that sources.moma does not have" in rest


def test_a_database_that_does_not_answer_is_asked_only_where_it_must(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise LabError("nothing answers", exit_code=ExitCode.NOT_READY)

    monkeypatch.setattr(source_refusals, "connect", refuse)
    look_at_sources(lab, files_of(lab), skip_unreachable=True).raise_any()
    with pytest.raises(LabError, match="nothing answers"):
        look_at_sources(lab, files_of(lab))


def test_a_table_that_would_stop_its_connector_is_refused_before_anything_is_set_up(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables at once, those without a properties file too: the connector reads them."""
    database = Database(ARTISTS, ARTWORKS, TableRef("public", "other"))
    database.columns = ("unit price", "unit_price")
    connect_to(monkeypatch, database)
    with pytest.raises(LabError, match="its columns 'unit price' and 'unit_price'") as raised:
        set_up_capture(lab, files_of(lab))
    told = "\n".join((raised.value.what, *raised.value.details))
    for table in ("artists", "artworks", "other"):
        assert f'"(?-i)public\\\\.{table}\\\\.unit_price"' in told
    assert raised.value.exit_code is ExitCode.USAGE
    assert (database.captured, database.granted) == ([], [])


def test_a_table_beside_those_captured_is_looked_at_for_names_alone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be hundreds; and one may have no column, or be gone by now."""
    other, gone = TableRef("public", "other"), TableRef("public", "gone")
    database = Database(ARTISTS, ARTWORKS, other, gone)
    connect_to(monkeypatch, database)
    described, asked = list[TableRef](), list[TableRef]()

    def describe(ref: TableRef) -> SourceTable:
        described.append(ref)
        if ref == gone:
            raise no_such_table("PostgreSQL", ref)
        return Database.describe(database, ref)

    def limits_of(_database: object, _file: object, ref: TableRef) -> Limits:
        asked.append(ref)
        return Limits()

    monkeypatch.setattr(database, "describe", describe)
    for module in (source_refusals, table_fitness):
        monkeypatch.setattr(module, "limits_of", limits_of)
    set_up_capture(lab, files_of(lab))
    assert sorted(described) == sorted([ARTISTS, ARTWORKS, other, gone])
    assert sorted(asked) == [ARTISTS, ARTWORKS]


def test_a_generated_column_without_a_log_is_told_with_the_key_to_write(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    database = Database(ARTISTS, ARTWORKS)
    connect_to(monkeypatch, database)
    limits = Limits(lacks=(Lack(("age",), UNLOGGED),))
    monkeypatch.setattr(source_refusals, "limits_of", lambda *_: limits)
    (file,) = files_of(lab)
    with pytest.raises(LabError, match=r"public\.artists has age, generated") as raised:
        set_up_capture(lab, [file])
    assert raised.value.exit_code is ExitCode.USAGE
    assert (database.captured, database.granted) == ([], [])
    written = raised.value.what.partition("write ")[2]
    path = tmp_path / file.path.name
    path.write_text(json.dumps(file.config | json.loads(f"{{{written}}}")), encoding="utf-8")
    set_up_capture(lab, [read_connector(path)])
    assert database.granted == ["labctl", "public"]


def record_all_but(monkeypatch: pytest.MonkeyPatch, unrecorded: dict[TableRef, str]) -> None:
    engine = replace(ENGINES["postgres"], unrecorded=lambda *_: unrecorded)
    monkeypatch.setattr(source_problems, "ENGINES", {"postgres": engine})


def test_a_table_whose_changes_are_not_recorded_is_a_problem(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(ARTISTS, ARTWORKS)
    monkeypatch.setattr(source_problems, "connect", lambda *_: nullcontext(database))
    record_all_but(monkeypatch, {ARTWORKS: "labctl connectors apply"})
    ends = {TOPIC_OF_ARTISTS: {0: 5}, "moma.public.artworks": {0: 9}}
    found = source_problems.source_problems(lab, [CONNECTOR], ends)
    assert sorted(found) == ["moma_cow.artworks", "moma_mor.artworks"]
    assert found["moma_cow.artworks"] == (
        "changes of its source public.artworks are not recorded: labctl connectors apply; then "
        "labctl verify moma_cow.artworks"
    )


ID, PAIR, EMAIL = ("artist_id",), ("tenant id", "artist_id"), ("email",)
"""Keys of a source; the record key of its table in silver is `artist_id`."""


@pytest.mark.parametrize(
    ("keys", "extra", "said"),
    [
        (TableKeys(ID, (ID,)), {}, None),
        (TableKeys(PAIR, (PAIR, ID)), {}, None),
        (TableKeys(PAIR, (PAIR,)), {}, "the primary key tenant_id, artist_id, and no unique index"),
        (TableKeys(EMAIL, (EMAIL, ID)), {}, "a row whose artist_id changes is here twice"),
        (TableKeys(EMAIL, (EMAIL, ID)), {"message.key.columns": "public.artists:artist_id"}, None),
        (TableKeys(EMAIL, (EMAIL,)), {}, "the primary key email, and no unique index of artist_id"),
        (TableKeys((), (ID,)), {}, "has lost its primary key"),
        (None, {}, "has lost its primary key"),
        (None, {"message.key.columns": "public.artists:artist_id"}, None),
    ],
)
def test_rows_that_would_be_one_in_silver_are_a_problem(
    lab: Lab, keys: TableKeys | None, extra: dict[str, str], said: str | None
) -> None:
    table = next(table for table in lab.tables if table.topic == TOPIC_OF_ARTISTS)
    (file,) = files_of(lab)
    why = key_problem(keys, table, replace(file, config=file.config | extra))
    assert (why is None) == (said is None)
    assert said is None or (why is not None and said in why)
    if keys is not None and keys.primary == PAIR and why is not None:
        path, line = why.partition("the record key of ")[2].split(": ")[0].rsplit(":", 1)
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        assert lines[int(line) - 1] == f"{RECORD_KEY}=artist_id"
        assert f"Write {RECORD_KEY}=tenant_id,artist_id there" in why


@pytest.mark.parametrize(
    ("running", "rows", "said"),
    [
        ([CONNECTOR], 0, "is the topic of public.artists, a table that sources.moma does not have"),
        ([CONNECTOR], 5, "public.artists is gone"),
        ([], 5, "public.artists is gone"),
        ([], 0, None),
    ],
)
def test_a_table_that_is_not_in_its_source_is_a_problem_once_its_connector_runs(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, running: list[str], rows: int, said: str | None
) -> None:
    monkeypatch.setattr(source_problems, "connect", lambda *_: nullcontext(Database(ARTWORKS)))
    record_all_but(monkeypatch, {})
    ends = {TOPIC_OF_ARTISTS: {0: rows}, "moma.public.artworks": {0: 9}}
    found = source_problems.source_problems(lab, running, ends)
    assert list(found) == ([] if said is None else ["moma_cow.artists", "moma_mor.artists"])
    assert all(said is not None and said in why for why in found.values())

    table = SilverTableStatus("moma_cow.artists", "running", "", None, 0, 0, None)
    table = replace(table, source_problem=found.get(table.name))
    problems = PipelineStatus([], [table], None).problems()
    assert problems == [f"table {name}: {why}" for name, why in list(found.items())[:1]]
