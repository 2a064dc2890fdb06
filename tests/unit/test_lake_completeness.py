"""Base files that a reader would leave out."""

from __future__ import annotations

import pytest
from pyarrow import fs

from sqlapi.hudi.completeness import BaseFile, base_files, left_out


def _file(group: str, instant: str) -> BaseFile:
    return BaseFile(group, instant, f"{group}_0-1-2_{instant}.parquet")


def test_finds_base_files_among_what_else_lies_there() -> None:
    names = [
        "0000-ab-0_0-12-16_20261121055814526.parquet",
        ".0000-ab-0_20261121060008695.log.1_2-334-590",
        ".hoodie_partition_metadata",
        "notes_of_someone.parquet",
    ]
    entries = [fs.FileInfo(f"silver/sale/{name}", fs.FileType.File) for name in names]
    assert base_files(entries) == [BaseFile("0000-ab-0", "20261121055814526", names[0])]


@pytest.mark.parametrize(
    ("read", "completed", "unfinished", "replaced", "missing"),
    [
        ({"a": _file("a", "3").name}, {"3"}, set(), set(), None),
        ({"a": _file("a", "2").name}, {"2"}, {"3"}, set(), None),  # 3 is being written
        ({"a": _file("a", "3").name}, {"9"}, set(), set(), None),  # 3 is archived, and known to be
        ({}, {"3"}, set(), set(), None),  # replaced: hudi-rs knows why
        ({"a": _file("a", "2").name}, {"2"}, set(), set(), None),  # 3 was committed since
        ({}, {"9"}, set(), set(), _file("a", "3")),
        ({}, {"9"}, {"3"}, set(), _file("a", "2")),
        ({}, {"9"}, set(), {"a"}, None),  # replaced, not cleaned yet
    ],
)
def test_tells_a_file_that_would_be_left_out(
    read: dict[str, str],
    completed: set[str],
    unfinished: set[str],
    replaced: set[str],
    missing: BaseFile | None,
) -> None:
    found = left_out(
        [_file("a", "2"), _file("a", "3")],
        read=read,
        completed=lambda: completed,
        unfinished=lambda: unfinished,
        replaced=lambda: replaced,
    )
    assert found == missing
