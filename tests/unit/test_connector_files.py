"""The connector files: where they come from, what they may hold, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labctl.config.kafka_clients import LOGIN_KEYS
from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import (
    ConnectorFile,
    connector_files,
    read_connector,
    resolve_references,
)
from labctl.services import kafka_service
from labctl.services.kafka_service import MESSAGE_BYTES
from lakecontract.properties import read_properties
from lakecontract.references import REFERENCE

PROJECT = Path(__file__).parents[2]
FILES = connector_files(PROJECT / "connectors")
ADDRESSES_AND_SECRETS = (
    *("password", "hostname", "bootstrap.servers", "registry.url"),
    *LOGIN_KEYS,
)


def test_every_source_of_the_lab_has_its_file() -> None:
    config = LabConfig.load(PROJECT / "lab.toml")
    names = {file.name for file in FILES}
    assert {source.connector for source in config.sources.values()} <= names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_file_holds_an_address_or_a_secret(file: object) -> None:
    for key, value in file.config.items():  # type: ignore[attr-defined]
        plain = REFERENCE.sub("", value)
        assert "localhost" not in plain, key
        assert "127.0.0.1" not in plain, key
        if key.endswith(ADDRESSES_AND_SECRETS):
            assert REFERENCE.search(value), key


def test_the_captured_schemas_are_those_of_lab_toml() -> None:
    config = LabConfig.load(PROJECT / "lab.toml")
    by_name = {file.name: file.config for file in FILES}
    for source in config.sources.values():
        values = by_name[source.connector]
        captured = values.get("schema.include.list") or values["database.include.list"]
        assert captured.split(",") == list(source.schemas)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2"),
        ("[]", "one object"),
        (json.dumps({"tasks.max": [1]}), "tasks.max: the value must be text"),
        (json.dumps({"database.password": {"x": "hunter2"}}), "not an object"),
        (json.dumps({"config": {}, "tasks.max": "1"}), "tasks.max stands beside config"),
        ('{"tasks.max": "1", "tasks.max": "2"}', "tasks.max stands in it twice"),
        (json.dumps({"tasks.max": "1"}), "connector.class is missing"),
    ],
)
def test_a_file_that_cannot_be_a_connector(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "source_connector_x.json"
    path.write_text(text)
    with pytest.raises(LabError) as raised:
        read_connector(path)
    assert said in raised.value.what
    assert str(path) in raised.value.what
    assert raised.value.exit_code is ExitCode.USAGE
    assert "hunter2" not in f"{raised.value.what}{raised.value.details}{raised.value.hint}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="No such file"):
        read_connector(tmp_path / "none.json")


def test_references_are_resolved_from_files(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "registry").write_text("url=http://127.0.0.1:1\n")
    assert (
        resolve_references("${secretManager:demo/registry:url}/apis", tmp_path)
        == "http://127.0.0.1:1/apis"
    )


def test_connects_own_form_with_a_name_and_values_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "source_connector_x.json"
    config = {"connector.class": "x", "tasks.max": 1, "tombstones.on.delete": False}
    path.write_text(json.dumps({"name": path.stem, "config": config}))
    expected = {"connector.class": "x", "tasks.max": "1", "tombstones.on.delete": "false"}
    assert read_connector(path).config == expected
    path.write_text(json.dumps(config))
    assert read_connector(path).config == expected


def test_a_file_that_names_another_connector(tmp_path: Path) -> None:
    path = tmp_path / "source_connector_x.json"
    path.write_text(json.dumps({"name": "inventory", "config": {"connector.class": "x"}}))
    with pytest.raises(LabError, match="names its connector otherwise") as raised:
        read_connector(path)
    assert "source_connector_x" in (raised.value.hint or "")


SOURCES = [file for file in FILES if file.is_source]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.name)
def test_a_source_reads_again_soon_and_keeps_neither_log_nor_heap(file: ConnectorFile) -> None:
    config = file.config
    assert int(config["retriable.restart.connector.wait.ms"]) <= 1000
    assert config["errors.max.retries"] == "-1"
    assert int(config["heartbeat.interval.ms"]) <= 10_000
    assert int(config["max.queue.size.in.bytes"]) <= 64 * 1024**2
    if "MySqlConnector" in config["connector.class"]:
        # It looks for its connection this often, and after a loss at the second look.
        assert 2 * int(config["connect.keep.alive.interval.ms"]) < 10_000
    if "PostgresConnector" in config["connector.class"]:
        # Heartbeats alone do not move the slot over what other databases of the server write.
        assert "pg_logical_emit_message(false, 'heartbeat'" in config["heartbeat.action.query"]
        assert config["message.prefix.exclude.list"] == "heartbeat"


def test_the_broker_takes_what_connect_may_send() -> None:
    worker = read_properties(PROJECT / "connectors" / "worker.properties")
    largest = int(worker["producer.max.request.size"])
    assert largest <= int(kafka_service.SETTINGS["message.max.bytes"]) <= MESSAGE_BYTES
