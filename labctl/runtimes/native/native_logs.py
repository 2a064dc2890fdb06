"""Readers of the services' log files."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from labctl.state.lab_state import LabState

__all__ = ["NativeLogs", "follow", "tail"]

POLL_SECONDS = 0.2


class NativeLogs:
    """The log files in a lab's folder."""

    def __init__(self, state: LabState) -> None:
        self._state = state

    def file(self, name: str) -> Path:
        return self._state.log(name)

    def tail(self, name: str, lines: int) -> list[str]:
        return tail(self._state.log(name), lines)

    def follow(self, name: str) -> Iterator[str]:
        return follow(self._state.log(name))


def tail(path: Path, lines: int) -> list[str]:
    """Return the last `lines` lines of `path`; an empty list if the file is missing."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", errors="replace") as handle:
        return [line.rstrip("\n") for line in deque(handle, maxlen=lines)]


def follow(path: Path) -> Iterator[str]:
    """Yield lines appended to `path` from now on, without end; continue after rotation."""
    while not path.is_file():
        time.sleep(POLL_SECONDS)
    handle = path.open(encoding="utf-8", errors="replace")
    handle.seek(0, 2)
    try:
        while True:
            line = handle.readline()
            if line:
                yield line.rstrip("\n")
                continue
            if (
                path.is_file()
                and path.stat().st_ino != Path(f"/proc/self/fd/{handle.fileno()}").stat().st_ino
            ):
                handle.close()
                handle = path.open(encoding="utf-8", errors="replace")
                continue
            time.sleep(POLL_SECONDS)
    finally:
        handle.close()
