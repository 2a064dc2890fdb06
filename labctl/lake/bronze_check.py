"""Check that a topic's bronze files are undamaged and have all of its records."""

from __future__ import annotations

import io
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, pairwise

import fastavro

from labctl.lake.bronze_records import Bronze, BronzeObject
from lakecontract.bronze_files import records_in

__all__ = ["BronzeFlaw", "check_bronze"]

_PARALLEL = 8


@dataclass(frozen=True)
class BronzeFlaw:
    """A flaw in a topic's bronze files."""

    place: str
    """Path of the file, or the partition."""
    reason: str


@dataclass(frozen=True)
class _Read:
    file: BronzeObject
    offsets: Sequence[int]
    reason: str | None


def check_bronze(
    bronze: Bronze, topic: str, *, elsewhere: Iterable[tuple[int, int]] = ()
) -> list[BronzeFlaw]:
    """Read every file of a topic and return what is wrong with them, in the topic's order.

    `elsewhere` holds the partition and offset of dead letters, which are known not to be in bronze.
    Records before bronze's beginning may be missing: they were removed after the lake's retention.
    Raise LabError (USAGE) if the topic has no files.
    """
    # Read the note first: all files that it covers exist by then.
    position = bronze.position(topic)
    files = sorted(bronze.objects(topic))
    is_noted = position is not None
    if position is not None:
        files = [one for one in files if one.start_offset < position.get(one.partition, 0)]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        found = [one for one in pool.map(lambda file: _read(bronze, file), files) if one]
    beginning = bronze.beginning(topic)
    begins = beginning.offsets if beginning else {}
    known: dict[int, set[int]] = defaultdict(set)
    for partition, offset in elsewhere:
        known[partition].add(offset)
    flaws = [BronzeFlaw(one.file.path, one.reason) for one in found if one.reason]
    for partition, mine in groupby(found, key=lambda one: one.file.partition):
        read = list(mine)
        flaws += [
            BronzeFlaw(f"partition {partition}", reason)
            for reason in (
                *_missing(read, known[partition], is_noted, begins.get(partition, 0)),
                *_repeated(read),
            )
        ]
    return flaws


def _missing(
    read: Sequence[_Read], known: set[int], is_noted: bool, beginning: int
) -> Iterator[str]:
    """Describe each run of missing offsets of a partition; `known` ones are elsewhere.

    Records before the offset `beginning` may be missing. It is 0, or the offset of a record that
    bronze must have.
    """
    side_by_side = is_noted or _are_side_by_side(read)
    there = {offset for one in read for offset in one.offsets if offset >= beginning}
    if not there:
        return
    if beginning:
        there.add(beginning - 1)
    first, last = min(there), max(there)
    there |= {offset for offset in known if first < offset < last}
    gaps = [
        range(before + 1, offset)
        for before, offset in pairwise(sorted(there))
        if offset - before > 1
    ]
    for gap in gaps:
        missing = [offset for offset in gap if not _may_have_been_in(read, offset, side_by_side)]
        if missing:
            begin, end = f"{missing[0]:,}", f"{missing[-1]:,}"
            which = f"{len(missing):,} records, of offsets {begin} to {end}, are"
            if len(missing) == 1:
                which = f"the record of offset {begin} is"
            behind = next(one for one in read if max(one.offsets, default=-1) > gap[0])
            yield f"{which} in no file before {behind.file.path}"


def _may_have_been_in(read: Sequence[_Read], offset: int, side_by_side: bool) -> bool:
    """Return whether a damaged file may have had the record.

    That is the last file that starts at or before `offset`; if files were open `side_by_side`, it
    may be the last such file of any folder.
    """
    before: dict[str, _Read] = {}
    for one in read:
        if one.file.start_offset <= offset:
            before[one.file.folder] = one
    last = max(before.values(), key=lambda one: one.file.start_offset, default=None)
    return any(one.reason and (side_by_side or one is last) for one in before.values())


def _are_side_by_side(read: Sequence[_Read]) -> bool:
    """Return whether the files' ranges of offsets overlap."""
    whole = [one for one in read if one.offsets]
    return any(max(one.offsets) > after.file.start_offset for one, after in pairwise(whole))


def _repeated(read: Sequence[_Read]) -> Iterator[str]:
    """Yield a description of the offsets of a partition that occur more than once."""
    counted = Counter(offset for one in read for offset in one.offsets)
    if twice := sorted(offset for offset, count in counted.items() if count > 1):
        yield (
            f"{len(twice):,} records, the first of offset {twice[0]:,}, are there more than once"
        )


def _read(bronze: Bronze, file: BronzeObject) -> _Read | None:
    """Read a file; None if it was removed after the lake's retention since it was listed."""
    try:
        content = bronze.storage.read_bytes(file.path)
        records_in(content)
        offsets = []
        for index, record in enumerate(fastavro.reader(io.BytesIO(content))):
            fields = record if isinstance(record, dict) else {}
            offsets.append(int(str(fields.get("__kafka_offset", file.start_offset + index))))
    except (ValueError, EOFError, OSError, IndexError, KeyError, TypeError, zlib.error) as error:
        if isinstance(error, FileNotFoundError) and bronze.is_removed(file):
            return None
        return _Read(file, (), f"it cannot be read: {error}")
    if offsets and offsets[0] != file.start_offset:
        return _Read(file, (), f"it begins with offset {offsets[0]:,}, not with that of its name")
    return _Read(file, offsets, None)
