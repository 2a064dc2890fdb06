"""Notes of where bronze begins in a topic whose oldest files were removed after the retention."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["BEGINNINGS", "Beginning"]

BEGINNINGS = "bronze-beginnings"
"""Folder of the lake with a note for each topic that has one."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a topic's bronze files. It is noted before the first file is removed."""

    offsets: Mapping[int, int]
    """The offset, by partition, from which on bronze has every record. Of earlier records, it may
    have some. Of a partition that is not named, no file was removed."""
    since: str
    """Time, ISO 8601 in UTC: everything that was written to bronze since then is there."""

    def note(self) -> bytes:
        """Return the content of the note."""
        offsets = {str(number): offset for number, offset in self.offsets.items()}
        return json.dumps({"offsets": offsets, "since": self.since}).encode()

    @classmethod
    def parse(cls, note: bytes) -> Beginning:
        """Return the beginning in a note."""
        content = json.loads(note)
        offsets = {int(number): offset for number, offset in content["offsets"].items()}
        return cls(offsets, content["since"])

    def is_after(self, partition: int, offset: int) -> bool:
        """Return whether the record at `offset` may have been removed."""
        return offset < self.offsets.get(partition, 0)

    def __str__(self) -> str:
        """Return the places at which bronze begins, such as `offset 1,200 of partition 0`."""
        return ", ".join(
            f"offset {offset:,} of partition {number}"
            for number, offset in sorted(self.offsets.items())
        )
