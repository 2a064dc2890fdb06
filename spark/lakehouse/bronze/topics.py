"""Notes about the topics of bronze files."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from lakecontract.bronze_beginning import BEGINNINGS, Beginning
from lakecontract.bronze_position import POSITIONS, note_of, parse_position
from lakecontract.errors import PermanentError
from lakehouse.storage import LakeFiles
from lakehouse.topic_identity import TopicIdentity

__all__ = ["BronzeTopics"]

_log = logging.getLogger(__name__)


class BronzeTopics:
    """Ids, positions and beginnings of the topics of bronze files, kept in the lake beside them.

    If a partition has files in several folders open at a time, they do not show its position in
    bronze: some of the files that are closed together may be missing. A note shows it, which is
    written once all of them are there.
    """

    def __init__(self, storage: LakeFiles, *, lake: str, bronze_base_path: str) -> None:
        """`lake` is the folder for data that is neither bronze nor silver."""
        self._storage = storage
        self._ids = f"{lake}/bronze-topics"
        self._positions = f"{lake}/{POSITIONS}"
        self._beginnings = f"{lake}/{BEGINNINGS}"
        self._retiring = f"{lake}/retire"
        self.retired = f"{bronze_base_path.rstrip('/')}/retired"
        self._changed = threading.Condition()
        self._uses: Counter[str] = Counter()
        self._in_use: Counter[str] = Counter()
        self._removing: set[str] = set()

    def identity_of(self, topic: str) -> TopicIdentity:
        """Return the topic that the files are from; its id is empty if none was noted.

        It has 0 partitions if their number was not noted.
        """
        path = f"{self._ids}/{topic}"
        noted = self._storage.read(path).decode() if self._storage.exists(path) else ""
        id_, _, partitions = noted.partition(" ")
        return TopicIdentity(id_, int(partitions or 0))

    def remember(self, topic: str, identity: TopicIdentity) -> None:
        self._storage.write(f"{self._ids}/{topic}", f"{identity.id} {identity.partitions}".encode())

    def position_of(self, topic: str) -> Mapping[int, int] | None:
        """Return the offset before which bronze has everything, by partition; None if not noted."""
        path = f"{self._positions}/{topic}"
        return parse_position(self._storage.read(path)) if self._storage.exists(path) else None

    def note_position(self, topic: str, position: Mapping[int, int]) -> None:
        self._storage.write(f"{self._positions}/{topic}", note_of(position))

    def beginning_of(self, topic: str) -> Beginning | None:
        """Return where bronze begins after the removal of old files; None if none was removed."""
        path = f"{self._beginnings}/{topic}"
        return Beginning.parse(self._storage.read(path)) if self._storage.exists(path) else None

    def note_beginning(self, topic: str, beginning: Beginning) -> None:
        self._storage.write(f"{self._beginnings}/{topic}", beginning.note())

    def require_all_from(self, topic: str, offsets: Mapping[int, int], table: str) -> None:
        """Raise PermanentError if `table` needs records that were removed after the retention.

        It needs those at and after `offsets`, and all of partitions that are not in there.
        """
        beginning = self.beginning_of(topic)
        if beginning is None or not any(
            beginning.is_after(partition, offsets.get(partition, 0))
            for partition in beginning.offsets
        ):
            return
        raise PermanentError(
            f"Table {table} cannot be written from bronze: for its topic {topic}, bronze begins at "
            f"{beginning}. Older files were removed after the lake's retention; everything written "
            f"since {beginning.since} is there",
            hint="Nothing was changed. If the topic still has every row, or once it has "
            f"(labctl connectors backfill {table}), write table and bronze again from it: labctl "
            f"table rebuild {table} --from-topic",
        )

    @contextmanager
    def in_use(self, topic: str) -> Iterator[None]:
        """Keep a topic's files from being removed meanwhile; wait for a removal that has begun."""
        with self._changed:
            self._changed.wait_for(lambda: topic not in self._removing)
            self._uses[topic] += 1
            self._in_use[topic] += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_use[topic] -= 1

    def uses(self, topic: str) -> int:
        """Return how often a topic's files have been in use."""
        with self._changed:
            return self._uses[topic]

    @contextmanager
    def removing(self, topic: str, uses: int) -> Iterator[bool]:
        """Reserve a topic's files for a removal that was planned when `uses` returned this number.

        Yield False if the files are in use, or have been since then.
        """
        with self._changed:
            may = not self._in_use[topic] and self._uses[topic] == uses
            if may:
                self._removing.add(topic)
        try:
            yield may
        finally:
            if may:
                with self._changed:
                    self._removing.discard(topic)
                    self._changed.notify_all()

    def ask_to_retire(self, topic: str) -> None:
        """Request that a topic's files are put aside before the next one is written."""
        self._storage.write(f"{self._retiring}/{topic}", b"")

    def is_to_retire(self, topic: str) -> bool:
        return self._storage.exists(f"{self._retiring}/{topic}")

    def retire(self, topics_path: str, is_mine: Callable[[str], bool]) -> None:
        """Put aside the files of requested topics, as far as the topics are the caller's.

        `topics_path` has a folder for each topic.

        If the application dies during the move, moved files stay where they are, and the next start
        moves the rest to a folder beside them.
        """
        for request in self._storage.entries(self._retiring):
            topic = request.name
            if not is_mine(topic):
                continue
            with self.in_use(topic):
                self._retire(topic, f"{topics_path}/{topic}")
                self._storage.delete(request.path)

    def _retire(self, topic: str, files: str) -> None:
        if self._storage.exists(files):
            aside = f"{self.retired}/{topic}/{time.time_ns() // 1_000_000}"
            self._storage.move(files, aside)
            _log.warning("bronze: the files in %s were moved to %s", files, aside)
        for notes in (self._ids, self._positions, self._beginnings):
            self._storage.delete(f"{notes}/{topic}")
