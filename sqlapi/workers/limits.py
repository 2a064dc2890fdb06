"""Limits that the kernel enforces on a process."""

from __future__ import annotations

import ctypes
import resource
import signal
from contextlib import suppress
from pathlib import Path

__all__ = ["MIB", "limit_memory", "mapped_bytes", "prepare_process", "private_bytes"]

MIB = 1024**2
_PR_SET_PDEATHSIG = 1
_LIKELIEST = "1000"


def prepare_process() -> None:
    """End this process with its parent, and make it the out-of-memory killer's first choice."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_LIKELIEST, encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(more: int) -> None:
    """Limit this process's memory to `more` bytes above its current size.

    The kernel counts private writable memory (RLIMIT_DATA): heaps, anonymous mappings and stacks,
    but not mapped files. Beyond the limit, allocations fail.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = mapped_bytes() + more
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def mapped_bytes() -> int:
    """Return the memory of this process that counts towards the limit, in bytes."""
    return _status("VmData")


def private_bytes() -> int:
    """Return the resident anonymous memory of this process in bytes."""
    return _status("RssAnon")


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    return 0
