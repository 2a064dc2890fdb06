"""Files in the original's format load as they are, or are refused with file and line."""

from __future__ import annotations

import csv
import os
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.errors import ExitCode, LabError
from seeds.moma import TABLES, generate
from seeds.moma.original import read_original
from seeds.table_declarations import Table

ARTISTS = "moma_public_artists.txt"
HEADER = "artist_id|name|nationality|gender|birth_year|death_year\n"


def write_file(path: Path, table: Table, rows: pa.Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="|", lineterminator="\n")
        writer.writerow(rows.column_names)
        writer.writerows(row.values() for row in rows.to_pylist())


@pytest.fixture(scope="module")
def rows() -> dict[str, pa.Table]:
    return generate(0.005)


@pytest.fixture
def folder(tmp_path: Path, rows: dict[str, pa.Table]) -> Path:
    for name, table in TABLES.items():
        write_file(tmp_path / table.file, table, rows[name])
    return tmp_path


def zipped(path: Path) -> Path:
    """The file in a zip of its own beside it, as it is published."""
    target = path.with_name(f"{path.name}.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, path.name)
    path.unlink()
    return target


def refusal(path: Path, *names: str) -> LabError:
    with pytest.raises(LabError) as caught:
        read_original(path, [TABLES[name] for name in names or ("artists",)])
    assert caught.value.exit_code is ExitCode.USAGE
    return caught.value


def artists(folder: Path, content: str) -> list[dict[str, object]]:
    (folder / ARTISTS).write_text(content, encoding="utf-8", newline="")
    return read_original(folder, [TABLES["artists"]])["artists"].to_pylist()


def refused(folder: Path, content: str | bytes) -> LabError:
    data = content.encode() if isinstance(content, str) else content
    (folder / ARTISTS).write_bytes(data)
    return refusal(folder)


def test_reads_a_folder(folder: Path, rows: dict[str, pa.Table]) -> None:
    loaded = read_original(folder, TABLES.values())
    for name in TABLES:
        assert loaded[name].equals(rows[name]), name


def test_reads_a_folder_of_zips(folder: Path, rows: dict[str, pa.Table]) -> None:
    for table in TABLES.values():
        zipped(folder / table.file)
    loaded = read_original(folder, TABLES.values())
    for name in TABLES:
        assert loaded[name].equals(rows[name]), name


def test_reads_one_zip_of_all(folder: Path, rows: dict[str, pa.Table]) -> None:
    path = folder / "moma.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in TABLES.values():
            archive.write(folder / table.file, f"data/{table.file}")
    assert read_original(path, TABLES.values())["artworks"].equals(rows["artworks"])


def test_reads_the_smaller_edition_where_the_full_one_is_missing(
    folder: Path, rows: dict[str, pa.Table]
) -> None:
    artists, artworks = TABLES.values()
    assert artists.smaller_file is not None
    assert artworks.smaller_file is not None
    write_file(folder / artists.smaller_file, artists, rows["artists"].slice(0, 3))
    zipped((folder / artworks.file).rename(folder / artworks.smaller_file))
    loaded = read_original(folder, TABLES.values())
    assert loaded["artists"].equals(rows["artists"]), "the full one is there"
    assert loaded["artworks"].equals(rows["artworks"])
    (folder / ARTISTS).unlink()
    assert read_original(folder, [artists])["artists"].num_rows == 3


def test_quotes_delimiters_and_line_breaks_within_fields(folder: Path) -> None:
    content = f'{HEADER}4|"Ira ""Pip"" Thornley"|"A | B"|||\n9|"two\nlines"|it\'s|||\n'
    first, second = artists(folder, content)
    assert (first["name"], first["nationality"]) == ('Ira "Pip" Thornley', "A | B")
    assert (second["name"], second["nationality"]) == ("two\nlines", "it's")


@pytest.mark.parametrize("null", ["", '""', "\\N"])
def test_nulls(folder: Path, null: str) -> None:
    (row,) = artists(folder, f"{HEADER}4|Una|{null}||{null}|\n")
    assert row == {
        "artist_id": 4,
        "name": "Una",
        "nationality": None,
        "gender": None,
        "birth_year": None,
        "death_year": None,
    }


def test_byte_order_mark_windows_line_ends_and_empty_last_lines(folder: Path) -> None:
    content = f"\ufeff{HEADER}4|Una|||1900|\n5|Ira||||\n\n\n".replace("\n", "\r\n")
    assert [row["artist_id"] for row in artists(folder, content)] == [4, 5]


def test_a_wrong_header(folder: Path) -> None:
    for header in (HEADER.replace("name", "full_name"), "4|Una||||\n", HEADER.replace("|", ",")):
        error = refused(folder, f"{header}4|Una||||\n")
        assert error.what == f"{ARTISTS}, line 1: not the column names of public.artists."
        assert error.hint == f"expected: {HEADER.strip()}"
        assert error.details == (header.strip(),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("9|Ira|||", "line 4: 5 fields instead of 6"),
        ("9|Ira|||||", "line 4: 7 fields instead of 6"),
        ("", "line 4: 0 fields instead of 6"),
        ("x|Ira||||", "line 4, column artist_id: 'x' is no integer"),
        ("3000000000|Ira||||", "line 4, column artist_id: '3000000000' is no integer"),
        ("9|Ira|||19oo|", "line 4, column birth_year: '19oo' is no integer"),
        ("|Ira||||", "line 4, column artist_id: must not be empty"),
        ("4|Ira||||", "line 4, column artist_id: 4 is the key of line 2 already"),
        ('9|"Ira||||', "line 4: the quotes of a field do not match"),
        ('9|"Ira" Pip||||', "line 4: the quotes of a field do not match"),
    ],
)
def test_bad_lines_are_named(folder: Path, line: str, message: str) -> None:
    # The row before holds a line break, so that rows and lines are not counted alike.
    error = refused(folder, f'{HEADER}4|"two\nlines"||||\n{line}\n12|Una||||\n')
    assert error.what.startswith(f"{ARTISTS}, {message}")


def test_a_quote_that_is_never_closed(folder: Path) -> None:
    error = refused(folder, f'{HEADER}4|Una||||\n5|"Ira||||\n6|Nell||||\n')
    assert error.what.startswith(f"{ARTISTS}, line 3: the quotes of a field do not match")
    assert error.hint is not None


def test_bytes_that_no_text_can_hold(folder: Path) -> None:
    good = f"{HEADER}4|Una||||\n".encode()
    assert "line 3: no valid UTF-8" in refused(folder, good + b"5|caf\xe9||||\n").what
    assert "line 3: a zero byte" in refused(folder, good + b"5|a\0b||||\n").what


def test_missing_empty_and_damaged_files(folder: Path, tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nowhere").what
    assert "neither a zip file nor a folder" in refusal(folder / ARTISTS).what
    assert "is empty" in refused(folder, "\n").what
    assert "holds no rows" in refused(folder, HEADER).what
    (folder / "more").mkdir()
    assert (
        f"does not hold {ARTISTS} or moma_public_artists_small.txt" in refusal(folder / "more").what
    )
    (folder / "more" / ARTISTS).touch()
    assert f"holds 2 files named {ARTISTS}" in refusal(folder).what


def test_one_zip_of_one_table_has_that_one(folder: Path) -> None:
    path = zipped(folder / ARTISTS)
    assert list(read_original(path, TABLES.values())) == ["artists"]
    error = refusal(path, "artworks")
    assert "does not hold moma_public_artworks.txt" in error.what
    assert error.hint is not None
    assert "folder" in error.hint


def test_a_damaged_zip(folder: Path) -> None:
    path = zipped(folder / ARTISTS)
    content = bytearray(path.read_bytes())
    content[200:400] = bytes(200)
    path.write_bytes(content)
    assert f"{path} is damaged" in refusal(folder).what


def test_a_zip_or_folder_of_someone_else_is_refused(folder: Path) -> None:
    """Of what would not end, or would take all memory, nothing is read."""
    file = folder / ARTISTS
    path = zipped(file)
    content = bytearray(path.read_bytes())
    for start in (b"PK\x01\x02", b"PK\x03\x04"):
        place = content.find(start) + (24 if start == b"PK\x01\x02" else 22)
        content[place : place + 4] = (2**31).to_bytes(4, "little")
    path.write_bytes(content)
    assert "has 2,147,483,648 bytes" in refusal(path).what
    path.unlink()
    os.mkfifo(path)
    assert "neither a zip file nor a folder" in refusal(path).what
    path.unlink()
    os.mkfifo(file)
    assert "is no file" in refusal(folder).what
    file.unlink()
    file.symlink_to("/dev/zero")
    assert "is no file" in refusal(folder).what
    file.unlink()
    with file.open("wb") as large:
        large.truncate(2**31)
    assert "has 2,147,483,648 bytes" in refusal(folder).what


def test_a_locked_zip_is_refused(folder: Path) -> None:
    path = zipped(folder / ARTISTS)
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + 8] |= 1
    content[content.find(b"PK\x03\x04") + 6] |= 1
    path.write_bytes(content)
    assert "cannot be unpacked" in refusal(path).what
