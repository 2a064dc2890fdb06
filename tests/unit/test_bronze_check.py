"""Bronze files that are damaged, and records that are in none."""

from __future__ import annotations

import io
from pathlib import Path

import fastavro
import pytest

from labctl.errors import LabError
from labctl.lake.bronze_check import check_bronze
from labctl.lake.bronze_records import Bronze
from labctl.lake.objectstore import LakeStorage
from lakecontract.bronze_beginning import BEGINNINGS, Beginning

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


def test_files_that_were_removed_after_the_retention_are_not_missing(folder: Path) -> None:
    lake = folder.parents[4]
    beginning = lake / BEGINNINGS / TOPIC
    beginning.parent.mkdir()
    beginning.write_bytes(Beginning({0: 12}, "2026").note())
    sorted(folder.iterdir())[1].unlink()
    assert flaws(folder) == []  # The removal has been cut short: the first file is still there.

    class Removing(LakeStorage):
        """A lake whose files before the beginning go after they were listed."""

        def read_bytes(self, relative: str) -> bytes:
            if "+0+0000000000" in relative:
                raise FileNotFoundError(relative)
            return super().read_bytes(relative)

    bronze = Bronze(Removing(**vars(LakeStorage.local(lake))))
    assert check_bronze(bronze, TOPIC) == []
    oldest = min(bronze.objects(TOPIC))
    assert bronze.read(oldest) == []
    beginning.unlink()
    assert "cannot be read" in check_bronze(bronze, TOPIC)[0].reason
    with pytest.raises(LabError, match="could not be read"):
        bronze.read(oldest)


def test_the_first_record_after_the_removed_ones_must_be_there(folder: Path) -> None:
    beginning = folder.parents[4] / BEGINNINGS / TOPIC
    beginning.parent.mkdir()
    beginning.write_bytes(Beginning({0: 10}, "2026").note())
    sorted(folder.iterdir())[1].unlink()
    (flaw,) = flaws(folder)
    assert flaw.startswith("partition 0: 2 records, of offsets 10 to 11, are in no file")


def test_a_file_under_another_files_name(folder: Path) -> None:
    file = sorted(folder.iterdir())[2]
    file.write_bytes(content(range(13, 20)))
    assert "begins with offset 13" in flaws(folder)[0]


@pytest.fixture
def by_value(tmp_path: Path) -> Path:
    """Files of two folders that were open at a time, and a note of the position behind them."""
    folder = tmp_path / "topics" / TOPIC
    for name, first, offsets in (("a", 0, (0, 1, 4)), ("b", 2, (2, 3, 6)), ("a", 5, (5, 8))):
        path = folder / f"state={name}" / f"{TOPIC}+0+{first:010d}.avro"
        path.parent.mkdir(parents=True, exist_ok=True)
        out = io.BytesIO()
        rows = [{"note": f"n° {n}" * 20, "__kafka_offset": n} for n in offsets]
        fastavro.writer(out, SCHEMA, rows, sync_interval=100)
        path.write_bytes(out.getvalue())
    note = tmp_path / "bronze-positions" / TOPIC
    note.parent.mkdir()
    note.write_text('{"0": 9}')
    return folder


def flaws_by_value(folder: Path, elsewhere: list[tuple[int, int]]) -> list[str]:
    bronze = Bronze(LakeStorage.local(folder.parents[1]))
    return [f"{f.place}: {f.reason}" for f in check_bronze(bronze, TOPIC, elsewhere=elsewhere)]


def test_offsets_may_run_through_several_files(by_value: Path) -> None:
    assert flaws_by_value(by_value, [(0, 7)]) == []
    (flaw,) = flaws_by_value(by_value, [])
    assert "the record of offset 7 is in no file before" in flaw
    assert flaw.endswith(f"state=a/{TOPIC}+0+0000000005.avro")


def test_what_a_damaged_file_may_have_had_is_not_missing_as_well(by_value: Path) -> None:
    damaged = by_value / "state=b" / f"{TOPIC}+0+0000000002.avro"
    damaged.write_bytes(damaged.read_bytes()[:-5])
    (flaw,) = flaws_by_value(by_value, [])
    assert damaged.name in flaw


def test_records_that_are_there_twice(by_value: Path) -> None:
    path = by_value / "state=c" / f"{TOPIC}+0+0000000003.avro"
    path.parent.mkdir()
    path.write_bytes(content(range(3, 5)))
    (flaw,) = flaws_by_value(by_value, [(0, 7)])
    assert "2 records, the first of offset 3, are there more than once" in flaw


def test_files_from_behind_the_position_may_be_incomplete(by_value: Path) -> None:
    note = by_value.parents[1] / "bronze-positions" / TOPIC
    note.write_text('{"0": 5}')
    assert flaws_by_value(by_value, []) == [
        f"partition 0: the record of offset 5 is in no file before topics/{TOPIC}/state=b/"
        f"{TOPIC}+0+0000000002.avro"
    ]
    note.write_text('{"0": 2}')
    assert flaws_by_value(by_value, [(0, 2), (0, 3)]) == []
