"""What the kernel enforces for a process."""

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
    """End this process with its parent, and offer it to the out-of-memory killer before others."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_LIKELIEST, encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has now.

    The kernel counts private writable memory (RLIMIT_DATA): heaps, anonymous mappings and stacks;
    not files that are mapped. What asks for more is refused, and sees an allocation that failed.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = mapped_bytes() + more
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def mapped_bytes() -> int:
    """Return what the limit counts of this process."""
    return _status("VmData")


def private_bytes() -> int:
    """Return the memory of this process that no file backs and that is in use."""
    return _status("RssAnon")


def _status(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    return 0
