"""Finding the bronze objects that hold a run's records."""

from __future__ import annotations

from itertools import pairwise

from labctl.errors import LabError
from labctl.lake.bronze_records import Bronze, BronzeObject
from labctl.latency.ledger import Ledger, Stored
from labctl.latency.targets import Target

__all__ = ["BronzeObjects"]


class BronzeObjects:
    """The bronze objects of the run's topics. They are read after the timed part of the run."""

    def __init__(self, bronze: Bronze) -> None:
        self._bronze = bronze
        self._ends: dict[str, int] = {}
        self._offsets: dict[str, list[int]] = {}

    def note(self, ledger: Ledger, target: Target) -> None:
        """Record the bronze objects of the target's topic in the ledger."""
        try:
            found = self._bronze.objects(target.table.topic)
        except LabError:
            return  # none yet
        if self._bronze.position(target.table.topic) is not None:
            single = (_stored(one, n + 1, n) for one in found for n in self._offsets_in(one))
            ledger.stored(target.silver, [one for one in single if one])
            return
        by_partition: dict[int, list[BronzeObject]] = {}
        for one in sorted(found):
            by_partition.setdefault(one.partition, []).append(one)
        stored = [
            _stored(one, end)
            for objects in by_partition.values()
            for one, end in self._with_ends(objects)
        ]
        ledger.stored(target.silver, [one for one in stored if one])

    def _offsets_in(self, one: BronzeObject) -> list[int]:
        """Return the offsets in an object; other objects may hold offsets in between."""
        if one.path not in self._offsets:
            self._offsets[one.path] = [record.offset for record in self._bronze.read(one)]
        return self._offsets[one.path]

    def _with_ends(self, objects: list[BronzeObject]) -> list[tuple[BronzeObject, int]]:
        """Return each object with its exclusive end offset; only the last object must be read."""
        ends = [(one, following.start_offset) for one, following in pairwise(objects)]
        last = objects[-1]
        if last.path not in self._ends:
            records = self._bronze.read(last)
            self._ends[last.path] = max((r.offset for r in records), default=-1) + 1
        return [*ends, (last, self._ends[last.path])]


def _stored(one: BronzeObject, end: int, start: int | None = None) -> Stored | None:
    if one.modified is None:
        return None
    begin = one.start_offset if start is None else start
    return Stored(one.partition, begin, end, one.modified.timestamp())
