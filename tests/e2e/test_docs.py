"""Commands of the pages that are marked as tested do what they should, on the suite's lab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docsite.tested import Block, marked_blocks
from labctl.lab.lab import Lab

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "README.md", *ROOT.glob("docs/**/*.md")))
BLOCKS = [block for page in PAGES for block in marked_blocks(page)]
SECONDS = 600


@pytest.mark.parametrize(
    "block", BLOCKS, ids=lambda block: f"{block.page.relative_to(ROOT)}:{block.line}"
)
def test_a_block_of_a_page_runs(block: Block, lab: Lab, lab_project: Path) -> None:
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", block.script],
        cwd=lab_project,
        env={
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LABCTL_LAB_NAME": lab.name,
            "LABCTL_PROFILE": lab.profile,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == block.exit_code, f"{block.script}{done.stdout}{done.stderr}"
