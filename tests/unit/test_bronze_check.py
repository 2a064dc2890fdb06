"""Bronze files that are damaged, and records that are in none."""

from __future__ import annotations

import io
from pathlib import Path

import fastavro
import pytest

from labctl.lake.bronze import Bronze
from labctl.lake.bronze_check import check_bronze
from labctl.lake.objectstore import LakeStorage

TOPIC = "tickit.ecomm.sale"
SCHEMA = fastavro.parse_schema(
    {
        "type": "record",
        "name": "Value",
        "fields": [{"name": "note", "type": "string"}, {"name": "__kafka_offset", "type": "long"}],
    }
)


def content(offsets: range) -> bytes:
    out = io.BytesIO()
    rows = [{"note": f"n° {n}" * 20, "__kafka_offset": n} for n in offsets]
    fastavro.writer(out, SCHEMA, rows, codec="deflate", sync_interval=100)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "topics" / TOPIC / "year=2024" / "month=01" / "day=02"
    folder.mkdir(parents=True)
    for offsets in (range(10), range(10, 12), range(12, 20)):
        (folder / f"{TOPIC}+0+{offsets.start:010d}.avro").write_bytes(content(offsets))
    return folder


def flaws(folder: Path, elsewhere: list[tuple[int, int]] | None = None) -> list[str]:
    bronze = Bronze(LakeStorage.local(folder.parents[4]))
    return [
        f"{f.place}: {f.reason}" for f in check_bronze(bronze, TOPIC, elsewhere=elsewhere or [])
    ]


def test_whole_files_have_no_flaws(folder: Path) -> None:
    assert flaws(folder) == []


def test_a_file_that_is_cut_short_and_one_that_is_none(folder: Path) -> None:
    cut, none = sorted(folder.iterdir())[:2]
    cut.write_bytes(cut.read_bytes()[:-20])
    none.write_bytes(b"PAR1")
    first, second = flaws(folder)
    assert cut.name in first
    assert "cut short" in first
    assert none.name in second
    assert "no Avro" in second


def test_a_block_that_does_not_decode(folder: Path) -> None:
    file = sorted(folder.iterdir())[0]
    torn = bytearray(file.read_bytes())
    middle = torn.index(torn[-16:]) + 16 + 4
    torn[middle : middle + 8] = b"\xff" * 8
    file.write_bytes(bytes(torn))
    assert file.name in flaws(folder)[0]


def test_a_file_that_is_missing(folder: Path) -> None:
    sorted(folder.iterdir())[1].unlink()
    (flaw,) = flaws(folder)
    assert flaw.startswith("partition 0: 2 records, of offsets 10 to 11, are in no file")
    assert flaws(folder, [(0, 10), (0, 11)]) == []  # dead letters


def test_a_file_under_another_files_name(folder: Path) -> None:
    file = sorted(folder.iterdir())[2]
    file.write_bytes(content(range(13, 20)))
    assert "begins with offset 13" in flaws(folder)[0]
