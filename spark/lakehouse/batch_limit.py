"""How much of a topic is taken in at once: bounded by records and by bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakehouse.errors import in_one_line

__all__ = ["LARGEST_MESSAGE", "BatchLimit", "LogSize", "Spans", "is_too_large"]

Spans = Mapping[str, Mapping[int, range]]
"""By topic and partition, the offsets of a batch."""

LARGEST_MESSAGE = 8 * 1024 * 1024
_TOO_LARGE = (
    "OutOfMemoryError",
    "MemoryError",
    "maxResultSize",
    "ExecutorLostFailure",
    "Buffer overflow",
)
"""In errors of a batch that was more than there is memory for."""


@dataclass(frozen=True, slots=True)
class LogSize:
    """How large a topic was at one look."""

    records: int
    """That are there, by offsets."""
    size: int
    """Bytes of its log."""


class BatchLimit:
    """Cuts what there is to read into parts that memory has room for.

    Kafka says how large a whole topic is, not how large certain records are: where they are larger
    than the others, a part may still be too much. So a part that fails for it, or that the process
    dies in the middle of, halves the limit, and one that is taken in doubles it again.
    """

    def __init__(self, most_records: int, most_bytes: int, halvings: int = 0) -> None:
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._sizes: dict[str, list[LogSize]] = {}
        self.halvings = halvings

    @property
    def records(self) -> int:
        """Most records of a part."""
        return max(1, self._most_records >> self._effective)

    @property
    def bytes(self) -> int:
        """Most bytes of a part; a single record may be more."""
        return max(1, self._most_bytes >> self._effective)

    def is_surely_small(self, records: int) -> bool:
        """Whether so many are within the limit even if each is as large as Kafka takes any."""
        return records * LARGEST_MESSAGE <= self.bytes and records <= self.records

    def noted(self, topic: str, size: LogSize) -> None:
        """Note the size of a topic; the last two are kept."""
        self._sizes[topic] = [*self._sizes.get(topic, [])[-1:], size]

    def average(self, topic: str) -> float:
        """Bytes of a record: of the whole topic, or of what it grew by if that is larger."""
        looks = self._sizes.get(topic, [])
        if not looks:
            return 0.0
        last = looks[-1]
        averages = [last.size / last.records] if last.records > 0 else []
        if len(looks) == 2 and (grown := last.records - looks[0].records) > 0:
            averages.append((last.size - looks[0].size) / grown)
        return max([0.0, *averages])

    def parts(self, spans: Spans) -> Iterator[Spans]:
        """`spans` in parts, in the order of offsets; each within the limit when it starts."""
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
        """A part was too much."""
        self.halvings = min(max(self.halvings, 1) + 1, self._most_records.bit_length() + 1)

    def died(self) -> None:
        """The process died in the middle of a part: once may be for any reason."""
        self.halvings = min(self.halvings + 1, self._most_records.bit_length() + 1)

    def succeeded(self) -> bool:
        """A part was taken in. Whether the limit has changed."""
        if self.halvings == 0:
            return False
        self.halvings -= 1
        return True

    @property
    def _effective(self) -> int:
        return max(0, self.halvings - 1)


def is_too_large(error: BaseException) -> bool:
    """Whether a batch failed for lack of memory."""
    text = f"{type(error).__name__} {error} {in_one_line(error)}"
    return any(mark in text for mark in _TOO_LARGE)
