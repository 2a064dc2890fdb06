"""PostgreSQL's arrays, from the source to silver: equal, or a bad record that is named."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from labctl.errors import ExitCode
from labctl.lab.tables.table_requests import lab_dead_letters
from labctl.lake import Lake
from labctl.sources import connect
from tests.integration.own_project import OwnProject
from tests.integration.test_postgres_tables import project
from tests.waiting import wait_for

__all__ = ["project"]

pytestmark = pytest.mark.long

TABLE = (
    "CREATE TABLE tag (id int PRIMARY KEY, words text[], numbers int[], wide bigint[],"
    " flags bool[], days date[], zoned timestamptz[], n numeric(10,2)[], small smallint[],"
    " codes char(3)[], names varchar(9)[], ids uuid[], docs jsonb[], reals real[],"
    " doubles double precision[], raw bytea[], oids oid[])"
)
COLUMNS = 16
ROWS = (
    "'{a,NULL}', '{1,NULL}', '{NULL,5}', '{t,NULL}', '{2024-01-02,NULL}', '{NULL}', '{1.5,NULL}',"
    """ '{-1}', '{ab,NULL}', '{"a,b","NULL"," ",""}', '{123e4567-e89b-12d3-a456-426614174000}',"""
    """ '{"{\\"b\\": [1.50]}",NULL}', '{0.1,NaN,-Infinity,-0}', '{5e-324,NULL,1e300}',"""
    """ '{"\\\\x00ff",""}', '{4294967295}'""",
    ", ".join(["'{}'"] * COLUMNS),
    ", ".join(["NULL"] * COLUMNS),
)
DEEP = {
    "words": "{{a,b},{c,NULL}}",
    "numbers": "{{1,2},{3,4}}",
    "wide": "{{1}}",
    "flags": "{{t,f}}",
    "days": "{{2024-01-02}}",
    "zoned": "{{2024-01-02Z}}",
    "n": "{{1.5}}",
    "small": "{{1},{2}}",
    "codes": "{{ab}}",
    "names": "{{ab}}",
    "ids": "{{123e4567-e89b-12d3-a456-426614174000}}",
    "docs": "{{1}}",
    "reals": "{{1.5,NULL}}",
    "doubles": "{{{1.5}}}",
    "raw": r"{{\\x00ff}}",
    "oids": "{{7}}",
}
"""Arrays of several dimensions, by column."""


def test_arrays_are_equal_or_named(project: OwnProject) -> None:
    base = project.folder / "spark" / "properties" / "base.properties"
    text = base.read_text(encoding="utf-8")
    base.write_text(text.replace("record=stop", "record=deadletter"), encoding="utf-8")
    project.run("up")
    lab = project.lab

    def letters() -> list[str]:
        return [one.reason for one in lab_dead_letters(lab).of_topic("shop.public.tag")]

    def insert_deep(first: int) -> None:
        for key, (column, value) in enumerate(DEEP.items(), first):
            source.execute(f"INSERT INTO tag (id, {column}) VALUES ({key}, '{value}')")

    with connect(lab.endpoints, "shop") as source:
        source.execute(TABLE)
        for key, row in enumerate(ROWS):
            source.execute(f"INSERT INTO tag VALUES ({key}, {row})")
        insert_deep(100)
        project.run("table", "add", "shop.public.tag")
        for key, row in enumerate(ROWS):
            source.execute(f"INSERT INTO tag VALUES ({key + 3}, {row})")
        lake = Lake(lab.endpoints.objectstore)

        def rows() -> dict[int, dict[str, Any]]:
            return {row["id"]: row for row in lake.table("shop.tag").read().to_pylist()}

        wait_for(lambda: len(letters()) >= len(DEEP) and len(rows()) >= 6)
        found = rows()
        assert sorted(found) == [*range(6)]
        for key in (0, 3):
            assert found[key]["words"] == ["a", None]
            assert found[key]["numbers"] == [1, None]
            assert found[key]["wide"] == [None, 5]
            assert found[key]["flags"] == [True, None]
            assert found[key]["days"] == [date(2024, 1, 2), None]
            assert found[key]["zoned"] == [None]
        insert_deep(200)
        wait_for(lambda: len(letters()) >= 2 * len(DEEP))
        assert [reason.split()[1] for reason in letters()] == [*DEEP, *DEEP]
        source.execute("UPDATE tag SET numbers = '{{1,2}}' WHERE id = 4")
        wait_for(lambda: len(letters()) > 2 * len(DEEP))
        (changed,) = [
            one["columns"]
            for one in project.verified(code=ExitCode.DIFFERENT)["shop.tag"]["changes"]
        ]
        assert [*changed] == ["numbers"]
        source.execute("UPDATE tag SET numbers = '{}' WHERE id = 4")
        source.execute("DELETE FROM tag WHERE id >= 100")
        compared = project.verified(code=ExitCode.UNDECIDED)["shop.tag"]
        assert compared["source_rows"] == 6
        assert compared["changes"] == []
        assert [one.split(":")[0] for one in compared["columns_incomparable"]] == ["zoned"]
