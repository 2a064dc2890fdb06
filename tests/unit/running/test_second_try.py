"""A test that fails and passes alone is listed as flaky; one that fails again fails the run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.second_try import FLAKY_LIST, MOST

ROOT = Path(__file__).parents[3]
FLAKY = """
import pathlib
def test_flaky():
    seen = pathlib.Path("seen")
    print("seen" if seen.exists() else "not seen")
    was_there = seen.exists()
    seen.touch()
    assert was_there, "this time"
def test_sound():
    pass
"""
BROKEN = """
def test_broken():
    raise ValueError("every time")
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a project of its own, with the plugin alone."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.running.second_try", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / FLAKY_LIST).parent.mkdir()
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    return tmp_path


def test_what_passes_alone_passes_and_is_listed(project: Path) -> None:
    first = run(project, "--write-failures", "build")
    assert first.returncode == pytest.ExitCode.TESTS_FAILED
    assert (project / "build" / "failed.txt").read_text() == "test_flaky.py::test_flaky\n"
    second = run(project, "--second-try", "build", "@build/failed.txt")
    assert second.returncode == pytest.ExitCode.OK, second.stdout
    assert "1 passed" in second.stdout, "what had passed before is not run again"
    heading, _, account = second.stdout.partition(" flaky ")
    assert heading
    before, _, after = account.partition("passed when it ran again, alone")
    assert "AssertionError: this time" in before
    assert "not seen" in before
    assert "not seen" not in after and "seen" in after
    (entry,) = (project / FLAKY_LIST).read_text().splitlines()
    assert entry.endswith("test_flaky.py::test_flaky: AssertionError: this time")


def test_what_fails_again_fails(project: Path) -> None:
    (project / "test_broken.py").write_text(BROKEN)
    run(project, "--write-failures", "build")
    second = run(project, "--second-try", "build", "@build/failed.txt")
    assert second.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 1 passed" in second.stdout
    assert "test_broken" not in (project / FLAKY_LIST).read_text()


def test_what_is_skipped_when_it_runs_again_fails(project: Path) -> None:
    skips = "if was_there: import pytest; pytest.skip()\n    assert 0"
    text = re.sub("assert was_there.*", skips, FLAKY)
    (project / "test_flaky.py").write_text(text)
    run(project, "--write-failures", "build")
    second = run(project, "--second-try", "build", "@build/failed.txt")
    assert second.returncode == pytest.ExitCode.TESTS_FAILED, second.stdout
    assert "did not pass when it ran again: test_flaky.py::test_flaky" in second.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_file_that_cannot_be_imported_is_no_case_for_a_second_try(
    project: Path, workers: str
) -> None:
    (project / "test_broken.py").write_text("import nothing_of_that_name\n")
    first = run(project, "-p", "xdist.plugin", "-n", workers, "--write-failures", "build")
    assert first.returncode != pytest.ExitCode.OK
    assert not (project / "build" / "failed.txt").exists()


def test_tests_that_never_ran_are_no_case_for_a_second_try(project: Path) -> None:
    first = run(project, "-x", "--write-failures", "build")
    assert "stopping after 1 failures" in first.stdout
    assert not (project / "build" / "failed.txt").exists()


def test_failures_of_an_earlier_run_are_forgotten(project: Path) -> None:
    run(project, "--write-failures", "build")
    assert run(project, "--write-failures", "build").returncode == pytest.ExitCode.OK
    assert not (project / "build" / "failed.txt").exists()


def test_very_many_failures_are_not_tried_again(project: Path) -> None:
    test = "import pytest\n@pytest.mark.parametrize('n', range({}))\ndef test_broken(n): assert 0\n"
    (project / "test_broken.py").write_text(test.format(MOST + 1))
    first = run(project, "--write-failures", "build", "test_broken.py", "--tb=no", "-q")
    assert "no second try" in first.stdout
    assert not (project / "build" / "failed.txt").exists()


def test_no_folder_of_the_makefile_is_taken_for_tests() -> None:
    """pytest looks for `tests/conftest.py` in a folder that is there and is a word of its own."""
    options = r"--(write-failures|write-durations|second-try|time-limit)"
    used = re.findall(rf"{options}(.)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert {follows for _, follows in used} == {"="}
    assert len({option for option, _ in used}) == 4
