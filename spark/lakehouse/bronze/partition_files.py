"""The bronze files of a sink's topics as they are added to, each record once, after any crash."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import fastavro
import pyarrow as pa

from lakehouse.bronze.files import Rotation, container
from lakehouse.bronze.listing import BronzeListing
from lakehouse.bronze.sink_config import SinkConfig
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.storage import LakeFiles

__all__ = ["PartitionFiles"]

_log = logging.getLogger(__name__)


class PartitionFiles:
    """Adds files, and knows how far each partition is in them: the bucket says so.

    Where a partition has one file open at a time, its last file tells. Where it has several, a note
    does, which is written when those that are closed together are all there. Files from behind the
    note are of a rotation that was not over: they are removed and written again.
    """

    def __init__(
        self,
        storage: LakeFiles,
        topics: BronzeTopics,
        config: SinkConfig,
        schema_of: Callable[[int], str],
        *,
        base_path: str,
    ) -> None:
        """`schema_of` gives the schema of files with values of a schema's id."""
        self._storage = storage
        self._topics = topics
        self._config = config
        self._schema_of = schema_of
        self._base_path = base_path.rstrip("/")
        self._positions: dict[str, dict[int, int]] = {}
        self._noted: set[str] = set()

    @property
    def topics_path(self) -> str:
        """The folder that has one for each topic."""
        return f"{self._base_path}/{self._config.topics_dir}"

    @property
    def positions(self) -> Mapping[str, Mapping[int, int]]:
        """By topic and partition, the offset that everything before is in files."""
        return self._positions

    def position(self, topic: str) -> Mapping[int, int]:
        return self._positions.get(topic, {})

    def forget(self) -> None:
        """Know of no topic how far it is: one that is away now may be another when it is back."""
        self._positions.clear()
        self._noted.clear()

    def open(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """Look how far a topic is, and go on there. Returns its position."""
        noted = self._topics.position_of(topic)
        if noted is None:
            self._positions[topic] = self._behind_last_files(topic, partitions)
        else:
            self._noted.add(topic)
            self._positions[topic] = dict(noted)
        return dict(self._positions[topic])

    def clear_beyond(self, topic: str) -> None:
        """Remove the files of a rotation that was not over."""
        if topic not in self._noted:
            return
        position = self._positions[topic]
        for file in self._listing(topic).every_file():
            if file.start_offset >= position.get(file.partition, 0):
                _log.warning("bronze: %s is removed and written again", file.path)
                self._storage.delete(file.path)

    def append(self, rotation: Rotation) -> Iterator[str]:
        """Write the files of a rotation. Yields their keys, each once its file is there."""
        first, last = rotation.first, rotation.last
        position = self._positions.setdefault(first.topic, {})
        is_noted = first.topic in self._noted or not self._config.rotate_on_folder_change
        if is_noted and (first.topic not in self._noted or first.partition not in position):
            # There is to be a note before the first file that may be removed because of it.
            position.setdefault(first.partition, first.offset)
            self._topics.note_position(first.topic, position)
            self._noted.add(first.topic)
        for file in rotation.files:
            key = file.key(self._config.topics_dir)
            schema = self._schema_of(file.records[0].schema_id)
            content = container(file, schema, self._config.codec, _snappy)
            self._storage.write(f"{self._base_path}/{key}", content)
            yield key
        position[last.partition] = last.offset + 1
        if is_noted:
            self._topics.note_position(first.topic, position)

    def _behind_last_files(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for partition, path in self._listing(topic).last_files(partitions).items():
            records: Iterable[Any] = fastavro.reader(io.BytesIO(self._storage.read(path)))
            found[partition] = (
                max(record[self._config.position_fields[1]] for record in records) + 1
            )
        return found

    def _listing(self, topic: str) -> BronzeListing:
        return BronzeListing(self._storage, f"{self.topics_path}/{topic}")


def _snappy(block: bytes) -> bytes:
    return bytes(pa.compress(block, codec="snappy", asbytes=True))
