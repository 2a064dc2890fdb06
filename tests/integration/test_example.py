"""The example of docs/testing.md, run as its reader does: its six tests on a lab of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.snapshots import snapshots
from labctl.state.lab_state import lab_names

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders"


@pytest.mark.usefixtures("state_home")
def test_the_example_passes_on_a_lab_that_it_makes_and_removes(tmp_path: Path) -> None:
    project = shutil.copytree(EXAMPLE, tmp_path / "orders")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--lab="],
            cwd=project,
            env={**os.environ, "LABCTL_PROJECT": str(project)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert re.search(r"\b6 passed in ", done.stdout), done.stdout + done.stderr
        assert "skipped" not in done.stdout
        assert lab_names() == []
        assert snapshots() == []
    finally:
        for name in lab_names():
            destroy(Lab.find(name=name, project=project))
