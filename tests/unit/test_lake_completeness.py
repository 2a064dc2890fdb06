from __future__ import annotations

import pytest
from pyarrow import fs

from labctl.lake.completeness import BaseFile, base_files, left_out, logged_since


def _file(group: str, instant: str) -> BaseFile:
    return BaseFile(group, instant, f"silver/sale/{group}_0-1-2_{instant}.parquet")


def test_finds_base_files_among_what_else_lies_there() -> None:
    names = [
        "0000-ab-0_0-12-16_20261121055814526.parquet",
        ".0000-ab-0_20261121060008695.log.1_2-334-590",
        ".hoodie_partition_metadata",
        "notes_of_someone.parquet",
    ]
    entries = [fs.FileInfo(f"silver/sale/{name}", fs.FileType.File) for name in names]
    assert base_files(entries) == [BaseFile("0000-ab-0", "20261121055814526", entries[0].path)]


@pytest.mark.parametrize(
    ("read", "completed", "unfinished", "replaced", "missing"),
    [
        ({"a": _file("a", "3").name}, {"3"}, set(), set(), []),
        ({"a": _file("a", "2").name}, {"2"}, {"3"}, set(), []),  # 3 is being written
        ({"a": _file("a", "3").name}, {"9"}, set(), set(), []),  # 3 is archived, and known to be
        ({}, {"3"}, set(), set(), []),  # replaced: hudi-rs knows why
        ({"a": _file("a", "2").name}, {"2"}, set(), set(), []),  # 3 was committed since
        ({}, {"9"}, set(), set(), [_file("a", "3")]),
        ({}, {"9"}, {"3"}, set(), [_file("a", "2")]),
        ({}, {"9"}, set(), {"a"}, []),  # replaced, not cleaned yet
    ],
)
def test_tells_the_files_that_would_be_left_out(
    read: dict[str, str],
    completed: set[str],
    unfinished: set[str],
    replaced: set[str],
    missing: list[BaseFile],
) -> None:
    found = left_out(
        [_file("a", "2"), _file("a", "3")],
        read=read,
        completed=lambda: completed,
        unfinished=lambda: unfinished,
        replaced=lambda: replaced,
    )
    assert found == missing


@pytest.mark.parametrize(
    ("name", "is_logged"),
    [
        (".a_4.log.1_2-334-590", True),
        (".a_2.log.1_2-334-590", False),  # of the slice before
        (".b_4.log.1_2-334-590", False),
        (_file("a", "4").name, False),
    ],
)
def test_tells_log_files_to_a_base_file(name: str, is_logged: bool) -> None:
    entries = [fs.FileInfo(f"silver/sale/{name}", fs.FileType.File)]
    assert logged_since(_file("a", "3"), entries) is is_logged
