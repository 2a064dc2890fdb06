"""Processes with all that they have started."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

import psutil

__all__ = ["families_below", "family_of"]


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
    children = defaultdict(list)
    for process in descendants.values():
        with suppress(psutil.Error):
            children[process.ppid()].append(process)

    def family(pid: int) -> list[psutil.Process]:
        found = [descendants[pid]] if pid in descendants else []
        for member in found:
            found += children[member.pid]
        return found

    return {pid: family(pid) for pid in pids}
