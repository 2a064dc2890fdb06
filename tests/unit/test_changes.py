"""Several files of a project change as one, whatever ends the command that changes them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from labctl.state.file_changes import change_files, changed_files, finish_changes
from labctl.state.folders import filled_folder
from tests.unit.killing import kill_at_every_change

BEFORE = {"lab.toml": b"", "a/one": b"old\r\n", "gone": b"old"}
CHANGE = {"a/one": b"new", "b/c/two": b"new", "gone": None}
AFTER = {"lab.toml": b"", "a/one": b"new", "b/c/two": b"new"}


@pytest.fixture
def project(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # A kill leaves what the kernel has, on disk or not.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    folder = state_home / "project"
    make(folder)
    return folder


def make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in BEFORE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def change(folder: Path, _: object = None) -> None:
    change_files(folder, {folder / name: content for name, content in CHANGE.items()})


def begin(folder: Path, state_home: Path) -> None:
    """Leave a change that has just begun."""
    for _ in kill_at_every_change(state_home, lambda: make(folder), partial(change, folder)):
        if any((state_home / "labctl" / ".changes").glob("[!.]*")):
            return


def test_killed_at_any_change_the_next_command_sees_all_or_nothing(
    project: Path, state_home: Path
) -> None:
    seen = set()
    for number in kill_at_every_change(state_home, lambda: make(project), partial(change, project)):
        assert find_project(project) == project
        found = contents(project)
        assert found in (BEFORE, AFTER), number
        seen.add("new" if found == AFTER else "old")
        change(project)
        assert contents(project) == AFTER
        assert not any((state_home / "labctl" / ".changes").iterdir())
    assert seen == {"old", "new"}


def test_completing_may_be_killed_as_well(project: Path, state_home: Path) -> None:
    for _ in kill_at_every_change(
        state_home, lambda: begin(project, state_home), lambda _: finish_changes(project)
    ):
        finish_changes(project)
        assert contents(project) == AFTER


def test_a_process_that_is_killed_leaves_all_or_nothing(project: Path) -> None:
    """SIGKILL at some moments of many changes."""
    program = """
import sys
from functools import partial
from pathlib import Path
from labctl.state.file_changes import change_files
folder = Path(sys.argv[1])
print("ready", flush=True)
for number in range(10_000):
    change_files(folder, {folder / name: str(number).encode() for name in ("a/one", "two")})
"""
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", program, str(project)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            start = (project / "a/one").read_bytes()
            while (project / "a/one").read_bytes() == start:
                pass
            process.send_signal(signal.SIGKILL)
        finish_changes(project)
        assert (project / "a/one").read_bytes() == (project / "two").read_bytes()


def test_files_are_put_back_after_an_error(project: Path) -> None:
    files = {project / name: content for name, content in CHANGE.items()}
    with pytest.raises(RuntimeError), changed_files(project, files):
        assert contents(project) == AFTER
        raise RuntimeError
    assert contents(project) == BEFORE


def test_what_cannot_be_written_changes_nothing(project: Path, state_home: Path) -> None:
    (project / "folder").mkdir()
    with pytest.raises(LabError, match="a folder of that name is there") as caught:
        change_files(project, {project / "a/one": b"new", project / "folder": b"new"})
    assert caught.value.exit_code is ExitCode.USAGE
    assert contents(project) == BEFORE
    assert not any((state_home / "labctl" / ".changes").iterdir())
    with pytest.raises(LabError, match="is not in the project"):
        change_files(project, {project / ".." / "outside": b"new"})


def test_a_full_disk_changes_nothing(project: Path) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from labctl.errors import LabError
from labctl.state.file_changes import change_files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    change_files(folder, {folder / "a/one": b"x" * 1000, folder / "two": b"y" * 100_000})
except LabError as error:
    print(error)
"""
    # The first is too little for the record, the second for a file.
    for limit in ("50000", "110000"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(project), limit],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "cannot be written" in done.stdout
        assert not finish_changes(project)
        assert contents(project) == BEFORE


def test_a_files_mode_stays_and_a_link_is_replaced_not_followed(
    project: Path, tmp_path: Path
) -> None:
    (project / "a/one").chmod(0o640)
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (project / "b").symlink_to(outside)
    (project / ".b.new").symlink_to(outside)
    change_files(project, {project / "a/one": b"new", project / "b": b"new"})
    assert (project / "a/one").stat().st_mode & 0o777 == 0o640
    assert outside.read_bytes() == b"mine"
    assert (project / "b").read_bytes() == b"new"


def test_another_folder_of_that_path_is_another_project(project: Path, state_home: Path) -> None:
    begin(project, state_home)
    kept = project.rename(project.with_name("kept"))
    make(project)
    assert project.stat().st_ino != kept.stat().st_ino
    assert not finish_changes(project)
    assert contents(project) == BEFORE


def test_what_cannot_be_completed_is_named(project: Path, state_home: Path) -> None:
    begin(project, state_home)
    shutil.rmtree(project / "a")
    (project / "a").touch()
    with pytest.raises(LabError, match="was interrupted, and cannot be completed"):
        find_project(project)


@pytest.mark.parametrize("there", [False, True])
def test_killed_at_any_change_a_folder_is_filled_by_repeating(tmp_path: Path, there: bool) -> None:
    top, target = tmp_path / "top", tmp_path / "top" / "plan"
    old = {"one": b"old", "gone/two": b"old"} if there else {}
    new = {"one": b"new", "three": b"new"}

    def prepare() -> None:
        shutil.rmtree(top, ignore_errors=True)
        top.mkdir()
        for name, content in old.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)

    def run(_: object = None) -> None:
        with filled_folder(target) as staged:
            for name, content in new.items():
                (staged / name).write_bytes(content)

    for number in kill_at_every_change(top, prepare, run):
        # Between two renames it is not there: the old one waits beside it.
        assert contents(target) in (old, new, {}), number
        with pytest.raises(RuntimeError), filled_folder(target):
            raise RuntimeError
        assert contents(target) in (old, new), number
        run()
        assert contents(target) == new
        assert [path.name for path in top.iterdir()] == ["plan"]
