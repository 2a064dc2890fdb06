"""Having all processes of a lab stand still for a moment, whatever becomes of who asked for it."""

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
    """All `processes` stand still while the block runs, those that they start meanwhile too.

    A process of its own has them go on: when the block ends, and also when this program is killed.
    """
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_THAW)],
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for us
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
