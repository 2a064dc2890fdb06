"""The generated data set has the original's counts, relations and gaps, every time."""

from __future__ import annotations

import datetime as dt
import hashlib
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from labctl.errors import ExitCode, LabError
from seeds.tickit import TABLES, generate, row_counts

Data = dict[str, pa.Table]
AnyColumn: TypeAlias = "pa.ChunkedArray[Any]"


@pytest.fixture(scope="module")
def data() -> Data:
    return generate()


def digest(table: pa.Table) -> str:
    """A fingerprint of a table's rows that does not depend on how Arrow stores them."""
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()[:16]


def joined(left: pa.Table, right: pa.Table, key: str, their_key: str) -> pa.Table:
    prefixed = right.rename_columns([f"{c}_of_{their_key}" for c in right.column_names])
    result = left.join(prefixed, key, f"{their_key}_of_{their_key}", join_type="inner")
    assert result.num_rows == left.num_rows, f"{key} refers to rows that are not there"
    return result


def product(price: AnyColumn, tickets: AnyColumn) -> AnyColumn:
    return pc.multiply(price, tickets.cast(pa.decimal128(10, 0)))


@pytest.mark.parametrize("name", TABLES)
def test_counts_schema_and_keys(data: Data, name: str) -> None:
    table = data[name]
    table.validate(full=True)
    assert table.schema.equals(TABLES[name].arrow)
    assert table.num_rows == TABLES[name].rows
    assert pc.count_distinct(table[TABLES[name].key]).as_py() == table.num_rows
    for field in table.schema:
        assert field.nullable or table[field.name].null_count == 0


@pytest.mark.parametrize("name", TABLES)
def test_text_fits_its_column(data: Data, name: str) -> None:
    for column in TABLES[name].columns:
        if column.length is not None:
            values = data[name][column.name]
            assert pc.max(pc.utf8_length(values)).as_py() <= column.length
            assert pc.all(pc.equal(values, pc.utf8_trim_whitespace(values))).as_py()


def test_the_same_rows_every_time(data: Data) -> None:
    again = generate()
    assert all(again[name].equals(data[name]) for name in TABLES)


def test_the_same_rows_on_every_machine() -> None:
    small = generate(0.001)
    assert {name: digest(small[name]) for name in TABLES} == {
        "category": "595a6500b269d5b7",
        "venue": "62e1e00023a5b6b3",
        "event": "8a897bc2160a83a0",
        "date": "d8ab779af4d1ce80",
        "listing": "bf0b229e751a0188",
        "sale": "c856f05ea7884e52",
        "user": "76000885ad12b2c0",
    }


def test_dates_are_2008_without_29_february(data: Data) -> None:
    dates = data["date"]
    days = dates["caldate"].to_pylist()
    year = [dt.date(2008, 1, 1) + dt.timedelta(days=n) for n in range(366)]
    assert days == [day for day in year if day != dt.date(2008, 2, 29)]
    assert dates["dateid"].to_pylist() == list(range(1827, 2192))
    for row in dates.to_pylist():
        assert row["day"] == row["caldate"].strftime("%a").upper()[:2]
        assert row["month"] == row["caldate"].strftime("%b").upper()
        assert row["qtr"] == str((row["caldate"].month + 2) // 3)
        assert row["year"] == 2008
    assert 5 <= pc.sum(dates["holiday"]).as_py() <= 15


@pytest.mark.parametrize(
    ("table", "time"), [("event", "starttime"), ("listing", "listtime"), ("sale", "saletime")]
)
def test_a_time_and_its_dateid_agree(data: Data, table: str, time: str) -> None:
    rows = joined(data[table], data["date"], "dateid", "dateid")
    same = pc.equal(rows[time].cast(pa.date32(), safe=False), rows["caldate_of_dateid"])
    assert pc.all(same).as_py()


def test_listings_refer_to_events_and_users(data: Data) -> None:
    listings = joined(data["listing"], data["event"], "eventid", "eventid")
    joined(data["listing"], data["user"].select(["userid"]), "sellerid", "userid")
    total = product(listings["priceperticket"], listings["numtickets"])
    assert pc.all(pc.equal(listings["totalprice"], total)).as_py()
    assert pc.all(pc.less(listings["listtime"], listings["starttime_of_eventid"])).as_py()


def test_sales_follow_their_listings(data: Data) -> None:
    joined(data["sale"], data["user"].select(["userid"]), "buyerid", "userid")
    sales = joined(data["sale"], data["listing"], "listid", "listid")
    assert sales["sellerid"].equals(sales["sellerid_of_listid"])
    assert sales["eventid"].equals(sales["eventid_of_listid"])
    assert pc.all(pc.greater(sales["saletime"], sales["listtime_of_listid"])).as_py()
    assert not pc.any(pc.equal(sales["buyerid"], sales["sellerid"])).as_py()
    paid = product(sales["priceperticket_of_listid"], sales["qtysold"])
    assert pc.all(pc.equal(sales["pricepaid"], paid)).as_py()
    sold = data["sale"].group_by("listid").aggregate([("qtysold", "sum")])
    offered = joined(sold, data["listing"], "listid", "listid")
    assert pc.all(pc.less_equal(offered["qtysold_sum"], offered["numtickets_of_listid"])).as_py()


def test_commission_is_15_percent_to_the_cent(data: Data) -> None:
    rounded = 0
    for sale in data["sale"].to_pylist():
        exact = sale["pricepaid"] * Decimal("0.15")
        assert sale["commission"] == exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
        rounded += sale["commission"] != exact
    assert rounded > 1_000, "no case exercises the rounding"


def test_nulls_and_unknowns(data: Data) -> None:
    seats = data["venue"]["venueseats"]
    assert seats.null_count > 0
    assert seats.to_pylist().count(0) > 50
    users = data["user"]
    for name in users.column_names:
        if name.startswith("like"):
            assert set(users[name].unique().to_pylist()) == {None, True, False}
    assert users["phone"].null_count > 0
    assert data["event"]["starttime"].null_count > 0


def test_venues_and_categories_are_referred_to(data: Data) -> None:
    joined(data["event"], data["venue"], "venueid", "venueid")
    joined(data["event"], data["category"], "catid", "catid")


@pytest.mark.parametrize("scale", [1e-6, 0.0005, 0.02, 1.5])
def test_scale_keeps_the_relations(scale: float) -> None:
    small = generate(scale)
    assert {name: table.num_rows for name, table in small.items()} == row_counts(scale)
    for name, table in TABLES.items():
        expected = max(1, round(table.rows * scale)) if table.scales else table.rows
        assert small[name].num_rows == expected
    joined(small["listing"], small["event"], "eventid", "eventid")
    joined(small["sale"], small["listing"], "listid", "listid")
    for column in ("sellerid", "buyerid"):
        joined(small["sale"], small["user"].select(["userid"]), column, "userid")


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), 1001])
def test_impossible_scales_are_refused(scale: float) -> None:
    with pytest.raises(LabError, match="makes no data set") as caught:
        generate(scale)
    assert caught.value.exit_code is ExitCode.USAGE
