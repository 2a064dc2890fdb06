"""Running clients, and keeping other processes out of the cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from labctl.artifacts.job import CancelledError, folder_size
from labctl.artifacts.locking import exclusive
from labctl.errors import LabError
from tests.unit.artifacts_support import Tally, make_job

HOLDER = """\
import sys
from pathlib import Path
from labctl.artifacts.locking import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_client_returns_its_output_and_is_followed(tmp_path: Path) -> None:
    tally = Tally()
    job = make_job(tmp_path, tally)
    output = job.run(
        ["sh", "-c", "echo result; echo one >&2; echo two >&2"],
        what="failed",
        hint="",
        measure=lambda log: log.read_bytes().count(b"\n"),
    )
    assert output == "result\n"
    assert tally.amounts["part"] == 2


def test_a_failing_client_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="it failed") as caught:
        make_job(tmp_path).run(["sh", "-c", "echo why >&2; exit 3"], what="it failed", hint="do")
    assert caught.value.details == ("why",)
    assert caught.value.hint == "do"


def test_a_missing_client_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="it failed"):
        make_job(tmp_path).run(["/nonexistent/client"], what="it failed", hint="")


def test_a_cancelled_client_ends_with_its_children(tmp_path: Path) -> None:
    job = make_job(tmp_path)
    started = tmp_path / "started"
    failure: list[BaseException] = []

    def run() -> None:
        try:
            job.run(["sh", "-c", f"sleep 600 & echo $! > {started}; wait"], what="", hint="")
        except CancelledError as error:
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait = Retrying(wait=wait_fixed(0.01), stop=stop_after_delay(120), retry=retry_if_result(bool))
    wait(lambda: not (started.exists() and started.read_text().endswith("\n")))
    job.cancelled.set()
    thread.join(20)
    assert isinstance(failure[0], CancelledError)
    child = int(started.read_text())
    wait(lambda: psutil.pid_exists(child) and psutil.Process(child).status() != "zombie")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "fetch.lock"
    waited = threading.Event()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"

        def release() -> None:
            waited.wait(20)
            holder.kill()

        thread = threading.Thread(target=release)
        thread.start()
        with exclusive(path, waited.set):
            assert waited.is_set()
            assert holder.wait(20) != 0, "entered while another process held the lock"
        thread.join()


def test_an_untaken_lock_does_not_wait(tmp_path: Path) -> None:
    waited = threading.Event()
    for _ in range(2):
        with exclusive(tmp_path / "fetch.lock", waited.set):
            pass
    assert not waited.is_set()


def test_a_folder_is_measured_while_it_changes(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"x" * 10)
    done = threading.Event()

    def come_and_go() -> None:
        while not done.is_set():
            for number in range(20):
                (tmp_path / f"passing{number}" / "deep").mkdir(parents=True)
            for number in range(20):
                shutil.rmtree(tmp_path / f"passing{number}")

    changing = threading.Thread(target=come_and_go)
    changing.start()
    try:
        assert {folder_size(tmp_path) for _ in range(2000)} == {10}
    finally:
        done.set()
        changing.join()
