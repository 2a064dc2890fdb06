"""Which rows a query says it needs; and that a source which leaves out others is as good."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.lake import Lake
from labctl.lake.objectstore import LakeStorage
from labctl.lake.table_source import LakeSource
from sqlapi.source import Comparison, MergeView
from sqlapi.sql.engine import Engine
from sqlapi.sql.translate import translate
from tests.unit.hudi_by_hand import write_table
from tests.unit.sqlapi.asking import Tables

SALES = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "qty": pa.array([7, None, 5, 7], pa.int16()),
        "note": ["a", "b", None, "d"],
    }
)


def told(sql: str) -> list[Comparison]:
    engine = Engine()
    try:
        made = translate(sql, Tables(sale=SALES, other=SALES), "tickit")
        none = SALES.schema.empty_table()
        empty = {key: none.select(list(columns)) for key, columns in made.read.items()}
        return engine.run().where(made, empty).get(next(iter(made.read)), [])
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT note FROM sale WHERE id = 3", [("id", "=", "3")]),
        ("SELECT note FROM sale WHERE 3 < id AND note = 'a'", [("id", ">", "3")]),
        ("WITH s AS (SELECT * FROM sale) SELECT note FROM s WHERE id = 3", [("id", "=", "3")]),
        ("SELECT count(*) FROM sale WHERE id = 3 GROUP BY note", [("id", "=", "3")]),
        ("SELECT note FROM sale ORDER BY id LIMIT 1", []),
        ("SELECT note FROM sale WHERE id = 3 OR qty = 5", []),
        ("SELECT note FROM sale WHERE id + 1 = qty", []),
        ("SELECT note FROM sale WHERE note = '3'", []),
        # each of the two scans needs rows that the other does not
        ("SELECT 1 FROM sale a JOIN sale b ON a.qty = b.qty WHERE a.id = 3", []),
        ("SELECT id FROM sale WHERE id = 3 UNION ALL SELECT id FROM sale WHERE id = 4", []),
        ("SELECT id FROM sale WHERE id = 3 AND qty = (SELECT max(qty) FROM sale)", []),
        # the number of a row counts those before it
        ("SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM sale) WHERE id = 3",
         []),
        ("SELECT * FROM (SELECT id FROM sale ORDER BY qty LIMIT 1) WHERE id = 3", []),
        ("SELECT s.id FROM sale s LEFT JOIN other o ON o.id = s.id WHERE s.id = 3", []),
    ],
)  # fmt: skip
def test_comparisons_that_all_rows_must_meet(sql: str, found: Sequence[Comparison]) -> None:
    assert told(sql) == found


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("note = 'a'", {"note": {"a"}}),
        ("'it''s' = note AND id = 3", {"note": {"it's"}}),
        ("note IN ('a', 'b') AND qty IS NOT NULL", {"note": {"a", "b"}}),
        ("note = 'a' AND more = 'b'", {"note": {"a"}, "more": {"b"}}),
        ("(note = 'a' AND more = 'x') OR (more = 'y' AND note = 'b')",
         {"note": {"a", "b"}, "more": {"x", "y"}}),
        ("note = 'a' OR more = 'b'", {}),
        ("note = 'a' OR id = 3", {}),
        ("NOT (note = 'a')", {}),
        ("note <> 'a'", {}),
        ("note LIKE 'a%'", {}),
        ("lower(note) = 'a'", {}),
        ("note = more", {}),
        ("note > 'a'", {}),
        ("note IS NULL OR note = 'a'", {}),
        ("coalesce(note, 'a') = 'a'", {}),
    ],
)  # fmt: skip
def test_texts_that_all_rows_must_have(condition: str, found: dict[str, set[str]]) -> None:
    engine = Engine()
    rows = SALES.append_column("more", SALES["note"])
    try:
        made = translate(f"SELECT * FROM sale WHERE {condition}", Tables(sale=rows), "tickit")
        told = engine.run().texts(made, {"sale": rows.schema.empty_table()})["sale"]
    finally:
        engine.close()
    assert told == found


def test_a_lake_leaves_out_by_keys_alone(tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array(range(1000), pa.int32()),
                     "qty": pa.array([7] * 1000, pa.int32())})  # fmt: skip
    write_table(tmp_path, "tickit.sale", {"20240101000000000": rows})
    source = LakeSource(Lake(LakeStorage.local(tmp_path)))
    (table,) = source.tables()

    def ids(*where: Comparison) -> list[int | None]:
        found: list[int | None] = source.read(table, ["id"], MergeView(), where)["id"].to_pylist()
        return found

    assert ids(("id", "=", "3")) == [3]
    assert ids(("id", ">=", "998"), ("qty", "=", "1")) == [998, 999]
    assert len(ids(("qty", "=", "1"))) == 1000
