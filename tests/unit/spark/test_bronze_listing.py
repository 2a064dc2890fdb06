"""Which bronze files there are, with a folder of this machine for the object store."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehouse.bronze.listing import BronzeListing
from lakehouse.storage import FileInfo

TOPIC = "tickit.ecomm.sale"


class LocalStorage:
    """What a listing asks of `Storage`, of local paths."""

    def entries(self, folder: str) -> list[FileInfo]:
        found = sorted(Path(folder).glob("*"))
        return [FileInfo(str(path), path.stat().st_size, path.is_dir()) for path in found]

    def list_after(self, folder: str, prefix: str, after: str) -> list[FileInfo]:
        names = (info for info in self.entries(folder) if info.name.startswith(prefix))
        return [info for info in names if info.name > after]


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
