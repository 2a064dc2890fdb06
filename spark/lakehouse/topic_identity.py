"""The topic that offsets belong to: one that was deleted and recreated counts from 0.

Offsets order the changes of a row as long as all of them are in one partition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakecontract.errors import PermanentError

__all__ = [
    "GrownTopicError",
    "RemadeTopicError",
    "TopicIdentity",
    "TopicState",
    "has_records_before",
    "why_not_ordered",
    "why_not_to_go_on",
]


class RemadeTopicError(PermanentError):
    """A table's offsets belong to a topic that no longer exists."""


class GrownTopicError(PermanentError):
    """A table's topic has got more partitions, so that offsets no longer order its changes."""


@dataclass(frozen=True, slots=True)
class TopicIdentity:
    """The facts about a topic that stay the same while a table follows it."""

    id: str
    """Kafka's own id, see `TopicState`."""
    partitions: int
    """Number of its partitions; 0: unknown."""


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as it is now."""

    id: str
    """Kafka's own id, which is new each time that a topic of this name is made; empty: unknown."""
    ends: Mapping[int, int]
    """The offset that the next record will have, by partition."""
    starts: Mapping[int, int]
    """The first offset that is still there, by partition."""
    partitions: int = 0
    """Number of its partitions; 0: unknown."""

    @property
    def identity(self) -> TopicIdentity:
        return TopicIdentity(self.id, self.partitions)


def why_not_to_go_on(
    remembered_id: str, next_offsets: Mapping[int, int], topic: TopicState
) -> str | None:
    """Return why records would be lost by continuing at `next_offsets`; None if none would.

    `remembered_id` is the id of the topic that these offsets are of; empty when nobody noted it.
    """
    if not next_offsets:
        return None
    if remembered_id and topic.id and remembered_id != topic.id:
        return "it was deleted and recreated, and its offsets start from 0"
    for partition, offset in sorted(next_offsets.items()):
        if offset > topic.ends.get(partition, offset):
            return (
                f"its partition {partition} ends at offset {topic.ends[partition]}, before "
                f"{offset}, the next one to take in: it was deleted and recreated, or Kafka has "
                "lost records"
            )
        if offset < topic.starts.get(partition, 0):
            return (
                f"its partition {partition} begins at offset {topic.starts[partition]}: records "
                f"from {offset} on are no longer in Kafka"
            )
    return None


def why_not_ordered(remembered_partitions: int, topic: TopicState) -> str | None:
    """Return why a row's newer change may have a smaller offset; None if it has not.

    `remembered_partitions` is the topic's number of partitions when the table began; 0: unknown.
    """
    if 0 in (remembered_partitions, topic.partitions) or topic.partitions == remembered_partitions:
        return None
    return (
        f"it has {topic.partitions} partitions, and had {remembered_partitions} when the table "
        "began: the next change of a row may go to another partition than those before it, and "
        "have a smaller offset"
    )


def has_records_before(next_offsets: Mapping[int, int], topic: TopicState) -> bool:
    """Return whether the topic still has records from before `next_offsets`."""
    return any(topic.starts.get(number, offset) < offset for number, offset in next_offsets.items())
