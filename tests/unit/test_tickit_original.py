"""Files in the original's format load as they are, or are refused with file, line and column."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.errors import ExitCode, LabError
from seeds.tickit import TABLES, Table, generate
from seeds.tickit.original import read_original


def field(table: Table, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if table.name == "sale" and "-" in str(value):
        date, time = str(value).split(" ")
        year, month, day = date.split("-")
        return f"{int(month)}/{int(day)}/{year} {time}"
    return str(value)


def write_file(folder: Path, table: Table, rows: pa.Table) -> Path:
    path = folder / table.file
    lines = (
        table.delimiter.join(field(table, value) for value in row.values())
        for row in rows.to_pylist()
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def rows() -> dict[str, pa.Table]:
    return generate(0.001)


@pytest.fixture
def folder(tmp_path: Path, rows: dict[str, pa.Table]) -> Path:
    for name, table in TABLES.items():
        write_file(tmp_path, table, rows[name])
    return tmp_path


def refusal(path: Path, *names: str) -> str:
    with pytest.raises(LabError) as caught:
        read_original(path, [TABLES[name] for name in names])
    assert caught.value.exit_code is ExitCode.USAGE
    return caught.value.what


def change_line(path: Path, number: int, old: str, new: str) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new, 1)
    path.write_text("\n".join(lines), encoding="utf-8")


def test_reads_a_folder(folder: Path, rows: dict[str, pa.Table]) -> None:
    loaded = read_original(folder, TABLES.values())
    for name in TABLES:
        assert loaded[name].equals(rows[name]), name


def test_reads_a_zip_with_a_folder_in_it(
    folder: Path, tmp_path: Path, rows: dict[str, pa.Table]
) -> None:
    path = tmp_path / "tickitdb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in TABLES.values():
            archive.write(folder / table.file, f"tickit/{table.file}")
    loaded = read_original(path, TABLES.values())
    for name in TABLES:
        assert loaded[name].equals(rows[name]), name


def test_reads_only_what_is_asked_for(folder: Path) -> None:
    (folder / "allusers_pipe.txt").unlink()
    assert list(read_original(folder, [TABLES["venue"]])) == ["venue"]


def test_a_subset_is_what_is_there(folder: Path) -> None:
    for name in TABLES:
        if name not in ("venue", "date"):
            (folder / TABLES[name].file).unlink()
    assert set(read_original(folder, TABLES.values())) == {"venue", "date"}
    assert "does not hold listings_pipe.txt, the file of ecomm.listing" in refusal(
        folder, "listing"
    )


def test_the_calendar_of_another_year(folder: Path, rows: dict[str, pa.Table]) -> None:
    path = folder / "date2008_pipe.txt"
    path.rename(folder / "date2009_pipe.txt")
    assert read_original(folder, [TABLES["date"]])["date"].equals(rows["date"])
    change_line(folder / "date2009_pipe.txt", 1, "TRUE", "maybe")
    assert refusal(folder, "date").startswith("date2009_pipe.txt, line 1, column holiday")
    archive = folder / "only.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("tickit/date2010_pipe.txt", "1|2010-01-01|FR|1|JAN|1|2010|1\n")
    assert read_original(archive, [TABLES["date"]])["date"]["holiday"].to_pylist() == [True]


@pytest.mark.parametrize(("text", "value"), [("1", True), ("0", False), ("", None)])
def test_a_holiday_as_a_digit(folder: Path, text: str, value: bool | None) -> None:
    (folder / "date2008_pipe.txt").write_text(f"1|2008-01-01|TU|1|JAN|1|2008|{text}\n")
    assert read_original(folder, [TABLES["date"]])["date"]["holiday"].to_pylist() == [value]


def test_all_that_is_wrong_with_a_folder_at_once(folder: Path) -> None:
    change_line(folder / "venue_pipe.txt", 7, "7|", "x|")
    (folder / "category_pipe.txt").write_text("1|Sports\n")
    (folder / "copy").mkdir()
    (folder / "copy" / "sales_tab.txt").touch()
    with pytest.raises(LabError) as caught:
        read_original(folder, TABLES.values())
    said = [caught.value.what, *caught.value.details]
    for part in ("category_pipe.txt, line 1: 2 fields", "venue_pipe.txt, line 7", "2 files named"):
        assert any(part in line for line in said), part


def test_windows_line_ends_and_no_last_one(folder: Path, rows: dict[str, pa.Table]) -> None:
    path = folder / "category_pipe.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    assert read_original(folder, [TABLES["category"]])["category"].equals(rows["category"])


def test_quotes_are_text(folder: Path) -> None:
    path = folder / "category_pipe.txt"
    path.write_text('1|"Sports|a""b|it\'s\n', encoding="utf-8")
    (row,) = read_original(folder, [TABLES["category"]])["category"].to_pylist()
    assert row == {"catid": 1, "catgroup": '"Sports', "catname": 'a""b', "catdesc": "it's"}


@pytest.mark.parametrize("null", ["", "\\N"])
def test_nulls(folder: Path, null: str) -> None:
    (folder / "venue_pipe.txt").write_text(f"1|Arena|Boston|MA|{null}\n", encoding="utf-8")
    (row,) = read_original(folder, [TABLES["venue"]])["venue"].to_pylist()
    assert row["venueseats"] is None


@pytest.mark.parametrize(
    ("where", "old", "new", "message"),
    [
        ("venue:7", "7|", "x|", "column venueid: 'x' is no smallint"),
        ("venue:7", "7|", "40000|", "column venueid: '40000' is no smallint"),
        ("venue:7", "7|", "|", "column venueid: must not be empty"),
        ("venue:7", "7|", "6|", "column venueid: 6 is the key of line 6 already"),
        ("venue:9", "|", "||", "6 fields instead of 5"),
        ("category:2", "NHL", "x" * 11, "column catname: 'xxxxxxxxxxx' is no varchar(10)"),
        ("date:59", "2008-02-28", "2008-02-30", "column caldate: '2008-02-30' is no date"),
        ("date:1", "TRUE", "YES", "column holiday: 'YES' is no boolean"),
        ("listing:3", ".", ".001", "column priceperticket"),
        ("event:4", "|2008-", "|2008/", "column starttime"),
        ("sale:5", "/2008 ", "/2008 9", "column saletime"),
    ],
)
def test_bad_fields_are_named(folder: Path, where: str, old: str, new: str, message: str) -> None:
    table, line = where.split(":")
    path = folder / TABLES[table].file
    change_line(path, int(line), old, new)
    what = refusal(folder, table)
    assert what.startswith(f"{path.name}, line {line}")
    assert message in what


def test_empty_lines_at_the_end_are_no_rows(folder: Path, rows: dict[str, pa.Table]) -> None:
    path = folder / "venue_pipe.txt"
    path.write_text(path.read_text(encoding="utf-8") + "\n\n", encoding="utf-8")
    assert read_original(folder, [TABLES["venue"]])["venue"].equals(rows["venue"])


def test_an_empty_line_in_between_is_an_error(folder: Path) -> None:
    path = folder / "venue_pipe.txt"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join([*lines[:4], "", *lines[4:]]), encoding="utf-8")
    assert "line 5, column venueid: must not be empty" in refusal(folder, "venue")


def test_bytes_that_are_no_utf8(folder: Path) -> None:
    (folder / "category_pipe.txt").write_bytes(b"1|Sports|MLB|ok\n2|Sports|NHL|caf\xe9\n")
    assert "line 2, column catdesc" in refusal(folder, "category")


def test_missing_damaged_and_wrong_files(folder: Path, tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nowhere.zip", "venue")
    assert "neither a zip file nor a folder" in refusal(folder / "venue_pipe.txt", "venue")
    (folder / "empty").mkdir()
    assert "does not hold venue_pipe.txt" in refusal(folder / "empty", "venue")
    (folder / "empty" / "venue_pipe.txt").touch()
    assert "venue_pipe.txt is empty" in refusal(folder / "empty", "venue")
    assert "holds 2 files named venue_pipe.txt" in refusal(folder, "venue")


def test_a_damaged_zip(folder: Path) -> None:
    path = folder / "t.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "venue_pipe.txt", "venue_pipe.txt")
    content = bytearray(path.read_bytes())
    content[200:400] = bytes(200)
    path.write_bytes(content)
    assert "is damaged" in refusal(path, "venue")
