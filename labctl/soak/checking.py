"""The final check: comparing silver and bronze with the changes that the sources acknowledged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from labctl.errors import LabError
from labctl.lake import Lake, View
from labctl.lake.bronze_records import Bronze, BronzeObject
from labctl.latency.targets import Target
from labctl.soak.following import versions_of
from labctl.soak.soak_plan import Kind, Operation
from labctl.soak.tracking import Expectation, Version
from lakecontract.deletes import DELETED, is_deleted

__all__ = ["BronzeRecords", "Finding", "check_silver", "compare_rows"]

_EXAMPLES = 10


@dataclass
class Finding:
    """The errors in one table. All counts are 0 if there are none."""

    missing_in_silver: int = 0
    """Rows that are missing or older than their last acknowledged change."""
    twice_in_silver: int = 0
    """Number of rows beyond one per key."""
    wrong_in_silver: int = 0
    """Rows that are deleted or not, contrary to expectation, or newer than expected."""
    missing_in_bronze: int = 0
    """Acknowledged changes without a record."""
    twice_in_bronze: int = 0
    """Repeated records in bronze: records beyond one per offset."""
    gaps_in_bronze: int = 0
    """Missing offsets between the lowest and the highest one."""
    examples: list[str] = field(default_factory=list)

    def note(self, words: str) -> None:
        if len(self.examples) < _EXAMPLES:
            self.examples.append(words)


def check_silver(
    lake: Lake, target: Target, first_key: int, expected: Expectation, finding: Finding
) -> None:
    """Compare every row of the run with its last acknowledged change, in one scan."""
    wanted = [target.key, target.number, DELETED]
    table = lake.table(target.silver).read(columns=wanted, view=View(deleted=True))
    compare_rows(versions_of(table, target, first_key), expected, finding)


def compare_rows(
    held: Sequence[tuple[int, Version]], expected: Expectation, finding: Finding
) -> None:
    """Count the rows of `held` that are missing, duplicated or not as expected."""
    by_key = dict(held)
    finding.twice_in_silver += len(held) - len(by_key)
    for key, version in expected.rows.items():
        found = by_key.get(key)
        if found is None or (not version.deleted and found.number < version.number):
            finding.missing_in_silver += 1
        elif found.deleted != version.deleted or found.number > version.number:
            finding.wrong_in_silver += 1
        else:
            continue
        finding.note(f"silver, key {key}: {version} expected, found {found}")


class BronzeRecords:
    """The records of a run's changes in one topic, as far as bronze has them."""

    def __init__(self, bronze: Bronze, target: Target, first_key: int) -> None:
        self._bronze = bronze
        self._target = target
        self._first_key = first_key
        self._read: set[str] = set()
        self._offsets: dict[int, Counter[int]] = defaultdict(Counter)
        self._written: set[tuple[int, int]] = set()
        self._deleted: set[int] = set()

    def read(self, since: float) -> None:
        """Read all unread objects that were written since `since` (seconds since the epoch)."""
        try:
            objects = self._bronze.objects(self._target.table.topic)
        except LabError:
            return  # none yet
        for one in sorted(objects):
            recent = one.modified is not None and one.modified.timestamp() >= since
            if recent and one.path not in self._read:
                self._read.add(one.path)
                self._take(one)

    def check(self, operations: Iterable[Operation], finding: Finding) -> None:
        """Count changes without a record, and offsets that are duplicated or missing."""
        for operation in operations:
            gone = operation.kind in (Kind.DELETE, Kind.MOVE)
            there = not gone or operation.key in self._deleted
            if operation.kind is not Kind.DELETE:
                there = there and (operation.lives_at, operation.number) in self._written
            if not there:
                finding.missing_in_bronze += 1
                finding.note(f"bronze {self._target.table.topic}: no record of {operation}")
        for offsets in self._offsets.values():
            finding.twice_in_bronze += sum(offsets.values()) - len(offsets)
            finding.gaps_in_bronze += max(offsets) - min(offsets) + 1 - len(offsets)

    def _take(self, one: BronzeObject) -> None:
        for record in self._bronze.read(one):
            self._offsets[record.partition][record.offset] += 1
            value = record.value
            if not isinstance(value, dict) or int(value[self._target.key]) < self._first_key:
                continue
            key = int(value[self._target.key])
            if is_deleted(value):
                self._deleted.add(key)
            else:
                self._written.add((key, int(str(value[self._target.number]).strip())))
