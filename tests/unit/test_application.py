"""A project's own Spark application: it is found, and refused if it needs another contract."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lakecontract
import lakehouse
from labctl.application import (
    APPLICATION,
    application_package,
    own_jar,
    require_contract,
    shipped_package,
)
from labctl.errors import ExitCode, LabError
from labctl.shipped import shipped
from lakecontract.errors import ConfigurationError
from lakehouse import app


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a copy of the application."""
    (tmp_path / "spark").mkdir()
    shutil.copy(shipped(APPLICATION), tmp_path / APPLICATION)
    shutil.copytree(shipped_package(), tmp_path / "spark" / "lakehouse")
    return tmp_path


def declare(project: Path, text: str) -> None:
    (project / "spark" / "lakehouse" / "__init__.py").write_text(text, encoding="utf-8")


def test_the_shipped_application_has_the_contract_that_labctl_has(tmp_path: Path) -> None:
    assert application_package(tmp_path) == Path(lakehouse.__path__[0])
    require_contract(tmp_path)
    assert lakehouse.CONTRACT == lakecontract.VERSION


def test_a_copy_of_it_takes_its_place(project: Path) -> None:
    assert application_package(project) == project / "spark" / "lakehouse"
    assert own_jar(project).is_file()
    require_contract(project)


@pytest.mark.parametrize("declared", ["CONTRACT = 7\n", "CONTRACT: int = 7\n"])
def test_another_contract_is_refused_with_both_versions(project: Path, declared: str) -> None:
    declare(project, declared)
    with pytest.raises(LabError, match=r"needs version 7, .* has version 1 ") as caught:
        require_contract(project)
    assert caught.value.exit_code is ExitCode.USAGE
    assert str(project / "spark" / "lakehouse" / "__init__.py") in caught.value.what


@pytest.mark.parametrize("text", ["", "CONTRACT = 'one'\n", "CONTRACT = \n", "import os\0"])
def test_one_that_declares_none_is_refused(project: Path, text: str) -> None:
    declare(project, text)
    with pytest.raises(LabError, match="has no number CONTRACT") as caught:
        require_contract(project)
    assert "set CONTRACT = 1 there" in (caught.value.hint or "")


def test_the_application_itself_refuses_another_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """On EMR and in containers nobody has compared them before."""
    monkeypatch.setattr(app, "VERSION", 7)
    with pytest.raises(ConfigurationError, match=r"needs version 1 .* and version 7 is installed"):
        app._require_contract()
