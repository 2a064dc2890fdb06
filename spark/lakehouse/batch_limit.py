"""A limit on how much of a topic one batch takes in, by records and by bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakecontract.errors import in_one_line

__all__ = ["LARGEST_MESSAGE", "BatchLimit", "LogSize", "Spans", "is_too_large"]

Spans = Mapping[str, Mapping[int, range]]
"""Offsets of a batch, by topic and partition."""

LARGEST_MESSAGE = 8 * 1024 * 1024
_TOO_LARGE = (
    "OutOfMemoryError",
    "MemoryError",
    "maxResultSize",
    "ExecutorLostFailure",
    "Buffer overflow",
)
"""Marks in the errors of a batch that was too large for the memory."""


@dataclass(frozen=True, slots=True)
class LogSize:
    """Size of a topic at one moment."""

    records: int
    """Number of records in it, counted by offsets."""
    size: int
    """Bytes of its log."""


class BatchLimit:
    """A limit that cuts the unread records into parts that fit into memory.

    Kafka says how large a whole topic is, not how large single records are. If some records are
    larger than the others, a part may still be too large. A part that fails because of its size,
    or during which the process dies, therefore halves the limit. A part that is taken in doubles it
    again.
    """

    def __init__(self, most_records: int, most_bytes: int, halvings: int = 0) -> None:
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._sizes: dict[str, list[LogSize]] = {}
        self.halvings = halvings

    @property
    def records(self) -> int:
        """Largest number of records in a part."""
        return max(1, self._most_records >> self._effective)

    @property
    def bytes(self) -> int:
        """Largest number of bytes in a part; a single record may have more."""
        return max(1, self._most_bytes >> self._effective)

    def is_surely_small(self, records: int) -> bool:
        """Return whether so many records fit the limit even if each has Kafka's largest size."""
        return records * LARGEST_MESSAGE <= self.bytes and records <= self.records

    def noted(self, topic: str, size: LogSize) -> None:
        """Note the size of a topic, and keep its last two sizes."""
        self._sizes[topic] = [*self._sizes.get(topic, [])[-1:], size]

    def average(self, topic: str) -> float:
        """Return the bytes per record of the whole topic, or of its recent growth if larger."""
        looks = self._sizes.get(topic, [])
        if not looks:
            return 0.0
        last = looks[-1]
        averages = [last.size / last.records] if last.records > 0 else []
        if len(looks) == 2 and (grown := last.records - looks[0].records) > 0:
            averages.append((last.size - looks[0].size) / grown)
        return max([0.0, *averages])

    def parts(self, spans: Spans) -> Iterator[Spans]:
        """Yield parts of `spans` in offset order, each within the limit when it starts."""
        left = {
            (topic, number): span
            for topic, numbers in spans.items()
            for number, span in numbers.items()
            if span
        }
        while left:
            records, size = self.records, float(self.bytes)
            part: dict[str, dict[int, range]] = {}
            for (topic, number), span in list(left.items()):
                average = self.average(topic)
                fit = records if average == 0 else min(records, int(size / average))
                if not part:
                    fit = max(1, fit)
                if fit < 1:
                    break
                taken = span[:fit]
                part.setdefault(topic, {})[number] = taken
                records, size = records - len(taken), size - len(taken) * average
                if len(taken) == len(span):
                    del left[topic, number]
                else:
                    left[topic, number] = span[fit:]
                    break
            yield part

    def failed(self) -> None:
        """Halve the limit because a part was too large."""
        self.halvings = min(max(self.halvings, 1) + 1, self._most_records.bit_length() + 1)

    def died(self) -> None:
        """Note that the process died during a part. The first death may have any cause."""
        self.halvings = min(self.halvings + 1, self._most_records.bit_length() + 1)

    def succeeded(self) -> bool:
        """Note that a part was taken in. Return whether the limit has changed."""
        if self.halvings == 0:
            return False
        self.halvings -= 1
        return True

    @property
    def _effective(self) -> int:
        return max(0, self.halvings - 1)


def is_too_large(error: BaseException) -> bool:
    """Return whether a batch failed for lack of memory."""
    text = f"{type(error).__name__} {error} {in_one_line(error)}"
    return any(mark in text for mark in _TOO_LARGE)
