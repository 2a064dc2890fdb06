"""`labctl doctor --report`: what a report of a fault needs, also where little works."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import labctl.cli.doctor  # noqa: F401 - registers the command
from labctl.cli.app import root

PROJECT = Path(__file__).parents[2]


def report(*options: str) -> str:
    return CliRunner().invoke(root, ["doctor", "--report", *options]).stdout


@pytest.fixture
def project(tmp_path: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    del state_home
    folder = tmp_path / "home" / "project"
    (folder / "spark").mkdir(parents=True)
    shutil.copy(PROJECT / "lab.toml", folder)
    shutil.copytree(PROJECT / "connectors", folder / "connectors")
    shutil.copytree(PROJECT / "spark" / "properties", folder / "spark" / "properties")
    monkeypatch.setenv("LABCTL_PROJECT", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


@pytest.mark.usefixtures("project")
def test_a_lab_that_was_never_started_has_a_report() -> None:
    text = report()
    assert "labctl " in text
    assert "profile native (native)" in text
    assert "tables: 7" in text
    assert "no status: There is no lab named 'tickit'" in text
    assert json.loads(report("-o", "json"))["report"].startswith("```\n")


def test_a_file_that_cannot_be_used_is_in_the_report_without_the_home(project: Path) -> None:
    file = project / "spark" / "properties" / "tickit.ecomm.sale.properties"
    file.write_text("just words\n")
    text = report()
    assert "tables: unknown, ~/project/spark/properties/tickit.ecomm.sale.properties:1" in text
    assert str(project) not in text


@pytest.mark.usefixtures("project")
def test_a_home_that_is_the_root_hides_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert "~" not in report()
