"""Processes with all that they have started, and their end."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import psutil

__all__ = ["families_below", "family_of", "still_there", "with_descendants"]

_POLL_SECONDS = 0.02


def family_of(pid: int) -> list[psutil.Process]:
    """A process with its descendants, itself first; none of one that is gone."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def families_below(root: int, pids: Iterable[int]) -> dict[int, list[psutil.Process]]:
    """The same of each of `pids`, all of them descendants of `root`.

    The list of the machine's processes is read once, not for each of them.
    """
    descendants = {process.pid: process for process in family_of(root)}
    children = _children_in(descendants.values())
    return {
        pid: _gathered([descendants[pid]], children) if pid in descendants else [] for pid in pids
    }


def with_descendants(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """`processes` and all that they have started, each once."""
    return _gathered(processes, _children_in(psutil.process_iter()))


def _children_in(processes: Iterable[psutil.Process]) -> Mapping[int, list[psutil.Process]]:
    """Of `processes`, those that each process has started, by its id."""
    children = defaultdict(list)
    for process in processes:
        with suppress(psutil.Error):
            children[process.ppid()].append(process)
    return children


def _gathered(
    roots: Iterable[psutil.Process], children: Mapping[int, list[psutil.Process]]
) -> list[psutil.Process]:
    """`roots` and their descendants by `children`, each once, behind the one that started it."""
    found = {process.pid: process for process in roots}
    waiting = list(found)
    for pid in waiting:
        for child in children.get(pid, ()):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child.pid)
    return list(found.values())


def still_there(processes: Sequence[psutil.Process], *, seconds: float) -> list[psutil.Process]:
    """Those of `processes` that run yet, after `seconds` at most.

    A zombie with one thread is over: it holds no file and no port. In a container whose first
    process is no init, nobody asks for orphans, and they stay zombies. One with more threads has
    lost its first, and the others hold everything yet: a JVM that was killed is so for a moment.
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
