"""PostgreSQL's values that Debezium sends as others: equal in first load and log, or named."""

from __future__ import annotations

from decimal import Decimal

import pytest

from labctl.lab.tables.table_requests import lab_dead_letters
from labctl.lab.tables.verification import verify_lab
from labctl.lake import Lake
from labctl.sources import connect
from labctl.verify import State
from tests.integration.own_project import OwnProject
from tests.integration.test_postgres_tables import project
from tests.waiting import wait_for

__all__ = ["project"]

pytestmark = pytest.mark.long

COLUMNS = {
    "n": "numeric(8,2)",
    "z": "numeric(8,2) NOT NULL DEFAULT 1.5",
    "n38": "numeric(38,4)",
    "n60": "numeric(60,10)",
    "v": "numeric",
    "w": "numeric NOT NULL DEFAULT 2",
    "s": "share",
    "ns": "numeric(8,2)[]",
    "vs": "numeric[]",
    "ds": "date[]",
    "zs": "timestamptz[]",
    "d": "date",
    "e": "date NOT NULL DEFAULT '2020-01-02'",
    "t": "timestamp",
    "t3": "timestamp(3) NOT NULL DEFAULT '2020-01-02'",
    "i": "timestamptz",
    "i2": "timestamptz(2) NOT NULL DEFAULT '2020-01-02'",
}
TYPICAL = {
    "n": "0.10",
    "z": "-999999.99",
    "n38": "-9999999999999999999999999999999999.9999",
    "n60": "99999999999999999999999999999999999999999999999999.0000000001",
    "v": "100.500",
    "w": "-1e20",
    "s": "0.5",
    "ns": "{1.10,NULL,-2}",
    "vs": "{1.10,NULL,1e3}",
    "ds": "{1582-10-04,NULL,9999-12-31}",
    "zs": "{1500-02-28 00:00:00.000001Z,NULL}",
    "d": "1582-10-04",
    "e": "0001-01-01",
    "t": "1582-10-10 12:00:00.000001",
    "t3": "0099-12-31 23:59:59.999",
    "i": "1582-10-10 00:00:00.000001Z",
    "i2": "0001-01-01 00:00:00.25Z",
}
BEYOND: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("n", "z", "n38", "n60", "v", "w", "s"), ("NaN", "NaN")),
    "ns": ("{1,NaN}", "1.00,NaN"),
    "vs": ("{Infinity,NULL}", "Infinity,NULL"),
    "ds": ("{2020-01-01,NULL,0044-03-15 BC}", "[2020-01-01, null, -0043-03-15]"),
    "zs": ("{2020-01-01Z,0044-03-15Z BC}", "[2020-01-01T00:00:00.000000Z, -0043-03-15T"),
    "d": ("0044-03-15 BC", "-0043-03-15"),
    "e": ("0045-02-28 BC", "-0044-02-28"),
    "t": ("0044-03-15 12:00:00 BC", "-0043-03-15 12:00:00"),
    "t3": ("0044-03-15 12:00:00 BC", "-0043-03-15 12:00:00"),
    "i": ("0044-03-15 12:00:00Z BC", "-0043-03-15T12:00:00"),
    "i2": ("0044-03-15 12:00:00Z BC", "-0043-03-15T12:00:00"),
}
"""By column, a value that silver cannot hold, and how it is named."""
OTHERS = (
    ("v", "Infinity", "Infinity"),
    ("v", "-Infinity", "-Infinity"),
    ("d", "infinity", "+5881580-07-11"),
    ("e", "-infinity", "-5877641-06-23"),
    ("ns", "{{1},{2}}", "a value that Debezium does not send"),
    ("ds", "{{2020-01-01}}", "-5877641-06-23"),
    ("zs", "{{2020-01-01Z}}", "unknown"),
)
ASIDE = [*((name, *both) for name, both in BEYOND.items()), *OTHERS]
STREAMED = 1000


def statements(first: int) -> list[str]:
    """Rows that silver holds, and behind them one for each value that it does not."""
    names = ", ".join(COLUMNS)

    def row(key: int, changed: dict[str, str | None]) -> str:
        values = {**TYPICAL, **changed}
        texts = ("NULL" if one is None else f"'{one}'" for one in values.values())
        return f"INSERT INTO odd (id, {names}) VALUES ({key}, {', '.join(texts)})"

    nulls = {name: None for name, declared in COLUMNS.items() if "NOT NULL" not in declared}
    rows = [row(first, {}), row(first + 1, dict(nulls)), f"INSERT INTO odd VALUES ({first + 2})"]
    rows += [row(first + 3 + n, {name: value}) for n, (name, value, _) in enumerate(ASIDE)]
    return rows


def test_values_that_debezium_sends_as_others_are_equal_or_named(project: OwnProject) -> None:
    base = project.folder / "spark" / "properties" / "base.properties"
    text = base.read_text(encoding="utf-8")
    assert "lab.on.bad.record=stop" in text
    base.write_text(text.replace("record=stop", "record=deadletter"), encoding="utf-8")
    project.run("up")
    lab = project.lab

    def letters() -> list[str]:
        return [one.reason for one in lab_dead_letters(lab).of_topic("shop.public.odd")]

    columns = ", ".join(f"{name} {declared}" for name, declared in COLUMNS.items())
    with connect(lab.endpoints, "shop") as source:
        source.execute("CREATE DOMAIN share AS numeric(9,3) CHECK (VALUE > 0)")
        source.execute(f"CREATE TABLE odd (id int PRIMARY KEY, {columns})")
        for statement in statements(0):
            source.execute(statement)
        project.run("table", "add", "shop.public.odd")
        wait_for(lambda: len(letters()) >= len(ASIDE))
        for statement in (*statements(STREAMED), f"DELETE FROM odd WHERE id = {STREAMED + 1}"):
            source.execute(statement)
        wait_for(lambda: len(letters()) >= 2 * len(ASIDE))

    said = letters()
    wanted = [(name, shown) for name, _, shown in ASIDE] * 2
    for reason, (name, shown) in zip(said, wanted, strict=True):
        assert reason.startswith(f"its {name} is "), (name, said)
        assert shown in reason, (name, said)

    kept = {first + n for first in (0, STREAMED) for n in range(3)} - {STREAMED + 1}
    silver = Lake(lab.endpoints.objectstore).table("odd")
    wait_for(lambda: set(silver.read()["id"].to_pylist()) == kept)
    rows = {row["id"]: row for row in silver.read().to_pylist()}
    for first in (0, STREAMED):
        assert rows[first]["ns"] == [Decimal("1.10"), None, Decimal("-2.00")]
        assert [one and one["scale"] for one in rows[first]["vs"]] == [1, None, 0]
        assert rows[first]["zs"] == ["1500-02-28T00:00:00.000001Z", None]
    (verdict,) = verify_lab(lab, ["odd"], timeout=120.0).tables
    assert verdict.diff is not None, verdict
    assert (verdict.diff.missing, verdict.diff.different) == (2 * len(ASIDE), 0)
    assert {"n: 2 times NaN or infinity", "v: 6 times NaN or infinity"} < {
        *verdict.diff.columns_incomparable
    }
    with connect(lab.endpoints, "shop") as source:
        source.execute(f"DELETE FROM odd WHERE id % {STREAMED} > 2")
        (verdict,) = verify_lab(lab, ["odd"], timeout=120.0).tables
    assert verdict.state is State.CANNOT_COMPARE, verdict
    assert verdict.diff is not None
    assert verdict.diff.rows_equal, verdict.diff
    assert verdict.diff.source_rows == len(kept)
    assert [one.split(":")[0] for one in verdict.diff.columns_incomparable] == ["vs", "zs"]
