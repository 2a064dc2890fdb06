"""Which topic offsets are of: a topic that was deleted and made again counts from 0 once more."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from lakehouse.errors import PermanentError
from lakehouse.storage import Storage

__all__ = ["BronzeTopics", "RemadeTopicError", "TopicState", "why_not_to_go_on"]

_log = logging.getLogger(__name__)


class RemadeTopicError(PermanentError):
    """A table's offsets are of a topic that is no more."""


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as it is now."""

    id: str
    """Kafka's own, another one for each time that a topic of this name was made; empty: unknown."""
    ends: Mapping[int, int]
    """By partition, the offset that its next record will have."""
    starts: Mapping[int, int]
    """By partition, the first offset that is still there."""


def why_not_to_go_on(
    remembered_id: str, next_offsets: Mapping[int, int], topic: TopicState
) -> str | None:
    """Why records would be lost by going on at `next_offsets`; None when none would.

    `remembered_id` is the id of the topic that these offsets are of; empty when nobody noted it.
    """
    if not next_offsets:
        return None
    if remembered_id and topic.id and remembered_id != topic.id:
        return "it was deleted and made again, and its offsets begin again"
    for partition, offset in sorted(next_offsets.items()):
        if offset > topic.ends.get(partition, offset):
            return (
                f"its partition {partition} ends at offset {topic.ends[partition]}, before "
                f"{offset}, the next one to take in: it was deleted and made again, or Kafka has "
                "lost records"
            )
        if offset < topic.starts.get(partition, 0):
            return (
                f"its partition {partition} begins at offset {topic.starts[partition]}: records "
                f"from {offset} on are no longer in Kafka"
            )
    return None


class BronzeTopics:
    """Which topics the bronze files are of, kept in the lake beside the files."""

    def __init__(self, storage: Storage, *, lake: str, bronze_base_path: str) -> None:
        """`lake` is where the application keeps what is neither bronze nor silver."""
        self._storage = storage
        self._ids = f"{lake}/bronze-topics"
        self._retiring = f"{lake}/retire"
        self._retired = f"{bronze_base_path.rstrip('/')}/retired"

    def id_of(self, topic: str) -> str:
        """The id of the topic that the files are of; empty when nobody noted it."""
        path = f"{self._ids}/{topic}"
        return self._storage.read(path).decode() if self._storage.exists(path) else ""

    def remember(self, topic: str, topic_id: str) -> None:
        self._storage.write(f"{self._ids}/{topic}", topic_id.encode())

    def ask_to_retire(self, topic: str) -> None:
        """Have a topic's files put aside before any is written next."""
        self._storage.write(f"{self._retiring}/{topic}", b"")

    def is_to_retire(self, topic: str) -> bool:
        return self._storage.exists(f"{self._retiring}/{topic}")

    def retire(self, topics_path: str) -> None:
        """Put the files aside that this was asked for; `topics_path` has a folder for each topic.

        What was moved when the application died stays where it is: the rest follows beside it.
        """
        for request in self._storage.entries(self._retiring):
            topic = request.name
            files = f"{topics_path}/{topic}"
            if self._storage.exists(files):
                aside = f"{self._retired}/{topic}/{time.time_ns() // 1_000_000}"
                self._storage.move(files, aside)
                _log.warning("bronze: the files in %s were moved to %s", files, aside)
            self._storage.delete(f"{self._ids}/{topic}")
            self._storage.delete(request.path)
