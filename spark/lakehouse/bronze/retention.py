"""Removal of old bronze files, and of old files that were put aside, after the lake's retention.

A file's age is that of its last write, which the object store notes. Its records are older still,
so none is removed before the retention has passed since it reached bronze.
"""

from __future__ import annotations

import io
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import Any, cast

import fastavro

from lakecontract.bronze_beginning import Beginning
from lakecontract.errors import in_one_line
from lakehouse.bronze.folders import BronzeFolder
from lakehouse.bronze.listing import BronzeListing, ListedFile
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.schema_changes import POSITION_COLUMNS
from lakehouse.storage import FileInfo, LakeFiles

__all__ = ["Removal", "Retention", "removable"]

_log = logging.getLogger(__name__)
_OFFSET = POSITION_COLUMNS.names[1]
_MOST_FILES = 1_000
"""Most files of a topic that are removed in one pass; a rebuild of its tables waits for them."""
_FIRST_PAUSE_SECONDS = 60.0
_SHORTEST_PAUSE_SECONDS = 10.0
"""Pause between two passes if the first one has left files because of its limit."""
_LONGEST_PAUSE_SECONDS = 3_600.0
_GRAIN_MS = 1_000
"""Milliseconds by which a file may be younger than it seems: S3 notes whole seconds."""
_PASSES = 100
"""Passes in the time of one retention: a file stays at most a hundredth longer, or an hour."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Files of a topic that are to be removed."""

    files: Sequence[ListedFile]
    begins: Mapping[int, int]
    """Start offset of the first file that stays, for each partition with files to remove."""

    def without(self, staying: Collection[ListedFile]) -> Removal:
        """Return the removal of the files that are not in `staying`."""
        files = [file for file in self.files if file not in staying]
        partitions = {file.partition for file in files}
        return Removal(files, {n: at for n, at in self.begins.items() if n in partitions})


def removable(
    files: Iterable[ListedFile], before_ms: int, needed: Mapping[int, int] | None, most: int
) -> Removal:
    """Return the oldest of `files` that were last written before `before_ms`, at most `most`.

    `files` are in the order of partitions and start offsets. In each partition, only files before
    the first one that stays are removed. Tables still need the records at and after the offsets
    `needed`, and all of partitions that are not in there: every file from the last one that begins
    at or before such an offset stays. None: no table reads the topic. The last file stays in any
    case: it shows bronze's position.
    """
    old: list[ListedFile] = []
    begins: dict[int, int] = {}
    for partition, group in groupby(files, key=lambda file: file.partition):
        mine = list(group)
        end = 0
        while (
            end + 1 < len(mine)
            and len(old) + end < most
            and _is_old(mine[end].modified_ms, before_ms)
            and (needed is None or mine[end + 1].start_offset <= needed.get(partition, 0))
        ):
            end += 1
        if end:
            old += mine[:end]
            begins[partition] = mine[end].start_offset
    return Removal(old, begins)


def _is_old(modified_ms: int | None, before_ms: int) -> bool:
    return modified_ms is not None and modified_ms < before_ms


class Retention:
    """A background thread that removes what is older than the retention, a part in each pass.

    It notes where a topic's files begin before it removes the first one. If the application dies
    in between, the next pass removes the rest.
    """

    def __init__(
        self,
        storage: LakeFiles,
        topics: BronzeTopics,
        seconds: int,
        folders: Callable[[], Sequence[BronzeFolder]],
    ) -> None:
        self._storage = storage
        self._topics = topics
        self._seconds = seconds
        self._folders = folders
        self._files: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._begins: dict[str, Beginning] = {}
        self._errors: list[str] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 30.0) -> None:
        """Stop after the current file; wait at most `timeout` seconds for it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def status(self) -> Mapping[str, Any]:
        """Return the entry of `GET /status`. Files and bytes are those removed since the start."""
        with self._lock:
            return {
                "seconds": self._seconds,
                "files": dict(self._files),
                "bytes": dict(self._bytes),
                "begins": {
                    topic: {
                        "offsets": {str(number): at for number, at in begin.offsets.items()},
                        "since": begin.since,
                    }
                    for topic, begin in self._begins.items()
                },
                "error": "\n".join(self._errors) or None,
            }

    def remove_due(self) -> bool:
        """Remove what is due, within the limit; return whether the limit has left some of it."""
        before_ms = time.time_ns() // 1_000_000 - self._seconds * 1_000
        is_left = False
        errors: list[str] = []
        tasks: list[Callable[[], bool]] = [partial(self._clear_retired, before_ms)]
        try:
            tasks += [partial(self._clear, folder, before_ms) for folder in self._folders()]
        except Exception as error:
            errors.append(_told(error))
        for task in tasks:
            if self._stop.is_set():
                break
            try:
                is_left = task() or is_left
            except Exception as error:
                errors.append(_told(error))
        with self._lock:
            self._errors = list(dict.fromkeys(errors))
        return is_left

    def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        between = max(_SHORTEST_PAUSE_SECONDS, min(self._seconds / _PASSES, _LONGEST_PAUSE_SECONDS))
        while not self._stop.wait(pause):
            pause = _SHORTEST_PAUSE_SECONDS if self.remove_due() else between

    def _clear(self, folder: BronzeFolder, before_ms: int) -> bool:
        """Remove the files of a topic that are due; return whether the limit has left some."""
        topic = folder.topic
        uses = self._topics.uses(topic)
        known = self._topics.beginning_of(topic)
        position = self._topics.position_of(topic)
        listing = BronzeListing(self._storage, folder.path)
        files = listing.files_before(position, with_times=True)
        removal = removable(files, before_ms, folder.needed(position is not None), _MOST_FILES)
        is_full = len(removal.files) >= _MOST_FILES
        if position is not None or not folder.is_in_order:
            begins = removal.begins
            removal = removal.without(
                [file for file in removal.files if not self._ends_by(file, begins[file.partition])]
            )
        if removal.files:
            with self._topics.removing(topic, uses) as may_remove:
                if not may_remove or self._stop.is_set():
                    return False
                known = _later(known, removal)
                self._topics.note_beginning(topic, known)
                self._remove(topic, [(one.path, one.size) for one in removal.files], folder.path)
                _log.info("retention: %s begins at %s", topic, known)
        with self._lock:
            if known is None:
                self._begins.pop(topic, None)
            else:
                self._begins[topic] = known
        return is_full and bool(removal.files)

    def _ends_by(self, file: ListedFile, offset: int) -> bool:
        """Return whether all records of a file come before `offset`; False for a damaged file."""
        try:
            content = io.BytesIO(self._storage.read(file.path))
            records = cast("Iterable[Any]", fastavro.reader(content))
            return all(record[_OFFSET] < offset for record in records)
        except Exception as error:
            _log.warning("retention: %s stays, because it cannot be read: %s", file.path, error)
            return False

    def _clear_retired(self, before_ms: int) -> bool:
        """Remove the files that were put aside and are due, as `_clear` does."""
        folder = self._topics.retired
        found = [
            info
            for info in self._storage.files_below(folder, with_times=True)
            if info.name and _is_old(info.modified_ms, before_ms)
        ]
        due: list[FileInfo] = found[:_MOST_FILES]
        self._remove("retired", [(info.path, info.size) for info in due], folder)
        return len(found) > len(due)

    def _remove(self, name: str, files: Sequence[tuple[str, int]], root: str) -> None:
        """Remove files, given with their sizes, and folders below `root` that are empty then."""
        folders = set()
        for path, size in files:
            if self._stop.is_set():
                return
            self._storage.delete(path)
            folders.add(path.rpartition("/")[0])
            with self._lock:
                self._files[name] += 1
                self._bytes[name] += size
        for folder in folders:
            emptied = folder
            while emptied.startswith(f"{root}/") and self._storage.delete_empty(emptied):
                emptied = emptied.rpartition("/")[0]
        if files:
            _log.info("retention: removed %d old files of %s", len(files), name)


def _told(error: Exception) -> str:
    _log.error("retention: old files stay until the next pass", exc_info=error)
    return in_one_line(error)


def _later(known: Beginning | None, removal: Removal) -> Beginning:
    """Return where bronze begins after `removal`, never before the beginning that is `known`."""
    last_ms = max(file.modified_ms or 0 for file in removal.files) + _GRAIN_MS
    since = datetime.fromtimestamp(last_ms / 1_000, UTC).isoformat(timespec="milliseconds")
    if known is None:
        return Beginning(removal.begins, since)
    offsets = dict(known.offsets)
    for partition, offset in removal.begins.items():
        offsets[partition] = max(offset, offsets.get(partition, 0))
    return Beginning(offsets, max(since, known.since))
