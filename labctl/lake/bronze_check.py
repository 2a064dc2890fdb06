"""Whether the bronze files of a topic are whole, and have all of its records."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import fastavro

from labctl.lake.bronze import Bronze, BronzeObject
from lakehouse.bronze.files import records_in

__all__ = ["BronzeFlaw", "check_bronze"]

_PARALLEL = 8


@dataclass(frozen=True)
class BronzeFlaw:
    """Something that is wrong with a topic's files."""

    place: str
    """A file's path, or a partition."""
    reason: str


@dataclass(frozen=True)
class _Read:
    file: BronzeObject
    offsets: Sequence[int]
    reason: str | None


def check_bronze(
    bronze: Bronze, topic: str, *, elsewhere: Iterable[tuple[int, int]] = ()
) -> list[BronzeFlaw]:
    """Read every file of a topic; what is wrong with them, in the topic's order.

    `elsewhere` has the partition and offset of records that are known not to be in bronze: dead
    letters. Raises LabError (USAGE) for a topic without any file.
    """
    files = sorted(bronze.objects(topic))
    with ThreadPoolExecutor(_PARALLEL) as pool:
        found = list(pool.map(lambda file: _read(bronze, file), files))
    known = set(elsewhere)
    flaws: list[BronzeFlaw] = []
    next_offset: dict[int, int | None] = {}
    for one in found:
        partition = one.file.partition
        if one.reason:
            flaws.append(BronzeFlaw(one.file.path, one.reason))
            next_offset[partition] = None
            continue
        flaws += _gaps(one, next_offset.get(partition), known)
        next_offset[partition] = max(one.offsets, default=one.file.start_offset) + 1
    return flaws


def _gaps(one: _Read, expected: int | None, known: set[tuple[int, int]]) -> list[BronzeFlaw]:
    """Runs of offsets before or in a file that no file has."""
    partition = one.file.partition
    there = set(one.offsets)
    first = min(there, default=one.file.start_offset) if expected is None else expected
    missing = [
        offset
        for offset in range(first, max(there, default=first - 1) + 1)
        if offset not in there and (partition, offset) not in known
    ]
    if not missing:
        return []
    which = f"{missing[0]:,}" if len(missing) == 1 else f"{missing[0]:,} to {missing[-1]:,}"
    return [
        BronzeFlaw(
            f"partition {partition}",
            f"{len(missing):,} records, of offsets {which}, are in no file before {one.file.path}",
        )
    ]


def _read(bronze: Bronze, file: BronzeObject) -> _Read:
    try:
        content = bronze.storage.read_bytes(file.path)
        records_in(content)
        offsets = []
        for index, record in enumerate(fastavro.reader(io.BytesIO(content))):
            fields = record if isinstance(record, dict) else {}
            offsets.append(int(str(fields.get("__kafka_offset", file.start_offset + index))))
    except (ValueError, EOFError, OSError, IndexError, KeyError, TypeError, zlib.error) as error:
        return _Read(file, (), f"it cannot be read: {error}")
    if offsets and offsets[0] != file.start_offset:
        return _Read(file, (), f"it begins with offset {offsets[0]:,}, not with that of its name")
    return _Read(file, offsets, None)
