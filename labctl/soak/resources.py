"""Measuring the services' resources during a soak run: a leak shows as growth."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

import psutil
from pydantic import BaseModel, ConfigDict

from labctl.background import Background
from labctl.lab.lab import Lab
from labctl.lake import Lake

__all__ = ["Growth", "ResourceSampler"]

_SAMPLE_SECONDS = 5.0
_FACTOR = 1.25
_MORE_MEMORY = 256 * 1024**2
_MORE_FILES = 150
_MORE_OBJECTS = 400
"""Allowed growth in objects: a table's objects vary with compaction, cleaning and archiving."""


class Growth(BaseModel):
    """A figure at the begin and at the end of a run.

    The begin is the highest value in the first third of the run, in which every service warms up.
    The end is the median of the last third.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    """Figure: `memory` (bytes), `files` (open files and sockets) or `objects` (in the object
    store)."""
    of: str
    """Name of the service or silver table."""
    begin: float
    end: float
    bound: float
    """Highest allowed `end`: the begin plus a quarter of it, plus a constant."""

    @property
    def within(self) -> bool:
        return self.end <= self.bound


class ResourceSampler(Background):
    """A thread that samples resources until it is stopped."""

    def __init__(self, lab: Lab, lake: Lake, tables: list[str]) -> None:
        super().__init__("resources")
        self._lab = lab
        self._lake = lake
        self._tables = tables
        self._samples: dict[tuple[str, str], list[float]] = defaultdict(list)

    def growth(self) -> list[Growth]:
        """Return the growth of each figure, by service or table."""
        more = {"memory": _MORE_MEMORY, "files": _MORE_FILES, "objects": _MORE_OBJECTS}
        found = []
        for (what, of), values in sorted(self._samples.items()):
            third = max(1, len(values) // 3)
            begin, end = max(values[:third]), median(values[-third:])
            bound = begin * _FACTOR + more[what]
            found.append(Growth(what=what, of=of, begin=begin, end=end, bound=bound))
        return found

    def _run(self) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        runtime = self._lab.runtime
        usages = runtime.inspector.usages()
        for name, state in runtime.states().items():
            if not state.running:
                continue
            if name in usages and (memory := usages[name].memory_bytes):
                self._samples["memory", name].append(memory)
            if state.pid and (files := _open_files(state.pid)):
                self._samples["files", name].append(files)
        for table in self._tables:
            try:
                path = self._lake.table(table).path
                count = len(self._lake.storage.list(path, recursive=True))
            except OSError:
                continue  # the object store is away
            self._samples["objects", table].append(count)


def _open_files(pid: int) -> int:
    """Return the open files and sockets of a process and its children; 0 if access is denied."""
    try:
        root = psutil.Process(pid)
        return sum(process.num_fds() for process in (root, *root.children(recursive=True)))
    except psutil.Error:
        return 0
