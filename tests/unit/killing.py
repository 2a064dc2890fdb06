"""Ending a function at each of its changes of files, as if its process had been killed there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

__all__ = ["Killed", "kill_at_every_change"]

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod")
"""Audit events of system calls that change a folder or a file's mode."""


T = TypeVar("T")
_MOST = 2_000


class Killed(BaseException):
    """The end of the process; whatever it still tries to write fails in the same way."""


class _Counting:
    """Counts the changes below a folder, and ends the process at one of them."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.left = 0
        self.torn = False
        self.is_dead = False

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.folder is None or not arguments or not self._changes(event, arguments):
            return
        self.left -= 1
        if self.left > 0 and not self.is_dead:
            return
        if self.torn and not self.is_dead:
            self._tear(str(arguments[0]))
        self.is_dead = True
        raise Killed(f"{event} {arguments[0]!r}")

    def _changes(self, event: str, arguments: tuple[object, ...]) -> bool:
        if event == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR):
                return False
        elif self.torn or event not in _CHANGES:
            return False
        path = arguments[0]
        return isinstance(path, str | bytes) and os.fsdecode(path).startswith(str(self.folder))

    def _tear(self, path: str) -> None:
        """Leave the file as it is between its opening and its first byte."""
        folder, self.folder = self.folder, None
        try:
            Path(path).write_bytes(b"")
        finally:
            self.folder = folder


_counting = _Counting()


@cache
def _install() -> None:
    """A hook stays until the process ends; without a folder it does nothing."""
    sys.addaudithook(_counting.hook)


def kill_at_every_change(
    folder: Path, prepare: Callable[[], T], run: Callable[[T], object]
) -> Iterator[int]:
    """Call `run` again and again, killed at its first change below `folder`, its second, and so on.

    It gets what `prepare` returns, which makes the folder as it is to be before. Yields how many
    changes it was let do, until it has ended by itself; then the caller looks at what is left. Each
    opening of a file is a change twice: before it, and when the file is still empty.
    """
    for torn in (False, True):
        for number in range(1, _MOST):
            prepared = prepare()
            is_dead = _killed(folder, lambda: run(prepared), number, torn=torn)  # noqa: B023
            yield number - 1
            if not is_dead:
                break


def _killed(folder: Path, run: Callable[[], object], number: int, *, torn: bool) -> bool:
    """Return whether `run` was killed at that change; False when it has ended before."""
    _install()
    _counting.left, _counting.torn, _counting.is_dead = number, torn, False
    _counting.folder = folder
    try:
        run()
    except BaseException:
        if not _counting.is_dead:
            raise
    finally:
        _counting.folder = None
    return _counting.is_dead
