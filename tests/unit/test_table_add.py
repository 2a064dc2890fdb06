"""Adding and removing a table: its files as a lab needs them, and nothing changed by bad input."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.artifacts.fetch_progress import SilentProgress
from labctl.config.lab_config import LabConfig, find_project
from labctl.engines.postgres.postgres_limits import UNDECODED, UNSENT
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.column_filters import COLUMNS_LEFT_OUT
from labctl.kafkaconnect.connector_files import ConnectorFile, read_connector
from labctl.lab.connectors.connector_states import check_files
from labctl.lab.connectors.table_filters import lets_through
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import UpReporter
from labctl.lab.tables import table_fitness
from labctl.scaffolding import new_tables as module
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.filters import with_table, without_table
from labctl.scaffolding.new_tables import add_table, named_table, remove_table
from labctl.scaffolding.project import new_project, write_project
from labctl.sources import SourceTable, TableRef
from labctl.sources.capture_limits import UNLOGGED, Lack, Limits
from labctl.state.lab_state import LabState
from tests.unit.killing import kill_at_every_change

CUSTOMER, INVOICE = TableRef("public", "customer"), TableRef("public", "invoice")


class Database:
    """A source with two tables, and one without a key."""

    def __init__(self) -> None:
        self.published = {CUSTOMER}
        self.released: list[TableRef] = []
        self.limits: dict[TableRef, Limits] = {}
        self.records = 3
        """Records of each topic."""

    def ends(self, topics: Sequence[str]) -> dict[str, dict[int, int]]:
        return {topic: {0: self.records} if self.records else {} for topic in topics}

    def tables(self, schema: str) -> list[TableRef]:
        assert schema == "public"
        return [CUSTOMER, INVOICE, TableRef(schema, "keyless")]

    def describe(self, ref: TableRef) -> SourceTable:
        return SourceTable(ref, (), () if ref.name == "keyless" else ("a", "b"))

    def count(self, ref: TableRef) -> int:
        del ref
        return 3

    def captured(self, publication: str) -> set[TableRef]:
        assert publication == "orders_debezium"
        return self.published

    def release(self, ref: TableRef, publication: str) -> None:
        del publication
        self.released.append(ref)

    @staticmethod
    def qualified(ref: TableRef) -> str:
        return str(ref)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def done() -> list[str]:
    """What was done to the lab, in order."""
    return []


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch, done: list[str]) -> Database:
    made = Database()
    running = SimpleNamespace(names=lambda: ["source_connector_orders"])

    def noting(what: str, result: Any = None) -> Callable[..., Any]:
        def note(*_: object, **__: object) -> Any:
            done.append(what)
            return result

        return note

    monkeypatch.setattr(Lab, "require_running", lambda self: self)
    monkeypatch.setattr(module, "connect", lambda *_: made)
    for asking in (module, table_fitness):
        monkeypatch.setattr(asking, "limits_of", lambda _d, _f, ref: made.limits.get(ref, Limits()))
    monkeypatch.setattr(module, "connect_client", lambda *_: running)
    monkeypatch.setattr(module, "up", noting("up"))
    monkeypatch.setattr(module, "apply_and_wait", noting("apply"))
    monkeypatch.setattr(module, "backfill_table", noting("backfill"))
    monkeypatch.setattr(module, "end_offsets", lambda _, topics: made.ends(topics))
    monkeypatch.setattr(module, "snapshot_again", noting("snapshot"))
    monkeypatch.setattr(module, "wait_for_rows", noting("wait", 3))
    monkeypatch.setattr(
        Lab, "endpoints", SimpleNamespace(connect=None, kafka=None, sources={}), raising=False
    )
    return made


@pytest.fixture
def lab(state_home: Path) -> Lab:
    return made_lab(state_home / "project")


def made_lab(folder: Path) -> Lab:
    shutil.rmtree(folder, ignore_errors=True)
    write_project(folder, new_project("shop", [example_source("orders", "postgres")]))
    return Lab(folder, LabConfig.load(folder / "lab.toml"), "native", LabState("shop"))


STATE = LabState("shop")
REPORTER = cast("UpReporter", SilentProgress())


def contents(lab: Lab) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in lab.project.rglob("*") if path.is_file()}


def connector_of(lab: Lab) -> Path:
    return lab.project / "connectors" / "source_connector_orders.json"


def set_keys(lab: Lab, **keys: str) -> None:
    path = connector_of(lab)
    config = json.loads(path.read_text()) | {k.replace("_", "."): v for k, v in keys.items()}
    path.write_text(json.dumps(config, indent=2))


@pytest.mark.parametrize("named", ["orders.public.invoice", "orders.invoice"])
def test_a_table_gets_its_file_and_is_started(
    lab: Lab, database: Database, done: list[str], named: str
) -> None:
    del database
    added = add_table(lab, named, REPORTER)
    (path,) = added.files
    assert path.name == "orders.public.invoice.properties"
    assert (added.table.name, added.table.properties.key_fields) == ("shop.invoice", ("a", "b"))
    assert added.table.properties.bronze_root == "topics/orders.public.invoice"
    # It had rows before its changes were recorded.
    assert done == ["up", "apply", "backfill", "wait"]
    done.clear()
    fresh = Lab(lab.project, lab.config, lab.profile, lab.state)
    assert add_table(fresh, "orders.public.customer", REPORTER).files == ()
    assert done == ["up", "apply", "wait"]


def test_rows_that_a_killed_command_did_not_ask_for_are_loaded_when_it_is_repeated(
    lab: Lab, database: Database, done: list[str]
) -> None:
    database.records = 0
    assert add_table(lab, "orders.public.customer", REPORTER).files == ()
    assert done == ["up", "apply", "backfill", "wait"]


@pytest.mark.parametrize("exit_code", [ExitCode.NOT_READY, ExitCode.BUSY])
def test_where_one_table_cannot_be_read_alone_all_of_its_connector_are(
    lab: Lab,
    database: Database,
    done: list[str],
    exit_code: ExitCode,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del database

    def refuse(*_: object, **__: object) -> None:
        raise LabError("it is not read", exit_code=exit_code)

    monkeypatch.setattr(module, "backfill_table", refuse)
    said: list[str] = []
    if exit_code is ExitCode.BUSY:
        with pytest.raises(LabError, match="it is not read"):
            add_table(lab, "orders.public.invoice", REPORTER, say=said.append)
        assert "snapshot" not in done
        return
    add_table(lab, "orders.public.invoice", REPORTER, say=said.append)
    assert done == ["up", "apply", "snapshot", "wait"]
    assert any("it is not read: loading all tables of" in line for line in said)


def test_a_filter_is_extended_and_the_rest_of_the_file_stays(lab: Lab, database: Database) -> None:
    del database
    set_keys(lab, table_include_list="public.customer")
    before = connector_of(lab).read_text()
    added = add_table(lab, "orders.public.invoice", REPORTER)
    assert connector_of(lab) in added.files
    after = connector_of(lab).read_text()
    assert after == before.replace('"public.customer"', '"public.customer,public.invoice"')


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("orders.public.none", "no table public.none"),
        ("orders.public.keyless", "no primary key"),
        ("tills.public.invoice", "names no table of a source"),
        ("orders.sales.invoice", "does not capture the schema"),
        ("orders", "names no table of a source"),
    ],
)
def test_what_cannot_be_captured_changes_nothing(
    lab: Lab, database: Database, done: list[str], named: str, message: str
) -> None:
    del database
    before = contents(lab)
    with pytest.raises(LabError, match=message) as caught:
        add_table(lab, named, REPORTER)
    assert caught.value.exit_code is ExitCode.USAGE
    assert contents(lab) == before
    assert done == []


def test_columns_that_no_change_would_have_are_left_out_from_the_start(
    lab: Lab, database: Database
) -> None:
    database.limits[INVOICE] = Limits(
        lacks=(Lack(("total",), UNLOGGED), Lack(("tags, more",), UNSENT))
    )
    set_keys(lab, table_include_list="public.customer")
    before = read_connector(connector_of(lab)).config
    add_table(lab, "orders.public.invoice", REPORTER)
    file = read_connector(connector_of(lab))
    assert file.config == before | {
        "table.include.list": "public.customer,public.invoice",
        COLUMNS_LEFT_OUT: r"(?-i)public\.invoice\.total,(?-i)public\.invoice\.tags. more",
    }
    assert next(iter(file.config)) == COLUMNS_LEFT_OUT
    database.limits[CUSTOMER] = Limits(lacks=(Lack(("age",), UNDECODED),))
    add_table(lab, "orders.public.customer", REPORTER)
    listed = read_connector(connector_of(lab)).config[COLUMNS_LEFT_OUT]
    assert listed.split(",")[-1] == r"(?-i)public\.customer\.age"
    assert add_table(replace(lab), "orders.public.customer", REPORTER).files == ()


@pytest.mark.parametrize(
    ("limits", "keys", "message"),
    [
        (
            Limits(refused="it is a partition of whole"),
            {},
            "public.invoice: it is a p",
        ),
        (
            Limits(lacks=(Lack(("total",), UNLOGGED),)),
            {"column_include_list": "public[.]invoice[.].*"},
            "take them out of column.include.list",
        ),
        (
            Limits(lacks=(Lack(("total",), UNDECODED),)),
            {"column_include_list": "public[.]invoice[.].*"},
            "public.invoice has total, of the type name, which Debezium reads in the first load",
        ),
        (
            Limits(needs_reselect=True),
            {"post_processors": ""},
            'write "post.processors": "reselector"',
        ),
    ],
)
def test_what_could_only_be_captured_wrongly_changes_nothing(
    lab: Lab,
    database: Database,
    done: list[str],
    limits: Limits,
    keys: dict[str, str],
    message: str,
) -> None:
    database.limits[INVOICE] = limits
    set_keys(lab, **keys)
    before = contents(lab)
    with pytest.raises(LabError, match=message) as caught:
        add_table(lab, "orders.public.invoice", REPORTER)
    assert caught.value.exit_code is ExitCode.USAGE
    assert contents(lab) == before
    assert done == []


def test_a_topic_in_no_sink_changes_nothing(lab: Lab, database: Database) -> None:
    del database
    (sink,) = (lab.project / "connectors").glob("sink_*.json")
    sink.write_text(sink.read_text().replace('"(orders)\\\\..+"', '"orders\\\\.public\\\\.c.+"'))
    before = contents(lab)
    with pytest.raises(LabError, match="No sink takes the topic"):
        add_table(lab, "orders.public.invoice", REPORTER)
    assert contents(lab) == before


def test_a_table_whose_connector_lacks_it_is_added_to_that(lab: Lab, database: Database) -> None:
    del database
    set_keys(lab, table_include_list="public.customer")
    with_both = add_table(lab, "orders.public.invoice", REPORTER).files
    after = contents(lab)
    set_keys(lab, table_include_list="public.customer")
    with pytest.raises(
        LabError, match=r"table\.include\.list leaves out public\.invoice"
    ) as caught:
        check_files(replace(lab))
    assert f"{connector_of(lab)}:" in caught.value.what
    assert f"{with_both[0]}:" in caught.value.what
    added = add_table(replace(lab), "orders.public.invoice", REPORTER)
    assert added.files == (connector_of(lab),)
    assert contents(lab) == after


def test_a_list_that_only_java_can_read_is_not_judged(lab: Lab) -> None:
    set_keys(lab, table_include_list="public\\.(?<Name>.+)")
    check_files(lab)


@pytest.mark.parametrize("step", ["up", "apply_and_wait"])
def test_a_table_that_does_not_start_leaves_no_file(
    lab: Lab, database: Database, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    del database
    set_keys(lab, table_include_list="public.customer")
    before = contents(lab)

    def fail(*_: object) -> None:
        raise LabError("it does not start")

    with monkeypatch.context() as failing:
        failing.setattr(module, step, fail)
        with pytest.raises(LabError, match="it does not start"):
            add_table(lab, "orders.public.invoice", REPORTER)
        assert contents(lab) == before
    add_table(replace(lab), "orders.public.invoice", REPORTER)
    after = contents(lab)
    with monkeypatch.context() as failing:
        failing.setattr(module, step, fail)
        with pytest.raises(LabError, match="it does not start"):
            remove_table(replace(lab), "orders.public.invoice", REPORTER)
    assert contents(lab) == after


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("change", [add_table, remove_table])
def test_killed_at_any_change_of_a_file_it_is_repaired_by_repeating(
    state_home: Path,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[..., object],
    fails: bool,
) -> None:
    """Also where it is killed while it puts files back."""
    del database
    monkeypatch.setattr(os, "fsync", lambda _: None)
    folder = state_home / "project"

    def fresh(*, added: bool = change is remove_table) -> Lab:
        lab = made_lab(folder)
        set_keys(lab, table_include_list="public.customer")
        if added:
            add_table(lab, "orders.public.invoice", REPORTER)
        return replace(lab)

    start, end = contents(fresh()), contents(fresh(added=change is add_table))

    def run(lab: Lab) -> None:
        def fail(*_: object) -> None:
            raise LabError("it does not start")

        with monkeypatch.context() as failing, suppress(LabError):
            if fails:
                failing.setattr(module, "up", fail)
            change(lab, "orders.public.invoice", REPORTER)

    seen = set()
    for number in kill_at_every_change(state_home, fresh, run):
        lab = Lab(find_project(folder), LabConfig.load(folder / "lab.toml"), "native", STATE)
        found = contents(lab)
        assert found in (start, end), number
        seen.add(found == end)
        check_files(lab)
        with suppress(LabError):  # it is done already
            change(lab, "orders.public.invoice", REPORTER)
        assert contents(lab) == end
    assert seen == {True, False}


def test_a_table_is_removed_from_files_and_publication(
    lab: Lab, database: Database, done: list[str]
) -> None:
    with pytest.raises(LabError, match="only table"):
        remove_table(lab, "customer", REPORTER)
    set_keys(lab, table_include_list="public.customer")
    before = contents(lab)
    added = add_table(lab, "orders.public.invoice", REPORTER)
    done.clear()
    fresh = Lab(lab.project, lab.config, lab.profile, lab.state)
    removed = remove_table(fresh, "orders.public.invoice", REPORTER)
    assert removed.name == added.table.name
    assert contents(lab) == before
    assert database.released == [INVOICE]
    assert done == ["up", "apply"]


def test_a_removal_that_was_killed_after_its_files_is_completed(
    lab: Lab, database: Database, done: list[str]
) -> None:
    database.published = {CUSTOMER, INVOICE}
    before = contents(lab)
    removed = remove_table(lab, "orders.public.invoice", REPORTER)
    assert (removed.name, removed.files) == ("public.invoice", ())
    assert database.released == [INVOICE]
    assert done == ["up"]
    assert contents(lab) == before
    database.published = {CUSTOMER}
    with pytest.raises(LabError, match="no table"):
        remove_table(lab, "orders.public.invoice", REPORTER)


def test_a_database_names_its_only_source(lab: Lab) -> None:
    config = lab.config.model_copy(
        update={
            "sources": {
                "tills": lab.config.sources["orders"].model_copy(update={"database": "shop"})
            }
        }
    )
    named = named_table(Lab(lab.project, config, "native", lab.state), "shop.public.a.b")
    assert named == ("tills", TableRef("public", "a.b"))


def test_filters_are_read_as_debezium_reads_them(tmp_path: Path) -> None:
    def file(**keys: str) -> ConnectorFile:
        path = tmp_path / "source_connector_x.json"
        config = {"connector.class": "io.debezium.connector.mysql.MySqlConnector"}
        path.write_text(
            json.dumps(config | {key.replace("_", "."): value for key, value in keys.items()})
        )
        return read_connector(path)

    assert lets_through(file().config, "postgres", INVOICE)
    assert lets_through(file(table_include_list="public[.](a|INVOICE)").config, "mysql", INVOICE)
    assert not lets_through(file(table_include_list="public.inv").config, "mysql", INVOICE)
    assert not lets_through(file(database_include_list="other").config, "mysql", INVOICE)
    with pytest.raises(LabError, match=r"table\.exclude\.list leaves public\.invoice out"):
        with_table(file(table_exclude_list="public.*"), "postgres", INVOICE)
    listed = file(database_include_list="other", table_include_list="other.a")
    text = with_table(listed, "mysql", INVOICE)
    assert text is not None
    assert lets_through(json.loads(text), "mysql", INVOICE)
    assert without_table(file(table_include_list="public.invoice"), INVOICE) is None
