"""A project's own Spark application: it is found, and refused if it needs another contract."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lakecontract
import lakehouse
from labctl.application import (
    APPLICATION,
    application_files,
    application_package,
    own_jar,
    require_contract,
    shipped_package,
)
from labctl.errors import ExitCode, LabError
from labctl.shipped import shipped


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
    files = set(application_files(project))
    assert {project / APPLICATION, project / "spark" / "lakehouse" / "application.py"} <= files
    assert Path(lakecontract.__path__[0]) / "options.py" in files
    require_contract(project)


@pytest.mark.parametrize("declared", ["CONTRACT = 7\n", "CONTRACT: int = 7\n"])
def test_another_contract_is_refused_with_both_versions(project: Path, declared: str) -> None:
    declare(project, declared)
    with pytest.raises(LabError, match=r"needs version 7, .* has version 1 ") as caught:
        require_contract(project)
    assert caught.value.exit_code is ExitCode.USAGE
    assert str(project / "spark" / "lakehouse" / "__init__.py") in caught.value.what


@pytest.mark.parametrize("text", ["", "CONTRACT = 'one'\n", "CONTRACT = True\n"])
def test_one_that_declares_none_is_refused(project: Path, text: str) -> None:
    declare(project, text)
    with pytest.raises(LabError, match="has no number CONTRACT") as caught:
        require_contract(project)
    assert "set CONTRACT = 1 there" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "said"), [("CONTRACT = \n", "__init__.py:1: invalid"), ("import os\0", "null bytes")]
)
def test_one_that_is_no_module_is_refused_with_its_line(
    project: Path, text: str, said: str
) -> None:
    declare(project, text)
    with pytest.raises(LabError, match=said):
        require_contract(project)


def test_a_package_without_its_script_is_refused(project: Path) -> None:
    (project / APPLICATION).unlink()
    with pytest.raises(LabError, match=r"is not used: the project has no spark/silver\.py"):
        require_contract(project)


def test_the_application_itself_refuses_another_contract_before_it_uses_it(tmp_path: Path) -> None:
    """On EMR and in containers: names that it imports may be missing in that contract."""
    (tmp_path / "lakecontract").mkdir()
    (tmp_path / "lakecontract" / "__init__.py").write_text("VERSION = 7\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import lakehouse.spark_process"],
        env={"PYTHONPATH": f"{tmp_path}:{shipped_package().parent}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "needs version 1 of the package lakecontract, and version 7 is installed" in done.stderr
