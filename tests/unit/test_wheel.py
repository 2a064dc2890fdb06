"""Wheel and source archive have all that a lab runs without a checkout, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from hatch_build import SHIPPED
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.shipped import own_or_shipped, shipped

PROJECT = Path(__file__).parents[2]
PACKAGES = ("labctl", "lakeapi", "lakecontract", "seeds", "sqlapi", "spark/lakehouse")
BESIDE_PACKAGES = [f":(glob){name}" for name in SHIPPED]
"""What is shipped, for git: `*` is no folder."""
BESIDE = (
    *(".gitignore", "CHANGELOG.md", "LICENSE", "README.md"),
    *("hatch_build.py", "pyproject.toml", "PKG-INFO"),
)
"""What the source archive has besides what the wheel is made of."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(PROJECT))
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> ZipFile:
    return ZipFile(next(built.glob("labctl-*.whl")))


def run(*argv: str, cwd: Path = PROJECT) -> str:
    """What a command prints. Its failure is the test's, with all that it said."""
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(*names: str) -> set[str]:
    """The repository's files of these names and below them, those not committed yet too."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *names)
    found = set(listed.splitlines())
    assert found
    return found


def test_the_wheel_has_the_packages_and_what_a_lab_needs_beside_them(wheel: ZipFile) -> None:
    packages = {name.removeprefix("spark/") for name in files_of(*PACKAGES)}
    beside = {f"labctl/shipped/files/{name}" for name in files_of(*BESIDE_PACKAGES)}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == packages | beside


def test_what_is_shipped_is_the_repositorys_own(wheel: ZipFile) -> None:
    for name in ("spark/silver.py", "spark/spark-defaults.conf", "spark/log4j2.properties"):
        content = wheel.read(f"labctl/shipped/files/{name}")
        assert content == (PROJECT / name).read_bytes()
        assert shipped(name).read_bytes() == content


def test_the_source_archive_has_what_the_wheel_is_made_of(built: Path) -> None:
    with tarfile.open(next(built.glob("labctl-*.tar.gz"))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert packed == {*files_of(*PACKAGES, *BESIDE_PACKAGES), *BESIDE}


def test_both_are_as_an_index_wants_them(built: Path) -> None:
    said = run(sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir()))
    assert said.count("PASSED") == 2


@pytest.mark.parametrize(
    ("commands", "version"),
    [
        pytest.param([("tag", "v9.8.7")], "9.8.7", id="at-a-tag"),
        pytest.param(
            [("tag", "v9.8.7"), ("commit", "--allow-empty", "--message", "2")],
            "9.8.8.dev1+g",
            id="after-a-tag",
        ),
        pytest.param([], "0.0.1.dev1+g", id="before-the-first-tag"),
    ],
)
def test_the_version_comes_from_the_tags(
    tmp_path: Path, commands: Sequence[Sequence[str]], version: str
) -> None:
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((PROJECT / name).read_bytes())
    git = ("git", "-c", "user.name=Test", "-c", "user.email=test@example.org")
    begin = [("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "1")]
    for arguments in [*begin, *commands]:
        run(*git, *arguments, cwd=tmp_path)
    said = run(sys.executable, "-m", "hatchling", "version", cwd=tmp_path).strip()
    assert said.startswith(version)
    assert "+" in version or said == version


def test_the_base_needs_nothing_of_promotion_and_reports(wheel: ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    needed = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist", [])
    base = {line.split(">")[0] for line in needed if "extra ==" not in line}
    assert {"pytest", "typer"} <= base
    assert not base & {
        *("cfn-lint", "plotly", "aws-msk-iam-sasl-signer-python"),
        *("fastapi", "redis"),
    }
    assert {"cfn-lint", "plotly"} <= {line.split(">")[0].split("<")[0] for line in needed}


def test_a_missing_extra_is_one_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labctl.extras.find_spec", lambda _: None)
    with pytest.raises(LabError) as caught:
        require_extra("reports")
    assert "plotly" in caught.value.what
    assert caught.value.hint == "pip install 'labctl[reports]'"
    assert caught.value.exit_code is ExitCode.ENVIRONMENT


def test_a_projects_own_file_wins(tmp_path: Path) -> None:
    name = "connectors/worker.properties"
    assert own_or_shipped(tmp_path, name) == shipped(name) == PROJECT / name
    own = tmp_path / name
    own.parent.mkdir()
    own.touch()
    assert own_or_shipped(tmp_path, name) == own
