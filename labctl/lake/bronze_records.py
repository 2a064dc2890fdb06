"""The bronze files: every change record of a topic, as Avro objects."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import fastavro
from pyarrow import fs

from labctl.errors import ExitCode, LabError, did_you_mean
from labctl.lake.objectstore import LakeStorage
from labctl.lake.records import Record, converters, readable
from lakecontract.bronze_beginning import BEGINNINGS, Beginning
from lakecontract.bronze_files import FileName
from lakecontract.bronze_position import POSITIONS, parse_position

if TYPE_CHECKING:
    from labctl.config.endpoints import ObjectStore

__all__ = ["Bronze", "BronzeObject"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, order=True)
class BronzeObject:
    """A bronze Avro file. Files sort by topic, partition and start offset."""

    topic: str
    partition: int
    start_offset: int
    path: str
    """Path relative to the bucket."""
    size: int
    """Size in bytes."""
    modified: datetime | None

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


class Bronze:
    """Bronze objects below `folders`, which are the sink connectors' `topics.dir`.

    The default, `topics`, is also the connectors' default.
    """

    def __init__(
        self, storage: LakeStorage | ObjectStore, *, folders: Sequence[str] = ("topics",)
    ) -> None:
        self.storage = storage if isinstance(storage, LakeStorage) else LakeStorage.of(storage)
        self._folders = folders

    def topics(self) -> list[str]:
        """Return the names of the topics that have a folder."""
        entries = [entry for folder in self._folders for entry in self.storage.list(folder)]
        return sorted({e.base_name for e in entries if e.type == fs.FileType.Directory})

    def objects(self, topic: str) -> list[BronzeObject]:
        """Return all objects of a topic, newest first. Raise LabError if the topic has none."""
        found = [
            BronzeObject(
                topic=name.topic,
                partition=name.partition,
                start_offset=name.start_offset,
                path=entry.path.removeprefix(f"{self.storage.root}/"),
                size=entry.size or 0,
                modified=entry.mtime,
            )
            for folder in self._folders
            for entry in self.storage.list(f"{folder}/{topic}", recursive=True)
            if entry.is_file and (name := FileName.parse(entry.base_name))
        ]
        if not found:
            topics = self.topics()
            raise LabError(
                f"There are no bronze files of topic '{topic}'.",
                hint=f"{did_you_mean(topic, topics)}Topics: {', '.join(topics) or 'none yet'}.",
                exit_code=ExitCode.USAGE,
            )
        return sorted(found, key=lambda o: (o.modified or _EPOCH, o.start_offset), reverse=True)

    def position(self, topic: str) -> Mapping[int, int] | None:
        """Return, per partition, the offset before which the files have all records.

        Return None if it is not noted. It is noted if partitions have files in several folders open
        at a time. Files that start at or after that offset may be an incomplete part of a group of
        files that are closed together.
        """
        try:
            return parse_position(self.storage.read_bytes(f"{POSITIONS}/{topic}"))
        except FileNotFoundError:
            return None

    def beginning(self, topic: str) -> Beginning | None:
        """Return where bronze begins after the removal of old files; None if none was removed."""
        try:
            return Beginning.parse(self.storage.read_bytes(f"{BEGINNINGS}/{topic}"))
        except FileNotFoundError:
            return None

    def is_removed(self, source: BronzeObject) -> bool:
        """Return whether a file that is gone was removed after the lake's retention."""
        beginning = self.beginning(source.topic)
        return beginning is not None and beginning.is_after(source.partition, source.start_offset)

    def read(self, source: BronzeObject) -> list[Record]:
        """Return the records of one object, in offset order. Raise LabError for a damaged file.

        A file that was removed after the lake's retention has none.
        """
        try:
            reader = fastavro.reader(io.BytesIO(self.storage.read_bytes(source.path)))
            by_field = converters(reader.writer_schema)
            values = [readable(value, by_field) for value in reader]
        except FileNotFoundError as error:
            if self.is_removed(source):
                return []
            raise LabError(f"{source.path} could not be read as Avro: {error}") from None
        except (ValueError, EOFError, OSError) as error:
            raise LabError(f"{source.path} could not be read as Avro: {error}") from None
        return [_record(source, index, value) for index, value in enumerate(values)]

    def schema(self, topic: str) -> dict[str, Any]:
        """Return the Avro schema of a topic's newest object. Raise LabError for a damaged file."""
        newest = self.objects(topic)[0]
        try:
            reader = fastavro.reader(io.BytesIO(self.storage.read_bytes(newest.path)))
            # Take the schema as it was written: fastavro adds marks to its parsed copy.
            found: dict[str, Any] = json.loads(reader.metadata["avro.schema"])
        except (ValueError, EOFError, OSError, KeyError) as error:
            raise LabError(f"{newest.path} could not be read as Avro: {error}") from None
        return found

    def find(self, topic: str, wanted: Mapping[str, object], *, limit: int = 1) -> list[Record]:
        """Return the newest `limit` records that have the `wanted` fields, newest first."""
        objects = self.objects(topic)
        if self.position(topic) is None:
            return self._newest_of(objects, wanted, limit)
        # Files of several folders cover the same range; within a folder, offsets ascend.
        by_folder: dict[tuple[str, int], list[BronzeObject]] = {}
        for one in sorted(objects, key=lambda one: one.start_offset, reverse=True):
            by_folder.setdefault((one.folder, one.partition), []).append(one)
        found = [
            record for mine in by_folder.values() for record in self._newest_of(mine, wanted, limit)
        ]
        return sorted(found, key=lambda r: (r.timestamp or _EPOCH, r.offset), reverse=True)[:limit]

    def _newest_of(
        self, objects: Iterable[BronzeObject], wanted: Mapping[str, object], limit: int
    ) -> list[Record]:
        matching = (
            record
            for source in objects
            for record in reversed(self.read(source))
            if record.matches(wanted)
        )
        return list(islice(matching, limit))


def _record(source: BronzeObject, index: int, value: Any) -> Record:
    """Build a record; position columns in its value win over the file's name."""
    fields = value if isinstance(value, dict) else {}
    written = fields.get("__kafka_timestamp")
    return Record(
        topic=source.topic,
        partition=fields.get("__kafka_partition", source.partition),
        offset=fields.get("__kafka_offset", source.start_offset + index),
        timestamp=written if isinstance(written, datetime) else None,
        key=None,
        value=value,
        file=source.path,
    )
