"""Notes about the topics of bronze files."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from lakecontract.bronze_position import POSITIONS, note_of, parse_position
from lakehouse.storage import LakeFiles

__all__ = ["BronzeTopics"]

_log = logging.getLogger(__name__)


class BronzeTopics:
    """Ids and positions of the topics of bronze files, kept in the lake beside the files.

    If a partition has files in several folders open at a time, they do not show its position in
    bronze: some of the files that are closed together may be missing. A note shows it, which is
    written once all of them are there.
    """

    def __init__(self, storage: LakeFiles, *, lake: str, bronze_base_path: str) -> None:
        """`lake` is the folder for data that is neither bronze nor silver."""
        self._storage = storage
        self._ids = f"{lake}/bronze-topics"
        self._positions = f"{lake}/{POSITIONS}"
        self._retiring = f"{lake}/retire"
        self._retired = f"{bronze_base_path.rstrip('/')}/retired"

    def id_of(self, topic: str) -> str:
        """Return the id of the topic that the files are from; empty when none was noted."""
        path = f"{self._ids}/{topic}"
        return self._storage.read(path).decode() if self._storage.exists(path) else ""

    def remember(self, topic: str, topic_id: str) -> None:
        self._storage.write(f"{self._ids}/{topic}", topic_id.encode())

    def position_of(self, topic: str) -> Mapping[int, int] | None:
        """Return the offset before which bronze has everything, by partition; None if not noted."""
        path = f"{self._positions}/{topic}"
        return parse_position(self._storage.read(path)) if self._storage.exists(path) else None

    def note_position(self, topic: str, position: Mapping[int, int]) -> None:
        self._storage.write(f"{self._positions}/{topic}", note_of(position))

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
            files = f"{topics_path}/{topic}"
            if self._storage.exists(files):
                aside = f"{self._retired}/{topic}/{time.time_ns() // 1_000_000}"
                self._storage.move(files, aside)
                _log.warning("bronze: the files in %s were moved to %s", files, aside)
            self._storage.delete(f"{self._ids}/{topic}")
            self._storage.delete(f"{self._positions}/{topic}")
            self._storage.delete(request.path)
