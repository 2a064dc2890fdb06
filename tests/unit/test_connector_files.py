from __future__ import annotations

import json
from pathlib import Path

import pytest

from labctl.config.model import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.files import (
    REFERENCE,
    connector_files,
    read_connector,
    resolve_references,
)

PROJECT = Path(__file__).parents[2]
FILES = connector_files(PROJECT / "connectors")


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
        if key.endswith(("password", "hostname", "bootstrap.servers", "registry.url")):
            assert REFERENCE.search(value), key


def test_the_captured_schemas_are_those_of_lab_toml() -> None:
    config = LabConfig.load(PROJECT / "lab.toml")
    by_name = {file.name: file.config for file in FILES}
    for source in config.sources.values():
        values = by_name[source.connector]
        captured = values.get("schema.include.list") or values["database.include.list"]
        assert captured == source.db_schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2"),
        ("[]", "one object"),
        (json.dumps({"tasks.max": 1}), "tasks.max: the value must be a string, found 1"),
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
