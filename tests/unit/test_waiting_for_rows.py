"""Waiting for a new table's rows ends at once, with the reason, where its connector has failed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.lab.connectors import connector_states
from labctl.lab.lab import Lab
from labctl.lab.tables import table_stations
from labctl.lab.tables.table_stations import wait_for_rows
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.project import new_project, write_project
from labctl.state.lab_state import LabState

TRACE = (
    "org.apache.kafka.connect.errors.ConnectException: stopped\n"
    "Caused by: org.apache.avro.SchemaParseException: Illegal initial character: 1st\n\tat X\n"
)


def failed(name: str) -> dict[str, Any]:
    task = {"id": 0, "state": "FAILED", "trace": TRACE}
    return {name: {"connector": {"state": "RUNNING"}, "tasks": [task]}}


def test_a_connector_that_has_failed_is_told_before_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_project(tmp_path / "shop", new_project("shop", [example_source("crm", "mysql")]))
    config = LabConfig.load(tmp_path / "shop" / "lab.toml")
    lab = Lab(tmp_path / "shop", config, "native", LabState("shop"))
    endpoints = SimpleNamespace(connect="http://127.0.0.1:1")
    monkeypatch.setitem(vars(lab), "endpoints", endpoints)
    connector = config.sources["crm"].connector
    client = SimpleNamespace(statuses=lambda: failed(connector))
    monkeypatch.setattr(connector_states, "connect_client", lambda _: client)
    monkeypatch.setattr(connector_states, "why_failed", lambda _lab, trace, _name: trace)
    monkeypatch.setattr(table_stations, "silver_rows", lambda *_: 0)
    monkeypatch.setattr(table_stations, "_caught_up", lambda *_: False)
    monkeypatch.setattr(table_stations, "_ASK_SECONDS", -1.0)
    (table,) = lab.tables
    with pytest.raises(LabError, match=f"{connector} .*failed") as raised:
        wait_for_rows(lab, table, at_least=1, seconds=3600.0)
    assert raised.value.exit_code is ExitCode.NOT_READY
    assert "Illegal initial character: 1st" in f"{raised.value.what} {raised.value.details}"
