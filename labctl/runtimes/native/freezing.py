"""Suspension of all processes of a lab, which ends even if the calling program is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

__all__ = ["frozen"]

_THAW = Path(__file__).with_name("thaw.py")


@contextmanager
def frozen(processes: Callable[[], list[psutil.Process]]) -> Iterator[None]:
    """Suspend all `processes`, and those that they start meanwhile, during the block.

    A separate process resumes them when the block ends or when this program is killed.
    """
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_THAW)],
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C must not reach it
    )
    assert guard.stdin is not None  # noqa: S101
    stopped: set[int] = set()
    try:
        while found := [process for process in processes() if process.pid not in stopped]:
            for process in found:
                guard.stdin.write(f"{process.pid}\n")
                guard.stdin.flush()
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
                stopped.add(process.pid)
        yield
    finally:
        guard.stdin.close()
        guard.wait()
