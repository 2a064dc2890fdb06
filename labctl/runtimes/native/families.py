"""Processes with their descendants, and waiting for them to end."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import psutil

__all__ = ["families_below", "family_of", "still_there", "with_descendants"]

_POLL_SECONDS = 0.02


def family_of(pid: int) -> list[psutil.Process]:
    """Return a process, then its descendants; an empty list if the process has ended."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def families_below(root: int, pids: Iterable[int]) -> dict[int, list[psutil.Process]]:
    """Return the family of each of `pids`, which must be descendants of `root`.

    Reads the machine's process list only once.
    """
    descendants = {process.pid: process for process in family_of(root)}
    children = _children_in(descendants.values())
    return {
        pid: _gathered([descendants[pid]], children) if pid in descendants else [] for pid in pids
    }


def with_descendants(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return `processes` and their descendants without duplicates."""
    return _gathered(processes, _children_in(psutil.process_iter()))


def _children_in(processes: Iterable[psutil.Process]) -> Mapping[int, list[psutil.Process]]:
    """Return the direct children among `processes`, by parent process id."""
    children = defaultdict(list)
    for process in processes:
        with suppress(psutil.Error):
            children[process.ppid()].append(process)
    return children


def _gathered(
    roots: Iterable[psutil.Process], children: Mapping[int, list[psutil.Process]]
) -> list[psutil.Process]:
    """Return `roots` and their descendants without duplicates, parents before children."""
    found = {process.pid: process for process in roots}
    waiting = list(found)
    for pid in waiting:
        for child in children.get(pid, ()):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child.pid)
    return list(found.values())


def still_there(processes: Sequence[psutil.Process], *, seconds: float) -> list[psutil.Process]:
    """Wait at most `seconds` for `processes` to end; return those that still run.

    A zombie with one thread counts as ended: it holds no file and no port. In a container whose
    first process is not an init, orphans are never reaped and stay zombies. A zombie with more
    threads still runs: its first thread has ended, but the others still hold files and ports. A
    killed JVM is briefly in that state.
    """
    deadline = time.monotonic() + seconds
    while (left := [p for p in processes if _runs(p)]) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return left


def _runs(process: psutil.Process) -> bool:
    try:
        if not process.is_running():
            return False
        return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1
    except psutil.NoSuchProcess:
        return False
