"""Which bronze files there are, with a folder of this machine for the object store."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehouse.bronze.listing import BronzeListing
from tests.unit.spark.bronze_sinks import LocalStorage

TOPIC = "tickit.ecomm.sale"


@pytest.fixture
def listing(tmp_path: Path) -> BronzeListing:
    for day, partition, offset in (
        (26, 0, 0),
        (26, 1, 0),
        (26, 0, 40),
        (27, 0, 20),
        (27, 2, 7),
        (27, 0, 30),
    ):
        folder = tmp_path / TOPIC / f"year=2026/month=11/day={day}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{TOPIC}+{partition}+{offset:010d}.avro").write_bytes(b"avro")
    return BronzeListing(LocalStorage(), str(tmp_path / TOPIC))  # type: ignore[arg-type]


def test_the_last_file_has_the_highest_offset_whatever_day_it_lies_in(
    listing: BronzeListing,
) -> None:
    last = listing.last_files([0, 1, 2, 3])

    ends = {partition: path.split("/day=")[1] for partition, path in last.items()}
    assert ends == {
        0: f"26/{TOPIC}+0+0000000040.avro",
        1: f"26/{TOPIC}+1+0000000000.avro",
        2: f"27/{TOPIC}+2+0000000007.avro",
    }


def test_files_of_two_layouts_are_found_beside_each_other(tmp_path: Path) -> None:
    """A sink whose partitioner was changed goes on behind what it has written before."""
    for path in (
        "partition=0/t+0+0000000000.avro",
        "partition=1/t+1+0000000000.avro",
        "2026/11/t+0+0000000010.avro",
        "2026/11/26/t+0+0000000020.avro",
        "name=a/b/t+0+0000000015.avro",
        "name=a/b/notes.txt",
    ):
        file = tmp_path / "t" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"avro")
    listing = BronzeListing(LocalStorage(), str(tmp_path / "t"))  # type: ignore[arg-type]

    assert [(one.partition, one.start_offset) for one in listing.every_file()] == [
        (0, 0),
        (0, 10),
        (0, 15),
        (0, 20),
        (1, 0),
    ]
    last = listing.last_files([0, 1])
    assert last[0].endswith("2026/11/26/t+0+0000000020.avro")
    assert [one.start_offset for one in listing.files_before({0: 15})] == [0, 10]
