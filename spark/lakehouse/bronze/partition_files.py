"""Appending to the bronze files of a sink's topics: each record once, after any crash."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import fastavro
import pyarrow as pa

from lakecontract.bronze_files import Rotation, container
from lakecontract.sink_config import SinkConfig
from lakehouse.bronze.listing import BronzeListing
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.storage import LakeFiles

__all__ = ["PartitionFiles"]

_log = logging.getLogger(__name__)


class PartitionFiles:
    """A writer of files that takes each partition's position from the bucket.

    If a partition has one file open at a time, its last file gives the position. If it has several,
    a note gives it, which is written once all files that are closed together are there. Files after
    the note belong to an unfinished rotation: they are removed and written again.
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
        """`schema_of` returns the file schema for the id of the values' schema."""
        self._storage = storage
        self._topics = topics
        self._config = config
        self._schema_of = schema_of
        self._base_path = base_path.rstrip("/")
        self._positions: dict[str, dict[int, int]] = {}
        self._noted: set[str] = set()

    @property
    def topics_path(self) -> str:
        """The folder with one subfolder per topic."""
        return f"{self._base_path}/{self._config.topics_dir}"

    @property
    def positions(self) -> Mapping[str, Mapping[int, int]]:
        """The next offset by topic and partition; all records before it are in files."""
        return self._positions

    def position(self, topic: str) -> Mapping[int, int]:
        return self._positions.get(topic, {})

    def forget(self) -> None:
        """Forget all positions: a topic that is missing now may be another one when it is back."""
        self._positions.clear()
        self._noted.clear()

    def open(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """Read a topic's position, continue from there and return it."""
        noted = self._topics.position_of(topic)
        if noted is None:
            self._positions[topic] = self._behind_last_files(topic, partitions)
        else:
            self._noted.add(topic)
            self._positions[topic] = dict(noted)
        return dict(self._positions[topic])

    def clear_beyond(self, topic: str) -> None:
        """Remove the files of an unfinished rotation."""
        if topic not in self._noted:
            return
        position = self._positions[topic]
        for file in self._listing(topic).every_file():
            if file.start_offset >= position.get(file.partition, 0):
                _log.warning("bronze: %s is removed and written again", file.path)
                self._storage.delete(file.path)

    def append(self, rotation: Rotation) -> Iterator[str]:
        """Write the files of a rotation. Yield the key of each file once the file is there."""
        first, last = rotation.first, rotation.last
        position = self._positions.setdefault(first.topic, {})
        is_noted = first.topic in self._noted or not self._config.rotate_on_folder_change
        if is_noted and (first.topic not in self._noted or first.partition not in position):
            # The note must exist before the first file that may be removed because of it.
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
