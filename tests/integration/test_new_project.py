"""What `labctl init` writes for each engine comes up, is equal, and passes its own test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labctl.sources import ENGINES

pytestmark = pytest.mark.long


def run(folder: Path | None, module: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env={**os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    """A project with a source of each engine, as `init` writes it, whose lab is up."""
    with TemporaryDirectory(prefix="labctl-") as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", home)
        folder = Path(home) / "shop"
        sources = [word for name in ENGINES for word in ("--source", f"of-{name}={name}")]
        run(None, "labctl", "init", str(folder), *sources)
        try:
            run(folder, "labctl", "up")
            yield folder
        finally:
            run(folder, "labctl", "destroy", "--yes")


def test_every_example_is_equal_in_silver(project: Path) -> None:
    said = run(project, "labctl", "verify")
    equal = [line for line in said.splitlines() if " equal" in line]
    assert len(equal) == len(ENGINES), said
    assert "All rows match" in said


def test_the_projects_own_test_passes(project: Path) -> None:
    assert " passed" in run(project, "pytest", "-q", "-n", "0")
