"""A run with a time limit begins with what passed longest ago, and names what it left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.time_limit import LastPassed, in_order

ROOT = Path(__file__).parents[3]
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"


def files(nodeids: list[str]) -> list[str]:
    return list(dict.fromkeys(nodeid.partition("::")[0] for nodeid in nodeids))


def test_the_oldest_come_first_and_unknown_ones_before_them() -> None:
    tests = [f"tests/integration/test_{name}.py::test_{n}" for name in "abc" for n in (1, 2)]
    passed = dict.fromkeys(tests[:4], NEW) | {tests[1]: OLD}
    assert files(in_order(tests, passed, seed=1)) == [
        "tests/integration/test_c.py",
        "tests/integration/test_a.py",
        "tests/integration/test_b.py",
    ]


def test_a_file_stays_together_and_in_its_order() -> None:
    tests = [f"tests/e2e/test_{name}.py::test_{n}" for name in "ab" for n in (2, 1, 3)]
    assert in_order(tests, {tests[1]: NEW, tests[4]: NEW}, seed=7) in (
        tests,
        tests[3:] + tests[:3],
    )


def test_the_end_to_end_tests_are_the_first_group() -> None:
    tests = ["tests/integration/test_a.py::test_1", "tests/e2e/test_a.py::test_1"]
    assert in_order(tests, {tests[1]: NEW}, seed=1) == tests[::-1]


def test_a_seed_decides_where_nothing_else_does() -> None:
    tests = [f"tests/integration/test_{n}.py::test" for n in range(20)]
    assert in_order(tests, {}, seed=1) == in_order(tests[::-1], {}, seed=1)
    assert in_order(tests, {}, seed=1) != in_order(tests, {}, seed=2)


def test_the_file_keeps_times_and_drops_tests_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "test_here.py").touch()
    record = LastPassed(tmp_path / "cache" / "last-passed.json")
    assert record.load() == {}
    record.update({"test_here.py::test_a": OLD, "test_gone.py::test_b": OLD}, tmp_path)
    record.update({"test_here.py::test_c": NEW}, tmp_path)
    assert record.load() == {"test_here.py::test_a": OLD, "test_here.py::test_c": NEW}


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_a_damaged_file_counts_as_none(content: str, tmp_path: Path) -> None:
    record = LastPassed(tmp_path / "last-passed.json")
    record.file.write_text(content)
    assert record.load() == {}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    plugins = ("-p", "xdist.plugin", "-p", "tests.running.time_limit")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_would_begin_too_late_is_named(workers: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    (tmp_path / "test_two.py").write_text("def test_c(): pass\n")
    in_time = run(tmp_path, "-n", workers, "--time-limit", "10", "test_one.py")
    assert "2 passed" in in_time.stdout, in_time.stdout
    (record,) = (tmp_path / "cache").rglob("last-passed.json")
    assert sorted(json.loads(record.read_text())) == ["test_one.py::test_a", "test_one.py::test_b"]
    late = run(tmp_path, "-n", workers, "--time-limit", "0", "--order-seed", "5")
    assert late.returncode == pytest.ExitCode.OK
    assert "--order-seed 5, 2 earlier passes known" in late.stdout
    assert "3 left out" in late.stdout
    assert "test_two.py: 1 test, last passed (not known)" in late.stdout
    assert "test_one.py: 2 tests, last passed 20" in late.stdout
