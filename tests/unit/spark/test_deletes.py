"""A row's mark of deletion is read alike by SQL, by Arrow and by Python."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from labctl.lake.view import live_rows
from lakecontract.deletes import DELETED, LIVE, is_deleted


def test_live_rows_are_those_that_are_not_marked() -> None:
    rows = pa.table({"id": [1, 2, 3], DELETED: ["false", "true", None]})
    by_sql = duckdb.from_arrow(rows).filter(LIVE).project("id").fetchall()
    assert by_sql == [(1,), (3,)]
    assert live_rows(rows)["id"].to_pylist() == [1, 3]
    assert [row["id"] for row in rows.to_pylist() if not is_deleted(row)] == [1, 3]
    assert not is_deleted({"id": 4})
