"""awswrangler, unmodified: frames by CSV, CTAS and UNLOAD, the catalog, tables it writes itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.sqlapi.clients import installed, run
from tests.integration.sqlapi.conftest import BUCKET

SALES: list[list[str | None]] = [
    ["1", "10.50", "2024-03-01", 'a,"b"'],
    ["2", "3.25", "2024-03-02", ""],
    ["3", None, None, None],
]


# A minute on two busy cores.
@pytest.mark.soak
def test_frames_and_the_catalog(aws_variables: dict[str, str], tmp_path: Path) -> None:
    done = run(
        installed("awswrangler") / "python",
        str(Path(__file__).with_name("clients") / "wrangle.py"),
        f"s3://{BUCKET}/wrangled/",
        environment=aws_variables,
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # awswrangler reads an empty text of a CSV file as a missing one
    assert found["csv"] == found["cached"] == [SALES[0], [*SALES[1][:3], None], SALES[2]]
    assert found["ctas"] == found["unload"] == SALES
    assert found["chunks"] == [2000, 2000, 1000]
    assert found["named"] == found["marked"] == [["2"]]
    assert {"moma", "tickit"} <= set(found["databases"])
    assert found["table"]["Column Name"] == ["id", "name"]
    assert found["table"]["Type"] == ["int", "string"]
    assert found["described"] == {
        "Column Name": ["id", "name"], "Type": ["int", "string"],
        "Partition": [False, True], "Comment": ["", ""],
    }  # fmt: skip
    assert found["created by"].startswith("CREATE EXTERNAL TABLE `tickit.category`( `id` int,")
    assert list(found["partitions"].values()) == [["%C3%96per"], ["Musicals"]]
    assert found["made"] == [["3"]]
    assert found["deleted"] is True
    assert found["prepared"] == [["2"], ["3"]]
    assert found["written"] == [["1", "a"], ["2", "ü"]]
    assert found["failed"].startswith("COLUMN_NOT_FOUND: line 1:8: Column 'nope'")
