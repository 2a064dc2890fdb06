"""PostgreSQL's arrays, from the source to silver: equal, or a bad record that is named."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lake import Lake
from labctl.sources import connect
from tests.integration.test_postgres_tables import done, labctl, project, verified
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
DEEP = "'{{a,b},{c,NULL}}'" + ", NULL" * (COLUMNS - 1)


def test_arrays_are_equal_or_named(project: Path) -> None:
    done(project, "up")
    lab = Lab.find(project=project)
    with connect(lab.endpoints, "shop") as source:
        source.execute(TABLE)
        for key, row in enumerate(ROWS):
            source.execute(f"INSERT INTO tag VALUES ({key}, {row})")
        done(project, "table", "add", "shop.public.tag")
        for key, row in enumerate(ROWS):
            source.execute(f"INSERT INTO tag VALUES ({key + 3}, {row})")
        lake = Lake(lab.endpoints.objectstore)

        def rows() -> dict[int, dict[str, Any]]:
            return {row["id"]: row for row in lake.table("shop.tag").read().to_pylist()}

        wait_for(lambda: len(rows()) == 6)
        found = rows()
        for key in (0, 3):
            assert found[key]["words"] == ["a", None]
            assert found[key]["numbers"] == [1, None]
            assert found[key]["wide"] == [None, 5]
            assert found[key]["flags"] == [True, None]
            assert found[key]["days"] == [date(2024, 1, 2), None]
            assert found[key]["zoned"] == [None]
        compared = verified(project, ExitCode.UNDECIDED)["shop.tag"]
        assert compared["source_rows"] == 6
        assert compared["changes"] == []
        assert [one.split(":")[0] for one in compared["columns_incomparable"]] == ["zoned"]
        source.execute(f"INSERT INTO tag VALUES (9, {DEEP})")
        wait_for(lambda: "its words is [[Ljava" in labctl(project, "status").stdout)
