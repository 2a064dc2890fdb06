"""Which files a table's commits say it has, against those that are there."""

from __future__ import annotations

from typing import Any

import pytest

from sqlapi.hudi.lost_files import lost_file


def base(group: str, instant: int, merged: int | None = None) -> dict[str, Any]:
    return {
        "fileId": group,
        "path": f"{group}_0_{instant}.parquet",
        "fileSizeInBytes": 100,
        "prevBaseFile": None if merged is None else f"{group}_0_{merged}.parquet",
    }


def log(group: str, instant: int) -> dict[str, Any]:
    return {"fileId": group, "path": f"day=1/.{group}_{instant}.log.1_0", "fileSizeInBytes": 10}


def write(*stats: dict[str, Any], replaced: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "partitionToWriteStats": {"": list(stats)},
        "partitionToReplaceFileIds": {"": list(replaced)} if replaced else None,
    }


COW = [write(base("a", 3, 2)), write(base("b", 2)), write(base("a", 2, 1)), write(base("a", 1))]
MOR = [write(log("a", 4)), write(log("a", 3)), write(base("a", 2)), write(log("a", 1))]
REBUILT = [write(base("b", 2), replaced=("a",)), write(base("a", 1))]
OVERWRITTEN = [
    write(base("b", 2)) | {"operationType": "INSERT_OVERWRITE_TABLE"},
    write(base("a", 1)),
]
SKIPPED = [write(base("a", 3, 1)), write(base("a", 2, 1)), write(base("a", 1))]
"""The last commit merged the file before the newest: that one was gone."""


@pytest.mark.parametrize(
    ("writes", "gone", "said"),
    [
        (COW, "", None),
        (COW, "a_0_3.parquet", "a_0_3.parquet is missing"),
        (COW, "b_0_2.parquet", "b_0_2.parquet is missing"),
        (COW, "a_0_2.parquet", None),  # a former version, which the cleaner removes
        (MOR, "a_0_2.parquet", "a_0_2.parquet is missing"),
        (MOR, ".a_3.log.1_0", ".a_3.log.1_0 is missing"),
        (MOR, ".a_1.log.1_0", None),  # compacted
        (REBUILT, "a_0_1.parquet", None),
        (OVERWRITTEN, "a_0_1.parquet", None),
        (SKIPPED, "", "a_0_2.parquet was lost"),
    ],
)
def test_a_file_that_is_gone(writes: list[dict[str, Any]], gone: str, said: str | None) -> None:
    stats = [s for w in writes for s in w["partitionToWriteStats"][""]]
    sizes = {s["path"].rpartition("/")[2]: s["fileSizeInBytes"] for s in stats}
    sizes.pop(gone, None)
    why = lost_file(sizes, writes)
    assert why is None if said is None else said in str(why)


def test_a_file_that_is_cut_short_and_one_that_has_grown() -> None:
    assert "has 99 bytes of 100" in str(lost_file({"a_0_1.parquet": 99}, [write(base("a", 1))]))
    assert lost_file({"a_0_1.parquet": 101}, [write(base("a", 1))]) is None


def test_a_read_of_base_files_alone_needs_no_log_file() -> None:
    assert lost_file({"a_0_2.parquet": 100}, MOR, logs=False) is None
