"""Bronze files: the division of records into files, the files' names and their bytes.

An Avro object container file is a header with the schema, then blocks of concatenated records.
A record is the concatenation of its fields. A topic's value therefore goes into a file as it is,
with the position fields' bytes after it: nothing is decoded or encoded again.
"""

from __future__ import annotations

import bz2
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lakecontract.sink_config import SinkConfig

__all__ = [
    "BronzeFile",
    "BronzeRecord",
    "FileName",
    "Rotation",
    "beginning",
    "container",
    "cut",
    "records_in",
    "schema_in",
    "with_position_fields",
]

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_RECORDS = "lab.records"
"""Header key for the record count: without it a file cut off between two blocks looks whole."""
_BLOCK_BYTES = 64 * 1024
_NAME = re.compile(r"(?P<topic>.+)\+(?P<partition>\d+)\+(?P<offset>\d+)\.avro")


@dataclass(frozen=True, slots=True)
class BronzeRecord:
    """A topic's record on its way into a file."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    schema_id: int
    value: bytes
    folder: str
    """The folder of its file, within its topic's folder."""
    time_ms: int | None
    """The time its folder is named after; None where folders are not named by time."""


def beginning(topic: str, partition: int | None = None) -> str:
    """Return the prefix of the file names of a topic, or of one of its partitions."""
    return f"{topic}+" if partition is None else f"{topic}+{partition}+"


@dataclass(frozen=True, slots=True)
class FileName:
    """The parts of a bronze file's name."""

    topic: str
    partition: int
    start_offset: int

    def __str__(self) -> str:
        return f"{beginning(self.topic, self.partition)}{self.start_offset:010d}.avro"

    @classmethod
    def parse(cls, name: str) -> FileName | None:
        """Return the parts of `name`; None when it is not a bronze file's name."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        return cls(match["topic"], int(match["partition"]), int(match["offset"]))


@dataclass(frozen=True, slots=True)
class BronzeFile:
    """Records of one partition with one schema and one folder, in the order of their offsets."""

    records: Sequence[BronzeRecord]

    def key(self, topics_dir: str) -> str:
        """Return the object key. The first record alone determines it: a retry overwrites it."""
        first = self.records[0]
        name = FileName(first.topic, first.partition, first.offset)
        return f"{topics_dir}/{first.topic}/{first.folder}/{name}"


class Rotation:
    """Consecutive records of one partition, in the files that are closed together.

    There is one file per folder. The next record goes into a new rotation when one of these files
    would become too large or too long, or would get a second schema.
    """

    count: int
    """Number of records."""

    def __init__(self, first: BronzeRecord) -> None:
        self.first = self.last = first
        self.count = 1
        self._records: dict[str, list[BronzeRecord]] = {first.folder: [first]}

    @property
    def files(self) -> list[BronzeFile]:
        """The files by start offset."""
        return [BronzeFile(records) for records in self._records.values()]

    def is_closed_by(self, record: BronzeRecord, config: SinkConfig) -> bool:
        """Return whether `record`, the following one, belongs to the next rotation."""
        first, last = self.first, self.last
        mine = self._records.get(record.folder)
        return (
            record.partition != first.partition
            or record.topic != first.topic
            or self.count >= config.flush_size
            or (config.rotate_on_folder_change and record.folder != last.folder)
            or (mine is None and len(self._records) == config.max_open_files)
            or (mine is not None and record.schema_id != mine[0].schema_id)
            or (
                config.rotate_interval_ms is not None
                and record.time_ms is not None
                and first.time_ms is not None
                and record.time_ms - first.time_ms >= config.rotate_interval_ms
            )
        )

    def add(self, record: BronzeRecord) -> None:
        self.last = record
        self.count += 1
        self._records.setdefault(record.folder, []).append(record)


def cut(records: Iterable[BronzeRecord], config: SinkConfig) -> Iterator[Rotation]:
    """Yield the rotations of `records`, which are in offset order within each partition."""
    current: Rotation | None = None
    for record in records:
        if current is None:
            current = Rotation(record)
        elif current.is_closed_by(record, config):
            yield current
            current = Rotation(record)
        else:
            current.add(record)
    if current is not None:
        yield current


def with_position_fields(schema: str, config: SinkConfig) -> str:
    """Return the writer's schema with the position fields last, as InsertField adds them."""
    record = json.loads(schema)
    partition, offset, timestamp = config.position_fields
    record["fields"] += [
        {"name": partition, "type": "int"},
        {"name": offset, "type": "long"},
        {
            "name": timestamp,
            "type": {
                "type": "long",
                "connect.version": 1,
                "connect.name": "org.apache.kafka.connect.data.Timestamp",
                "logicalType": "timestamp-millis",
            },
        },
    ]
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def container(
    file: BronzeFile, schema: str, codec: str, compress_snappy: Callable[[bytes], bytes]
) -> bytes:
    """Return the file's bytes. Equal records give equal bytes: a second write changes nothing."""
    first = file.records[0]
    place = f"{beginning(first.topic, first.partition)}{first.offset}"
    sync = hashlib.md5(place.encode(), usedforsecurity=False).digest()
    compress = _compressor(codec, compress_snappy)
    out = bytearray(_MAGIC)
    metadata = {
        "avro.schema": schema.encode(),
        "avro.codec": codec.encode(),
        _RECORDS: str(len(file.records)).encode(),
    }
    out += _long(len(metadata))
    for name, content in metadata.items():
        out += _bytes(name.encode()) + _bytes(content)
    out += b"\x00" + sync
    block = bytearray()
    count = 0
    for record in file.records:
        block += record.value
        block += _long(record.partition) + _long(record.offset) + _long(record.timestamp_ms)
        count += 1
        if len(block) >= _BLOCK_BYTES:
            out += _long(count) + _bytes(compress(bytes(block))) + sync
            block.clear()
            count = 0
    if count:
        out += _long(count) + _bytes(compress(bytes(block))) + sync
    return bytes(out)


def schema_in(head: bytes) -> str | None:
    """Return the writer's schema from a container file's first bytes; None when they are too few.

    Raises ValueError when the file is no Avro container file.
    """
    if not head.startswith(_MAGIC):
        raise ValueError("it is no Avro object container file")
    try:
        return _metadata(head).get("avro.schema", b"").decode() or None
    except IndexError:
        return None


def records_in(data: bytes) -> int:
    """Return the number of records in a container file, from the counts of its blocks.

    Nothing is decoded. Raises ValueError when the file is not whole, or is no Avro container file.
    """
    if not data.startswith(_MAGIC):
        raise ValueError("it is no Avro object container file")
    count = 0
    try:
        metadata, at = _header(data)
        sync, at = data[at : at + _SYNC_BYTES], at + _SYNC_BYTES
        while at < len(data):
            records, at = _read_long(data, at)
            size, at = _read_long(data, at)
            at += size
            if at + _SYNC_BYTES > len(data):
                raise IndexError("the block goes on")
            if size < 0 or data[at : at + _SYNC_BYTES] != sync:
                raise ValueError(f"the block before byte {at:,} does not end as the others do")
            at += _SYNC_BYTES
            count += records
    except IndexError:
        raise ValueError(f"it is cut short, after {len(data):,} bytes") from None
    written = metadata.get(_RECORDS)
    if written is not None and int(written) != count:
        raise ValueError(f"it has {count:,} of the {int(written):,} records that were written")
    return count


def _metadata(head: bytes) -> dict[str, bytes]:
    return _header(head)[0]


def _header(head: bytes) -> tuple[dict[str, bytes], int]:
    """Return the metadata and the position at which it ends."""
    at = len(_MAGIC)
    metadata: dict[str, bytes] = {}
    while True:
        count, at = _read_long(head, at)
        if count == 0:
            return metadata, at
        if count < 0:
            count = -count
            _, at = _read_long(head, at)
        for _ in range(count):
            name, at = _read_bytes(head, at)
            metadata[name.decode()], at = _read_bytes(head, at)


def _read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    length, at = _read_long(data, at)
    if at + length > len(data):
        raise IndexError("the header goes on")
    return data[at : at + length], at + length


def _read_long(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def _long(value: int) -> bytes:
    """Encode an integer as Avro's zig-zag variable-length integer."""
    number = (value << 1) ^ (value >> 63)
    out = bytearray()
    while number > 0x7F:
        out.append((number & 0x7F) | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _bytes(content: bytes) -> bytes:
    return _long(len(content)) + content


def _compressor(codec: str, compress_snappy: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def deflate(block: bytes) -> bytes:
        raw = zlib.compressobj(level=1, wbits=-15)
        return raw.compress(block) + raw.flush()

    def snappy(block: bytes) -> bytes:
        return compress_snappy(block) + zlib.crc32(block).to_bytes(4, "big")

    known: dict[str, Callable[[bytes], bytes]] = {
        "null": lambda block: block,
        "deflate": deflate,
        "snappy": snappy,
        "bzip2": bz2.compress,
    }
    return known[codec]
