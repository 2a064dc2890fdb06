"""The topic that offsets belong to: a topic that was deleted and recreated counts from 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakecontract.errors import PermanentError

__all__ = ["RemadeTopicError", "TopicState", "why_not_to_go_on"]


class RemadeTopicError(PermanentError):
    """A table's offsets belong to a topic that no longer exists."""


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as it is now."""

    id: str
    """Kafka's own id, which is new each time that a topic of this name is made; empty: unknown."""
    ends: Mapping[int, int]
    """The offset that the next record will have, by partition."""
    starts: Mapping[int, int]
    """The first offset that is still there, by partition."""


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
