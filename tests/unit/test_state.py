"""A lab's state on disk, whole, damaged or absent."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TextIO

import pytest
from typer.testing import CliRunner

from labctl.cli.app import root
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.state.lab_state import (
    COPIED,
    DESTROYED,
    RESTORING,
    STATE_VERSION,
    LabState,
    lab_names,
    write_private,
)

PROJECT = Path(__file__).parents[2]

HOLD_THE_LAB = """
import sys
from labctl.state.lab_state import LabState
with LabState(sys.argv[1]).changing():
    print("held", flush=True)
    sys.stdin.read()
"""


pytestmark = pytest.mark.usefixtures("state_home")


def test_an_unknown_lab_is_refused_with_the_known_ones() -> None:
    state = LabState("known")
    state.create()
    state.save(name="known")
    with pytest.raises(LabError) as raised:
        LabState("other").require()
    assert raised.value.exit_code is ExitCode.USAGE
    assert "known" in (raised.value.hint or "")
    assert lab_names() == ["known"]


def test_values_are_merged_and_kept() -> None:
    state = LabState("one")
    state.create()
    state.save(ports={"kafka": {"broker": 9092}})
    state.save(deaths_before=1)
    assert state.load() == {
        "version": STATE_VERSION,
        "ports": {"kafka": {"broker": 9092}},
        "deaths_before": 1,
    }


def written(name: str, text: bytes) -> LabState:
    """A lab whose lab.json holds `text`."""
    state = LabState(name)
    state.create()
    (state.folder / "lab.json").write_bytes(text)
    return state


DAMAGED = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"ports": 7}',
    b'{"ports": {"kafka": {"broker": "x"}}}',
    b'{"ports": {"kafka": {"broker": 99999999}}}',
    b'{"ports": {"kafka": {"broker": 0}}}',
    b'{"version": 0}',
    b'{"profiles": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
)


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_says_how_to_go_on(text: bytes) -> None:
    state = written("one", text)
    with pytest.raises(LabError, match="damaged") as raised:
        state.load()
    assert raised.value.exit_code is ExitCode.ENVIRONMENT
    assert "labctl destroy --lab one" in (raised.value.hint or "")


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_lab_does_not_keep_another_from_its_ports(text: bytes) -> None:
    written("damaged", text)
    healthy = LabState("healthy")
    healthy.create()
    healthy.save(ports={"kafka": {"broker": 9092}})
    lab = Lab.find(name="third", profile="native", project=PROJECT)
    assert lab.ports["kafka"]["broker"] != 9092


@pytest.mark.parametrize("text", [*DAMAGED, b'{"version": 99}', b'{"version": 3}'])
def test_a_damaged_newer_or_older_lab_can_be_stopped_and_removed(text: bytes) -> None:
    state = written("one", text)
    write_private(state.secrets / "passwords.json", "{")
    (state.data("mysql")).mkdir(parents=True)
    import_module("labctl.cli.down")
    result = CliRunner().invoke(root, ["down", "--lab", "one", "--output", "json"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(root, ["destroy", "--yes", "--lab", "one", "--output", "json"])
    assert result.exit_code == 0, result.output
    assert not state.folder.exists()
    assert lab_names() == []


def test_without_a_terminal_a_lab_is_not_deleted_unasked() -> None:
    state = written("one", b"{}")
    import_module("labctl.cli.down")
    result = CliRunner().invoke(root, ["destroy", "--lab", "one"])
    assert result.exit_code == ExitCode.USAGE
    assert "--yes" in result.stderr
    assert state.exists


@pytest.mark.parametrize(
    ("text", "age"),
    [(b'{"version": 99}', "a newer"), (b'{"version": 3}', "an older"), (b"{}", "an older")],
)
def test_a_lab_of_another_labctl_is_refused(text: bytes, age: str) -> None:
    state = written("one", text)
    for use in (state.load, lambda: state.save(deaths_before=1)):
        with pytest.raises(LabError, match=f"{age} labctl") as raised:
            use()
        assert "labctl destroy --lab one" in (raised.value.hint or "")
    assert (state.folder / "lab.json").read_bytes() == text


def test_what_is_written_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace = Path.replace

    def fsync(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("sync folder" if folder else "sync file")

    def renamed(self: Path, target: Path) -> Path:
        done.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", renamed)
    write_private(tmp_path / "file", "x")
    assert done == ["sync file", "rename", "sync folder"]


def test_a_lab_destroyed_by_another_command_is_made_anew_under_its_own_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`up` opened the lock of a lab that `destroy` then removed: it must not hold that one."""
    state = written("one", b"{}")
    real, calls = fcntl.flock, 0

    def flock(handle: TextIO, operation: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            state.remove()
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with state.changing():
        assert calls == 2
        monkeypatch.setattr(fcntl, "flock", real)
        with pytest.raises(LabError) as raised, state.changing():
            pass
        assert raised.value.exit_code is ExitCode.BUSY


def test_whoever_holds_a_lab_deletes_what_killed_commands_left(state_home: Path) -> None:
    """Of a lab that was destroyed, of a restore; not what a process that runs is deleting."""
    state = written("one", b"{}")
    ended = subprocess.Popen(["true"])
    ended.wait()
    waiting = state_home / "labctl" / DESTROYED
    left = [
        waiting / f"other.1.{ended.pid}" / "data",
        state.folder / COPIED / "data",
        state.folder / f".data.{ended.pid}",
    ]
    others = waiting / f"other.1.{os.getpid()}" / "data"
    for folder in (*left, others):
        folder.mkdir(parents=True)
    with state.changing():
        assert not any(folder.exists() for folder in left)
        assert not (state.folder / COPIED).exists()
    assert others.exists()
    assert lab_names() == ["one"]
    state.remove()
    assert lab_names() == []


def test_of_a_restore_that_is_half_done_nothing_is_deleted() -> None:
    state = written("one", b"{}")
    for name in (RESTORING, ".data.1"):
        (state.folder / name).mkdir()
    with state.changing():
        assert (state.folder / RESTORING).exists()
        assert (state.folder / ".data.1").exists()


def test_two_commands_cannot_change_a_lab_at_once() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_LAB, "one"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LabError) as raised, LabState("one").changing():
            pass
        assert raised.value.exit_code is ExitCode.BUSY
        assert str(holder.pid) in raised.value.what
        holder.stdin.close()
    with LabState("one").changing():
        pass


def test_secrets_are_private_from_the_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "secret"
    write_private(path, "x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_path_too_long_for_a_socket_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ("long" * 30)))
    with pytest.raises(LabError, match="too long for a unix socket"):
        LabState("one").create()


def test_a_full_disk_is_one_error_and_leaves_the_old_file(state_home: Path) -> None:
    """The command line's, whatever it was about to write."""
    text = f'{{"version": {STATE_VERSION}}}'.encode()
    state = written("one", text)
    program = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from labctl.cli.app import Invocation, command, root
from labctl.state.lab_state import LabState
import typer
@command(root, "fill", example="")
def fill(invocation: Invocation) -> None:
    LabState("one").save(project="x" * 1000)
@command(root, "other", example="")
def other(invocation: Invocation) -> None: ...
root(["fill"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.ENVIRONMENT
    said = " ".join(done.stderr.split())
    assert "lab.json cannot be written: File too large" in said
    assert "make room on that disk" in said
    assert "Traceback" not in said
    assert (state.folder / "lab.json").read_bytes() == text
    assert [path.name for path in state.folder.glob(".*")] == []


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = tmp_path / f".[a].json.{ended.pid}.1"
    left.write_text("half")
    another = tmp_path / f".[a].json.{os.getppid()}.1"  # of a process that runs
    another.write_text("half")
    write_private(tmp_path / "[a].json", "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([another.name, "[a].json"])
