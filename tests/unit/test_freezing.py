"""Processes stand still together, and go on whatever becomes of the program that stopped them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from labctl.runtimes.native.freezing import frozen
from tests.waiting import wait_for

FREEZE = """
import sys, psutil
from labctl.runtimes.native.freezing import frozen
with frozen(lambda: [psutil.Process(int(sys.argv[1]))]):
    print("frozen", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def child() -> Iterator[psutil.Process]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield psutil.Process(process.pid)
        process.kill()


def stopped(process: psutil.Process) -> bool:
    return process.status() == psutil.STATUS_STOPPED


def test_all_stand_still_while_the_block_runs(child: psutil.Process) -> None:
    with frozen(lambda: [child]):
        wait_for(lambda: stopped(child))
    wait_for(lambda: not stopped(child))


def test_they_go_on_when_who_stopped_them_is_killed(child: psutil.Process) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FREEZE, str(child.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "frozen\n"
        wait_for(lambda: stopped(child))
        other.kill()
    wait_for(lambda: not stopped(child))
