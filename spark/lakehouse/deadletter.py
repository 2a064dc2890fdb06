"""The dead-letter location, for records that cannot be decoded and do not stop their table."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lakecontract.dead_letter import LETTER_SUFFIX, DeadLetterFile, letter_name
from lakecontract.options import REPLAYED
from lakehouse.decode import Undecodable
from lakehouse.progress import now
from lakehouse.storage import LakeFiles

__all__ = ["DeadLetters"]

_log = logging.getLogger(__name__)
_PARALLEL = 8
"""Files at a time: a connector with an unknown schema spoils every record of its topic."""
_OF_AN_OLD_TOPIC = "old-topic"
T = TypeVar("T")
R = TypeVar("R")


class DeadLetters:
    """The letters, one file per record."""

    def __init__(self, storage: LakeFiles, base_path: str) -> None:
        self._storage = storage
        self._base_path = base_path.rstrip("/")
        self._lock = threading.Lock()
        self._names: dict[str, set[str]] = {}
        self._newest: dict[str, str] = {}

    def write(self, records: Iterable[Undecodable]) -> None:
        _each(self._write, list(records))

    def _write(self, record: Undecodable) -> None:
        path = f"{self._folder(record.topic)}/{_name(record)}"
        self._storage.write(path, _letter(record).content())
        _log.warning("%s put aside in %s: %s", _place(record), path, record.reason)
        with self._lock:
            self._names.setdefault(record.topic, set()).add(_name(record))
            self._newest[record.topic] = f"{_place(record)}: {record.reason}"

    def look(self, topic: str) -> None:
        """List a topic's letters, for `count` and `newest`."""
        names = self._listed(topic)
        newest = self._read(topic, names[-1]) if names else None
        with self._lock:
            self._names[topic] = set(names)
            self._newest.pop(topic, None)
            if newest is not None:
                self._newest[topic] = f"{_place(newest)}: {newest.reason}"

    def count(self, topic: str) -> int:
        """Return the number of waiting letters that are known."""
        with self._lock:
            return len(self._names.get(topic, ()))

    def newest(self, topic: str) -> str | None:
        """Return place and reason of the newest letter that waits."""
        with self._lock:
            return self._newest.get(topic)

    def waiting(self, topic: str) -> list[Undecodable]:
        """Return the letters that were not replayed, ordered by place."""
        found = _each(lambda name: self._read(topic, name), self._listed(topic))
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def replayed(self, records: Sequence[Undecodable]) -> None:
        """Put away letters whose records are now in their table or were followed by newer ones."""
        for topic in {record.topic for record in records}:
            self._move([_name(r) for r in records if r.topic == topic], topic, "", f"{REPLAYED}/")

    def reopen(self, topic: str) -> None:
        """Make replayed letters wait again, because the table was written again without them."""
        names = self._listed(topic, f"/{REPLAYED}")
        self._move(names, topic, f"{REPLAYED}/", "")

    def give_up(self, topic: str) -> None:
        """Put away the letters of a topic that no longer exists: a new one counts from 0."""
        self._move(self._listed(topic), topic, "", f"{_OF_AN_OLD_TOPIC}/")

    def _move(self, names: Sequence[str], topic: str, source: str, target: str) -> None:
        folder = self._folder(topic)

        def move(name: str) -> None:
            content = self._storage.read(f"{folder}/{source}{name}")
            self._storage.write(f"{folder}/{target}{name}", content)
            self._storage.delete(f"{folder}/{source}{name}")

        _each(move, names)
        self.look(topic)

    def _listed(self, topic: str, below: str = "") -> list[str]:
        found = self._storage.entries(f"{self._folder(topic)}{below}")
        names = [info.name for info in found if not info.is_folder]
        return [name for name in names if name.endswith(LETTER_SUFFIX)]

    def _read(self, topic: str, name: str) -> Undecodable:
        return _record(DeadLetterFile.read(self._storage.read(f"{self._folder(topic)}/{name}")))

    def _folder(self, topic: str) -> str:
        return f"{self._base_path}/{topic}"


def _each(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return list(pool.map(work, items))


def _name(record: Undecodable) -> str:
    return letter_name(record.topic, record.partition, record.offset)


def _letter(record: Undecodable) -> DeadLetterFile:
    return DeadLetterFile(
        record.topic,
        record.partition,
        record.offset,
        record.timestamp_ms,
        record.reason,
        now(),
        record.key,
        record.value,
        record.headers,
    )


def _place(record: Undecodable) -> str:
    return f"{record.topic} partition {record.partition} offset {record.offset}"


def _record(letter: DeadLetterFile) -> Undecodable:
    return Undecodable(
        letter.topic,
        letter.partition,
        letter.offset,
        letter.timestamp_ms,
        letter.reason,
        letter.key,
        letter.value,
        letter.headers,
    )
