"""The wheel carries everything: what a lab runs without a checkout, and no test or document."""

from __future__ import annotations

import os
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.shipped import own_or_shipped, shipped

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            *(sys.executable, "-m", "build", "--wheel", "--no-isolation"),
            *("--outdir", str(folder), str(PROJECT)),
        ],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    return ZipFile(next(folder.glob("labctl-*.whl")))


def test_the_wheel_has_the_packages_and_all_their_files(wheel: ZipFile) -> None:
    packed = set(wheel.namelist())
    for folder in ("labctl", "lakeapi", "seeds", "sqlapi", "spark/lakehouse"):
        tracked = subprocess.run(
            ["git", "ls-files", folder], cwd=PROJECT, check=True, capture_output=True, text=True
        ).stdout.splitlines()
        assert tracked
        missing = {name.removeprefix("spark/") for name in tracked} - packed
        assert not missing


def test_the_wheel_has_a_copy_of_what_a_checkout_has_beside_them(wheel: ZipFile) -> None:
    packed = set(wheel.namelist())
    for name in (
        "compose",
        "connectors",
        "gold",
        "labs",
        "queries",
        "scenarios",
        "spark/properties",
    ):
        for path in (PROJECT / name).rglob("*"):
            if path.is_file() and "secrets" not in path.parts:
                assert f"labctl/shipped/files/{path.relative_to(PROJECT)}" in packed
    for name in ("spark/silver.py", "spark/spark-defaults.conf", "spark/log4j2.properties"):
        content = wheel.read(f"labctl/shipped/files/{name}")
        assert content == (PROJECT / name).read_bytes()
        assert shipped(name).read_bytes() == content
    tops = {name.split("/")[0] for name in packed}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "labctl",
        "lakeapi",
        "lakehouse",
        "seeds",
        "sqlapi",
    }


def test_the_base_needs_nothing_of_promotion_and_reports(wheel: ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    needed = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist", [])
    base = {line.split(">")[0] for line in needed if "extra ==" not in line}
    assert {"pytest", "typer"} <= base
    assert not base & {
        *("cfn-lint", "plotly", "jinja2", "aws-msk-iam-sasl-signer-python"),
        *("fastapi", "redis"),
    }
    assert {"cfn-lint", "plotly"} <= {line.split(">")[0].split("<")[0] for line in needed}


def test_a_missing_extra_is_one_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labctl.extras.find_spec", lambda _: None)
    with pytest.raises(LabError) as caught:
        require_extra("reports")
    assert "plotly, jinja2" in caught.value.what
    assert caught.value.hint == "pip install 'labctl[reports]'"
    assert caught.value.exit_code is ExitCode.ENVIRONMENT


def test_a_projects_own_file_wins(tmp_path: Path) -> None:
    name = "connectors/worker.properties"
    assert own_or_shipped(tmp_path, name) == shipped(name) == PROJECT / name
    own = tmp_path / name
    own.parent.mkdir()
    own.touch()
    assert own_or_shipped(tmp_path, name) == own
