"""What bronze must hold: every record of a topic, once, in the files where it belongs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from labctl.config.endpoints import Endpoints
from labctl.kafka.offsets import end_offsets as topic_ends
from labctl.kafka.offsets import offset_ranges
from labctl.lake.bronze_records import Bronze, BronzeObject

__all__ = ["check_bronze", "end_offsets"]

PATH = re.compile(
    r"topics/(?P<topic>[^/]+)/year=(?P<year>\d{4})/month=(?P<month>\d\d)/day=(?P<day>\d\d)/"
    r"(?P=topic)\+(?P<partition>\d+)\+(?P<offset>\d{10})\.avro"
)


def _start_offsets(endpoints: Endpoints, topic: str) -> dict[int, int]:
    """The offset of the first record that the topic still has, by partition."""
    ranges = offset_ranges(endpoints.kafka, [topic])[topic]
    return {number: first for number, (first, _) in ranges.items()}


def end_offsets(endpoints: Endpoints, topic: str) -> dict[int, int]:
    """The offset after the last record of the topic, by partition."""
    return topic_ends(endpoints.kafka, [topic])[topic]


def check_bronze(endpoints: Endpoints, topic: str, since: Mapping[int, int] | None = None) -> None:
    """Every record of the topic, from `since` on, is in its files once and in order.

    `since` is the first record that the topic still has where nothing is given: a table that was
    loaded again has neither records nor files of before.
    Each file is decoded and checked too: it is in the folder of its records' day and is named
    after the first of them. Raises AssertionError.
    """
    since = _start_offsets(endpoints, topic) if since is None else since
    ends = end_offsets(endpoints, topic)
    bronze = Bronze(endpoints.objectstore)
    files: dict[int, list[BronzeObject]] = defaultdict(list)
    for file in sorted(bronze.objects(topic)):
        if file.start_offset <= since.get(file.partition, 0):
            files[file.partition].clear()
        files[file.partition].append(file)
    for partition, end in ends.items():
        offsets = [offset for file in files[partition] for offset in _offsets(bronze, file)]
        assert offsets, f"nothing of partition {partition}"
        assert offsets[0] <= since.get(partition, 0)
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets)))
        assert offsets[-1] + 1 >= end, f"{end - offsets[-1] - 1} records are not there yet"


def _offsets(bronze: Bronze, file: BronzeObject) -> list[int]:
    match = PATH.fullmatch(file.path)
    assert match, file.path
    records = bronze.read(file)
    assert records, f"{file.path} is empty"
    day = datetime(int(match["year"]), int(match["month"]), int(match["day"]), tzinfo=UTC).date()
    for record in records:
        assert record.timestamp is not None
        assert record.timestamp.date() == day, file.path
        assert record.partition == int(match["partition"]), file.path
    offsets = [record.offset for record in records]
    assert offsets[0] == int(match["offset"]), file.path
    return offsets
