"""What the documentation says is what the code does."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema_rs import validator_for

from docsite.blocks import CONTRIBUTING, DOCS, with_blocks
from docsite.images import FOLDER, pictures
from docsite.lab_schema import lab_schema
from labctl.cli import COMMANDS
from labctl.config.lab_config import LabConfig
from labctl.conformance import document as conformance
from labctl.conformance.evidence import kept_reports
from labctl.conformance.types_document import render
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.scaffolding.project import SCHEMA_FILE
from labctl.services.lab_services import PASSWORDS, SERVICES
from labctl.services.reference_files import reference_values


def test_the_types_page_is_what_the_rules_say() -> None:
    assert (DOCS / "types.md").read_text() == render()


def test_the_conformance_page_is_what_the_kept_run_says() -> None:
    assert (DOCS / "conformance.md").read_text() == conformance.render(kept_reports())


@pytest.mark.parametrize(
    "page",
    ["aws-keys.md", "cli.md", "configuration.md", "licences.md", "testing.md", CONTRIBUTING],
)
def test_what_is_made_from_code_is_what_the_code_says(page: str | Path) -> None:
    """Made by `python -m docsite.blocks`."""
    text = (DOCS / page).read_text()
    assert "<!-- made from code: " in text
    assert text == with_blocks(text)


def test_the_schema_of_lab_toml_is_what_the_code_says_and_takes_each_lab() -> None:
    schema = SCHEMA_FILE.read_text("utf-8")
    assert schema == lab_schema()
    keys = validator_for(json.loads(schema))
    root = DOCS.parent
    labs = (root / "lab.toml", root / "examples/orders/lab.toml", *(root / "labs").glob("*.toml"))
    for file in labs:
        assert list(keys.iter_errors(tomllib.loads(file.read_text("utf-8")))) == []
    wrong = keys.iter_errors({"name": "own", "lake": {"bukket": "b"}})
    assert any("'bukket' was unexpected" in error.message for error in wrong)


def test_the_pictures_are_what_the_figures_and_the_code_say() -> None:
    """Made by `python -m docsite.images`."""
    assert {path.name: path.read_text() for path in FOLDER.glob("*.svg")} == pictures()


def test_every_port_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text()
    for service in SERVICES:
        for endpoint, port in service.ports.items():
            assert f"| {service.name} | {endpoint} | {port} |" in text


def test_every_value_that_connectors_may_refer_to_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text()
    config = LabConfig.load(DOCS.parent / "lab.toml")
    passwords = dict.fromkeys(PASSWORDS, "x")
    endpoints = network_endpoints(config, passwords)
    for name, values in reference_values(endpoints, passwords, "kafka").items():
        named = "SOURCE" if name in config.sources else name
        (row,) = re.findall(rf"^\| .*`demo/{named}`.* \| (.*) \|$", text, re.MULTILINE)
        assert set(values) <= set(re.findall("`([^`]+)`", row)), name


def test_every_command_is_documented() -> None:
    text = (DOCS / "cli.md").read_text()
    for name, command in COMMANDS.items():
        for words in (
            [name] if command.module else [f"{name} {below}" for below in command.commands]
        ):
            assert re.search(rf"^\|.*`{words}", text, re.MULTILINE), words
