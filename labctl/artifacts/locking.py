"""A file lock that lets only one process at a time change the cache."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from labctl.artifacts.job import CancelledError

__all__ = ["exclusive"]

_POLL_SECONDS = 0.1


@contextmanager
def exclusive(
    path: Path,
    on_wait: Callable[[], None] = lambda: None,
    cancelled: threading.Event | None = None,
) -> Iterator[None]:
    """Hold the lock file `path`; the kernel releases it if the holder dies.

    If another process holds it, calls `on_wait` and waits. Raises CancelledError if `cancelled`
    is set during the wait.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            _wait(descriptor, cancelled or threading.Event())
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, cancelled: threading.Event) -> None:
    while not cancelled.wait(_POLL_SECONDS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return
    raise CancelledError
