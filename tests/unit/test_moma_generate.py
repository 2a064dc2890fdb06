"""The generated collection has the original's counts, gaps and unevenness, every time."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from labctl.errors import ExitCode, LabError
from seeds.moma import DATA_SET, TABLES, generate, row_counts
from seeds.moma.generate import FIRST_ID

Data = dict[str, pa.Table]


@pytest.fixture(scope="module")
def data() -> Data:
    return generate()


def digest(table: pa.Table) -> str:
    """A fingerprint of a table's rows that does not depend on how Arrow stores them."""
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()[:16]


def texts(table: pa.Table, column: str) -> list[str]:
    """The values that are not null."""
    return [value for value in table[column].to_pylist() if value is not None]


def shares(table: pa.Table, column: str) -> dict[Any, float]:
    """How large a part of the rows each value has, the most frequent first."""
    counts = Counter(table[column].to_pylist())
    return {value: count / table.num_rows for value, count in counts.most_common()}


@pytest.mark.parametrize("name", TABLES)
def test_counts_schema_and_keys(data: Data, name: str) -> None:
    table, declared = data[name], TABLES[name]
    table.validate(full=True)
    assert table.schema.equals(declared.arrow)
    assert table.num_rows == declared.rows
    keys: list[Any] = table[declared.key].to_pylist()
    assert keys == sorted(set(keys)), "keys are in order and different"
    assert keys[0] == FIRST_ID
    assert keys[-1] > table.num_rows + 1_000, "keys have gaps"
    for field in table.schema:
        assert field.nullable or table[field.name].null_count == 0


def test_the_full_size() -> None:
    assert row_counts() == {"artists": 15_089, "artworks": 120_000}


@pytest.mark.parametrize("scale", [1e-6, 0.0005, 0.02, 1.5])
def test_scale_keeps_the_relations(scale: float) -> None:
    small = generate(scale)
    assert {name: table.num_rows for name, table in small.items()} == row_counts(scale)
    for name, table in TABLES.items():
        assert small[name].num_rows == max(1, round(table.rows * scale))
        assert small[name][table.key][0].as_py() == FIRST_ID
    assert_artists_are_there(small)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), 1001])
def test_impossible_scales_are_refused(scale: float) -> None:
    with pytest.raises(LabError, match="makes no data set") as caught:
        generate(scale)
    assert caught.value.exit_code is ExitCode.USAGE


def test_the_same_rows_every_time(data: Data) -> None:
    again = generate()
    assert all(again[name].equals(data[name]) for name in TABLES)


def test_the_same_rows_on_every_machine() -> None:
    small = generate(0.005)
    assert {name: digest(small[name]) for name in TABLES} == {
        "artists": "9f3d3412160589d3",
        "artworks": "90391ebc83cf20ac",
    }


def assert_artists_are_there(data: Data) -> None:
    joined = data["artworks"].join(
        data["artists"].select(["artist_id", "name", "birth_year"]),
        "artist_id",
        join_type="inner",
        right_suffix="_of_artist",
    )
    assert joined.num_rows == data["artworks"].num_rows
    assert pc.all(pc.equal(joined["name"], joined["name_of_artist"])).as_py()
    assert pc.all(pc.greater(joined["date"], joined["birth_year"])).as_py() in (True, None)


def test_artworks_refer_to_artists_and_repeat_their_name(data: Data) -> None:
    assert_artists_are_there(data)


@pytest.mark.parametrize(
    ("column", "share"),
    [("nationality", 0.165), ("gender", 0.203), ("birth_year", 0.255), ("death_year", 0.696)],
)
def test_gaps_of_artists(data: Data, column: str, share: float) -> None:
    assert data["artists"][column].null_count / 15_089 == pytest.approx(share, abs=0.012)


@pytest.mark.parametrize(
    ("column", "share"),
    [
        ("title", 0.0004),
        ("date", 0.370),
        ("medium", 0.087),
        ("dimensions", 0.091),
        ("acquisition_date", 0.115),
        ("credit", 0.094),
        ("catalogue", 0.088),
        ("department", 0.088),
        ("object_number", 0.088),
        ("diameter_cm", 0.992),
        ("circumference_cm", 0.9996),
        ("height_cm", 0.221),
        ("length_cm", 0.994),
        ("width_cm", 0.226),
        ("depth_cm", 0.925),
        ("weight_kg", 0.997),
        ("durations", 0.983),
    ],
)
def test_gaps_of_artworks(data: Data, column: str, share: float) -> None:
    got = data["artworks"][column].null_count / 120_000
    assert got == pytest.approx(share, abs=0.025)
    assert 0 < got < 1


def test_what_was_never_catalogued_lacks_all_that_comes_with_it(data: Data) -> None:
    artworks = data["artworks"]
    missing = pc.is_null(artworks["catalogue"])
    for column in ("department", "object_number"):
        assert pc.all(pc.equal(pc.is_null(artworks[column]), missing)).as_py(), column
    kinds = set(artworks.filter(missing)["classification"].to_pylist())
    assert kinds == {"(not assigned)", None}


def test_few_nationalities_have_most_artists(data: Data) -> None:
    found = shares(data["artists"], "nationality")
    assert 110 <= len(found) <= 140
    assert list(found)[:2] == ["American", None]
    assert found["American"] == pytest.approx(5_199 / 15_089, abs=0.02)
    assert found["Nationality unknown"] == pytest.approx(258 / 15_089, abs=0.005)
    assert sum(list(found.values())[:8]) > 0.7
    assert min(found.values()) * 15_089 <= 3


def test_few_classifications_have_most_artworks(data: Data) -> None:
    found = shares(data["artworks"], "classification")
    assert 25 <= len(found) <= 35
    assert found["Photograph"] == pytest.approx(1_127 / 5_000, abs=0.02)
    assert sum(list(found.values())[:5]) > 0.7
    assert found[None] > 0


def test_few_artists_made_very_many_artworks(data: Data) -> None:
    found = list(shares(data["artworks"], "artist_id").values())
    assert 0.03 < found[0] < 0.05
    assert len(found) < 15_089, "some artists have none"


@pytest.mark.parametrize(
    ("table", "column"), [("artists", "nationality"), ("artworks", "classification")]
)
def test_partition_values_with_characters_that_paths_and_texts_use(
    data: Data, table: str, column: str
) -> None:
    values = set(texts(data[table], column))
    assert "'" in "".join(values)
    for odd in ' "/%=,(':
        assert any(odd in value for value in values), f"none has {odd!r}"
    assert not any(value != value.strip() or not value for value in values)
    if table == "artists":
        assert any(not value.isascii() for value in values)
        assert {"Nationality unknown", "nationality unknown"} <= values


def scripts(values: list[str]) -> set[str]:
    """The first word of the Unicode names of all letters."""
    letters = {c for value in values for c in value if c.isalpha()}
    return {unicodedata.name(c).split()[0] for c in letters}


def test_names_in_many_scripts(data: Data) -> None:
    names = texts(data["artists"], "name")
    assert {
        "LATIN", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "GREEK",
        "DEVANAGARI",
    } <= scripts(names)  # fmt: skip
    text = "".join(names)
    for odd in "\"'|/&,.(-":
        assert odd in text, odd
    foreign = sum(not name.isascii() for name in names) / len(names)
    assert 0.05 < foreign < 0.4
    assert len(set(names)) > 9_000


def test_titles_and_media(data: Data) -> None:
    titles = texts(data["artworks"], "title")
    assert {"CYRILLIC", "CJK", "ARABIC", "HEBREW", "HANGUL"} <= scripts(titles)
    for odd in "\"'/%=<\\(":
        assert any(odd in title for title in titles), odd
    media = texts(data["artworks"], "medium")
    blank = sum(medium != medium.strip() for medium in media) / len(media)
    assert 0 < blank < 0.01


def test_years_follow_each_other(data: Data) -> None:
    artists = data["artists"]
    assert pc.min(artists["birth_year"]).as_py() >= 1730
    assert pc.max(artists["death_year"]).as_py() <= 2017
    assert pc.all(pc.greater(artists["death_year"], artists["birth_year"])).as_py()
    acquired = data["artworks"]["acquisition_date"]
    assert pc.all(pc.match_substring_regex(acquired, r"^(19|20)\d\d-[01]\d-[0-3]\d$")).as_py()
    year = pc.utf8_slice_codeunits(acquired, 0, 4).cast(pa.int32())
    assert pc.all(pc.greater(year, data["artworks"]["date"])).as_py()
    assert pc.max(year).as_py() <= 2016
    assert (
        next(
            iter(
                shares(data["artworks"].filter(pc.is_valid(acquired)), "acquisition_date").values()
            )
        )
        > 0.02
    )


def test_sizes_are_texts_that_agree(data: Data) -> None:
    artworks = data["artworks"]
    for column in artworks.column_names:
        if column.endswith(("_cm", "_kg")):
            assert pc.all(pc.match_substring_regex(artworks[column], r"^\d+(\.\d*[1-9])?$")).as_py()
    checked = 0
    for row in artworks.slice(0, 2_000).to_pylist():
        if row["dimensions"] and row["height_cm"] not in (None, "0"):
            found = re.search(r"\(([\d.]+) \S ([\d.]+)(?: \S [\d.]+)? cm\)$", row["dimensions"])
            assert found, row["dimensions"]
            assert float(found[1]) == pytest.approx(float(row["height_cm"]), abs=0.0501)
            assert float(found[2]) == pytest.approx(float(row["width_cm"]), abs=0.0501)
            checked += 1
    assert checked > 1_000
    assert any('"' in text for text in texts(artworks, "dimensions"))


def test_object_numbers_are_different(data: Data) -> None:
    numbers = data["artworks"]["object_number"].drop_null()
    assert pc.count_distinct(numbers).as_py() == len(numbers)


def test_the_rows_that_are_followed_are_there(data: Data) -> None:
    assert DATA_SET.followed is not None
    for one in (DATA_SET.followed, DATA_SET.text_columns["postgres"]):
        assert one.column in data[one.table].column_names
        assert one.value in data[one.table][one.key].to_pylist()
