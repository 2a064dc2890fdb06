"""A command that is killed at any of its system calls is put right by repeating it.

The command counts what Python reports of itself before it does it (`sys.addaudithook`): opening a
file to write, renaming, removing, locking, starting a process, connecting. At the chosen one it
kills itself, as a power cut or the kernel's out-of-memory killer would. Events are told apart by
the line of labctl that causes them; which lines are tried, and which of their events, is drawn.
LABCTL_KILLS_SEED repeats a draw, and LABCTL_KILLS sets how many lines of each command.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from labctl.config.lab_config import find_project
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
from labctl.lab.snapshots import find_snapshot, restore_snapshot, save_snapshot, snapshots
from labctl.lab.snapshots.snapshot_store import snapshot_home
from labctl.sources import connect
from labctl.state.lab_state import lab_names

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("LABCTL_KILLS", "4"))
SEED = int(os.environ.get("LABCTL_KILLS_SEED", random.randrange(2**32)))  # noqa: S311 - no secret
PROJECT = find_project(Path(__file__))
NAME = "killed"
SAVED = "saved"
COMMAND_SECONDS = 120.0
SERVICE = "postgres"
"""The smallest lab is one of a single service."""

_COUNTING = """
import json, os, signal, sys, threading
last, log = int(sys.argv[1]), sys.argv[2]
names = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod",
         "os.chown", "os.truncate", "os.kill", "os.killpg", "fcntl.flock", "subprocess.Popen",
         "socket.connect", "socket.bind", "os.posix_spawn", "os.fork"}
lines, lock = [], threading.RLock()  # killing is an event too
def watch(event, args):
    if event == "open":
        flags = args[2] if isinstance(args[2], int) else 0
        if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
    elif event not in names:
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and "/labctl/" not in frame.f_code.co_filename:
        frame = frame.f_back
    with lock:
        lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno}: {event}")
        if len(lines) == last:
            os.kill(os.getpid(), signal.SIGKILL)
"""
_STEPS = {
    "up": f"up(Lab.find(name={NAME!r}), SilentReporter(), [{SERVICE!r}])",
    "restore": (
        f"restore_snapshot(Lab.find(name={NAME!r}), find_snapshot({SAVED!r}))\n"
        f"up(Lab.find(name={NAME!r}), SilentReporter(), [{SERVICE!r}])"
    ),
    "save": f"save_snapshot(Lab.find(name={NAME!r}), {SAVED!r}, replace=True)",
    "destroy": f"destroy(Lab.find(name={NAME!r}, even_damaged=True))",
}
_PROGRAM = """
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lab import Lab
from labctl.lab.snapshots import find_snapshot, restore_snapshot, save_snapshot
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
sys.addaudithook(watch)
{}
open(log, "x").write(json.dumps(lines))
"""


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A lab that runs, holds one row and has a snapshot of it."""
    # The path of a test's own folder is too long for a socket's.
    with TemporaryDirectory(prefix="labctl-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        patch.setenv("LABCTL_PROJECT", str(PROJECT))
        lab = Lab.find(name=NAME)
        try:
            yield lab
        finally:
            if lab.state.exists:
                destroy(Lab.find(name=NAME, even_damaged=True))
            for process in of_the_lab(Path(folder)):
                process.kill()


def run(command: str, last: int, report: Path) -> bool:
    """Run a command that kills itself at event `last`; whether it was done before."""
    report.unlink(missing_ok=True)
    program = _COUNTING + _PROGRAM.format(_STEPS[command])
    ended = subprocess.run(
        [sys.executable, "-c", program, str(last), str(report)],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
        cwd=PROJECT,
    )
    if ended.returncode not in (0, -signal.SIGKILL):
        pytest.fail(f"{command}, to be killed at event {last}:\n{ended.stderr}")
    return ended.returncode == 0


def of_the_lab(home: Path) -> list[psutil.Process]:
    """Processes that work in the folder of this test's labs, or name it in their command line."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and any(
                str(home) in word for word in (process.cwd(), *process.cmdline())
            ):
                processes.append(process)
    return processes


def begin(lab: Lab) -> None:
    """Have the lab run with one row, saved with it, and one that is not."""
    up(lab, SilentReporter(), [SERVICE])
    with connect(lab.endpoints, SERVICE) as source:
        source.execute("CREATE TABLE IF NOT EXISTS kept (id integer PRIMARY KEY)")
        source.execute("DELETE FROM kept")
        source.execute("INSERT INTO kept VALUES (1)")
    if SAVED not in [snapshot.name for snapshot in snapshots()]:
        save_snapshot(lab, SAVED)
    with connect(lab.endpoints, SERVICE) as source:
        source.execute("INSERT INTO kept VALUES (2)")


def rows() -> list[int]:
    with connect(Lab.find(name=NAME).endpoints, SERVICE) as source:
        return [row[0] for row in source.execute("SELECT id FROM kept ORDER BY id")]


def leftovers(lab: Lab) -> list[str]:
    """What a command stages and has not put in place, or taken away."""
    folders = (lab.state.folder, lab.state.secrets, snapshot_home())
    return [
        str(path)
        for folder in folders
        for path in folder.glob("*")
        if path.name.startswith((".", "restoring"))
    ]


def repeat(command: str, report: Path) -> None:
    assert run(command, 0, report), f"{command} does not end when it is repeated"


def test_up_is_put_right_by_repeating_it(lab: Lab, tmp_path: Path) -> None:
    for number in drawn("up", lab, tmp_path):
        if lab.state.exists:
            destroy(Lab.find(name=NAME))
        run("up", number, tmp_path / "events")
        repeat("up", tmp_path / "events")
        with connect(Lab.find(name=NAME).endpoints, SERVICE) as source:
            assert source.execute("SELECT 1") == [(1,)]
        assert leftovers(lab) == []


def test_save_is_put_right_by_repeating_it(lab: Lab, tmp_path: Path) -> None:
    for number in drawn("save", lab, tmp_path):
        begin(lab)
        run("save", number, tmp_path / "events")
        repeat("save", tmp_path / "events")
        assert rows() == [1, 2]
        assert leftovers(lab) == []
        restore_snapshot(lab, find_snapshot(SAVED))
        up(Lab.find(name=NAME), SilentReporter(), [SERVICE])
        assert rows() == [1, 2]


def test_restore_is_put_right_by_repeating_it_or_by_up(lab: Lab, tmp_path: Path) -> None:
    for number in drawn("restore", lab, tmp_path):
        begin(lab)
        run("restore", number, tmp_path / "events")
        repeat("up", tmp_path / "events")
        assert rows() in ([1], [1, 2])
        repeat("restore", tmp_path / "events")
        assert rows() == [1]
        assert leftovers(lab) == []


def test_destroy_is_put_right_by_repeating_it(lab: Lab, tmp_path: Path) -> None:
    for number in drawn("destroy", lab, tmp_path):
        begin(lab)
        run("destroy", number, tmp_path / "events")
        if lab.state.folder.exists():
            repeat("destroy", tmp_path / "events")
        assert not lab.state.folder.exists()
        assert lab_names() == []
        assert [process.cmdline() for process in of_the_lab(lab.state.folder)] == []


def drawn(command: str, lab: Lab, folder: Path) -> Iterator[int]:
    """Yield which of a command's events it is killed at."""
    if command != "up":
        begin(lab)
    report = folder / "events"
    repeat(command, report)
    by_line: dict[str, list[int]] = {}
    for number, line in enumerate(json.loads(report.read_text()), start=1):
        by_line.setdefault(line, []).append(number)
    draw = random.Random(f"{SEED} {command}")  # noqa: S311 - no secret
    chosen = draw.sample(sorted(by_line), min(KILLS, len(by_line)))
    print(f"LABCTL_KILLS_SEED={SEED}: {len(chosen)} of the {len(by_line)} lines of {command}")
    for line in chosen:
        print(f"{command} is killed at {line}", flush=True)
        yield draw.choice(by_line[line])
