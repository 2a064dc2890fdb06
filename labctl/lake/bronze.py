"""The bronze files: every change record of a topic, as Avro objects by day."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import fastavro
from pyarrow import fs

from labctl.errors import ExitCode, LabError
from labctl.lake.objectstore import LakeStorage
from labctl.lake.records import Record, converters, readable

if TYPE_CHECKING:
    from labctl.config.endpoints import ObjectStore

__all__ = ["Bronze", "BronzeObject"]

_NAME = re.compile(r"(?P<topic>.+)\+(?P<partition>\d+)\+(?P<offset>\d+)\.avro")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, order=True)
class BronzeObject:
    """One Avro file. Sorts by where it starts in its topic."""

    topic: str
    partition: int
    start_offset: int
    path: str
    """Relative to the bucket."""
    size: int
    """Bytes."""
    modified: datetime | None


class Bronze:
    """Bronze objects below `folder`, the sink connector's `topics.dir`; the default is its own."""

    def __init__(self, storage: LakeStorage | ObjectStore, *, folder: str = "topics") -> None:
        self.storage = storage if isinstance(storage, LakeStorage) else LakeStorage.of(storage)
        self._folder = folder

    def topics(self) -> list[str]:
        """Names of the topics that have a folder."""
        entries = self.storage.list(self._folder)
        return sorted(e.base_name for e in entries if e.type == fs.FileType.Directory)

    def objects(self, topic: str) -> list[BronzeObject]:
        """All objects of a topic, newest first. Raises LabError for a topic without any."""
        found = [
            BronzeObject(
                topic=match["topic"],
                partition=int(match["partition"]),
                start_offset=int(match["offset"]),
                path=entry.path.removeprefix(f"{self.storage.root}/"),
                size=entry.size or 0,
                modified=entry.mtime,
            )
            for entry in self.storage.list(f"{self._folder}/{topic}", recursive=True)
            if (match := _NAME.fullmatch(entry.base_name))
        ]
        if not found:
            raise LabError(
                f"There are no bronze files of topic '{topic}'.",
                hint=f"Topics: {', '.join(self.topics()) or 'none yet'}.",
                exit_code=ExitCode.USAGE,
            )
        return sorted(found, key=lambda o: (o.modified or _EPOCH, o.start_offset), reverse=True)

    def read(self, source: BronzeObject) -> list[Record]:
        """The records of one object, in offset order. Raises LabError for a damaged file."""
        try:
            reader = fastavro.reader(io.BytesIO(self.storage.read_bytes(source.path)))
            by_field = converters(reader.writer_schema)
            values = [readable(value, by_field) for value in reader]
        except (ValueError, EOFError, OSError) as error:
            raise LabError(f"{source.path} could not be read as Avro: {error}") from None
        return [_record(source, index, value) for index, value in enumerate(values)]

    def schema(self, topic: str) -> dict[str, Any]:
        """The Avro schema of the topic's newest object. Raises LabError for a damaged file."""
        newest = self.objects(topic)[0]
        try:
            reader = fastavro.reader(io.BytesIO(self.storage.read_bytes(newest.path)))
            # As it was written: what the reader makes of it has marks of its own.
            found: dict[str, Any] = json.loads(reader.metadata["avro.schema"])
        except (ValueError, EOFError, OSError, KeyError) as error:
            raise LabError(f"{newest.path} could not be read as Avro: {error}") from None
        return found

    def find(self, topic: str, wanted: Mapping[str, object], *, limit: int = 1) -> list[Record]:
        """The newest `limit` records having the `wanted` fields, newest first."""
        found: list[Record] = []
        for record in self._newest_first(topic):
            if len(found) == limit:
                break
            if record.matches(wanted):
                found.append(record)
        return found

    def _newest_first(self, topic: str) -> Iterator[Record]:
        for source in self.objects(topic):
            yield from reversed(self.read(source))


def _record(source: BronzeObject, index: int, value: Any) -> Record:
    """Position columns of the value win over counting from the file's name."""
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
