"""Loading a table again: what a connector's file needs for it, and which rows are asked for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import connector_files
from labctl.kafkaconnect.keys import missing_signals
from labctl.lab.connectors.backfill import asked_rows, hold_connector, rows_condition
from labctl.lab.lab import Lab
from labctl.sources import Source, TableRef
from labctl.sources.signal_table import own_signals

ORDERS = TableRef("public", "orders")
SIGNALLED = ("postgres", "moma", "mysql", "mssql")
FILES = {
    file.name.split("_")[2]: file.config
    for file in connector_files(Path(__file__).parents[2] / "connectors")
}


class Database:
    """One whose `orders` has these keys."""

    def __init__(self, *keys: str) -> None:
        self._keys = keys

    def describe(self, _ref: TableRef) -> SimpleNamespace:
        columns = [SimpleNamespace(name=name) for name in ("id", "state", "note")]
        return SimpleNamespace(keys=self._keys, columns=columns)

    def quote(self, name: str) -> str:
        return f'"{name}"'


def condition(database: Database, where: str | None, *columns: str) -> str | None:
    return rows_condition(cast("Source", database), ORDERS, where, columns)


def test_rows_are_chosen_by_a_condition_and_by_columns_that_are_filled() -> None:
    database = Database("id")
    assert condition(database, None) is None
    assert condition(database, "id > 5") == "(id > 5)"
    assert condition(database, "id > 5", "state", "note") == (
        '(id > 5) AND ("state" IS NOT NULL OR "note" IS NOT NULL)'
    )


def test_a_second_backfill_of_a_connector_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    lab = cast("Lab", SimpleNamespace(state=SimpleNamespace(folder=tmp_path)))
    for _ in range(2):
        with hold_connector(lab, "source_shop", "shop.orders"):
            with (
                pytest.raises(LabError, match=r"source_shop is reading shop\.orders") as raised,
                hold_connector(lab, "source_shop", "shop.lines"),
            ):
                pytest.fail("both run")
            assert raised.value.exit_code is ExitCode.BUSY
            with hold_connector(lab, "source_crm", "crm.users"):
                pass


def test_what_cannot_be_read_in_parts_is_refused() -> None:
    with pytest.raises(LabError, match=r"public\.orders has no primary key") as raised:
        condition(Database(), None)
    assert raised.value.exit_code is ExitCode.USAGE
    with pytest.raises(LabError, match="has no column status"):
        condition(Database("id"), None, "state", "status")
    with pytest.raises(LabError, match="too long for a signal"):
        asked_rows("public.orders", "x" * 3000)


def test_a_signal_names_the_table_as_an_expression() -> None:
    asked: dict[str, Any] = asked_rows("public.a+b", None)
    assert asked == {"type": "incremental", "data-collections": [r"public\.a\+b"]}
    filtered = asked_rows("public.orders", "(id > 5)")["additional-conditions"]
    assert filtered == [{"data-collection": r"public\.orders", "filter": "(id > 5)"}]


@pytest.mark.parametrize("engine", SIGNALLED)
def test_files_that_labctl_comes_with_can_be_asked(engine: str) -> None:
    assert missing_signals(FILES[engine]) == {}


def test_a_file_that_cannot_be_asked_is_told_the_keys() -> None:
    config = {"connector.class": "io.debezium.connector.postgresql.PostgresConnector"}
    assert missing_signals({**config, "topic.prefix": "eu"}) == {
        "signal.data.collection": "labctl.signal",
        "notification.enabled.channels": "sink",
        "notification.sink.topic.name": "notifications.eu",
    }
    theirs = {"signal.data.collection": "x.y", "notification.enabled.channels": "log"}
    assert missing_signals({**config, **theirs, "notification.sink.topic.name": "n"}) == {
        "notification.enabled.channels": "log,sink"
    }


def test_labctl_makes_the_signal_tables_of_its_own_schema() -> None:
    assert own_signals("labctl.signal_a") == TableRef("labctl", "signal_a")
    assert own_signals("shop.labctl.signal") == TableRef("labctl", "signal")
    assert own_signals("public.signals") is None
    assert own_signals("") is None
