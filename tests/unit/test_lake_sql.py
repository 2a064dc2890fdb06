"""Which tables, columns and rows a query needs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.errors import ExitCode, LabError
from labctl.lake.arrow_sql import SqlQuery, UnreadColumnError

SALE = pa.table(
    {
        "salesid": pa.array([1, 2, 3], pa.int32()),
        "qty": pa.array([5, None, 7], pa.int64()),
        "price": pa.array([Decimal("1.50"), None, Decimal("2.00")], pa.decimal128(8, 2)),
        "name": pa.array(["a", "b", None]),
    }
)
USER = pa.table({"userid": pa.array([1, 2], pa.int32()), "qty": pa.array([1, 1], pa.int64())})
SALES = "tickit.sale"
TABLES = {SALES: SALE, "tickit.user": USER}
NAMES = sorted(TABLES)
ARTISTS = ("moma_cow.artists", "moma_mor.artists")
SCHEMAS = {name: table.schema for name, table in TABLES.items()}


def _answer(sql: str) -> tuple[pa.Table, dict[str, list[str]]]:
    query = SqlQuery(sql, sorted(TABLES))
    used = {name: schema for name, schema in SCHEMAS.items() if name in query.tables()}
    columns = {name: scan.columns for name, scan in query.plan(used).items()}
    return query.run({name: TABLES[name].select(columns[name]) for name in used}, used), columns


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select * from sale", {"tickit.sale"}),
        ("select * from SALE s join user u using (id)", {"tickit.sale", "tickit.user"}),
        ("select 1 where exists (from sale)", {"tickit.sale"}),
        ("with x as (select * from user) select * from x", {"tickit.user"}),
        ("select * from (select * from sale union all from Tickit.Sale)", {"tickit.sale"}),
        ("select * from moma_cow.artists, sale", {"moma_cow.artists", "tickit.sale"}),
        ("with artists as (select 1) select * from artists", set()),
        ("select 1", set()),
    ],
)
def test_finds_the_tables_of_a_query(sql: str, names: set[str]) -> None:
    assert SqlQuery(sql, [*TABLES, *ARTISTS]).tables() == names


@pytest.mark.parametrize(
    ("sql", "rows", "read"),
    [
        ("select name from sale where salesid = 1", [{"name": "a"}], {"salesid", "name"}),
        (
            "select qty from (select * from sale) where salesid > 2",
            [{"qty": 7}],
            {"salesid", "qty"},
        ),
        ("select sum(qty) as s from sale", [{"s": 12}], {"qty"}),
        ("select max(s.qty) as q from sale s natural join user u", [{"q": None}], {"qty"}),
        (
            "select salesid from (select * from sale union all select *, 1, 'x' from user)"
            " order by salesid desc limit 1",
            [{"salesid": 3}],
            {"salesid"},
        ),
        ("select count(*) as n from sale", [{"n": 3}], set()),
    ],
)
def test_reads_only_the_columns_it_needs(
    sql: str, rows: list[dict[str, object]], read: set[str]
) -> None:
    answer, columns = _answer(sql)
    assert answer.to_pylist() == rows
    assert read <= set(columns["tickit.sale"])
    assert len(columns["tickit.sale"]) <= max(2, len(read))


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("select * from sale where salesid = 2", [("salesid", "=", "2")]),
        ("select name from sale where 2 < salesid and qty is null", [("salesid", ">", "2")]),
        ("select name from sale where salesid = -2 or salesid = 3", []),
        ("select name from sale where name = 'a' and price > 1", []),
        ("select name from sale where salesid = 9999999999", []),
        ("select * from (select salesid * 2 as salesid from sale) where salesid = 2", []),
        ("select * from sale a join sale b using (salesid) where a.salesid = 1", []),
        ("select count(*) filter (where salesid = 1) from sale", []),
        ("select * from sale left join (values (1)) v(x) on x = salesid and salesid = 1", []),
    ],
)
def test_tells_comparisons_that_hold_for_every_row(
    sql: str, where: list[tuple[str, str, str]]
) -> None:
    assert SqlQuery(sql, NAMES).plan({SALES: SALE.schema})[SALES].where == where


def test_conditions_hide_rows() -> None:
    query = SqlQuery("select salesid from sale order by salesid", NAMES)
    answer = query.run({SALES: SALE}, {SALES: SALE.schema}, {SALES: ["qty > 5", "price > 1"]})
    assert answer.to_pylist() == [{"salesid": 3}]


def test_all_columns_keep_names_order_and_types() -> None:
    answer, _ = _answer("select * from sale order by salesid")
    assert answer.equals(SALE)


def test_a_column_left_out_by_mistake_is_an_error_and_no_answer() -> None:
    query = SqlQuery("select salesid, name from sale", NAMES)
    with pytest.raises(UnreadColumnError):
        query.run({SALES: SALE.select(["salesid"])}, {SALES: SALE.schema})
    again = query.run({SALES: SALE}, {SALES: SALE.schema})
    assert again.num_rows == 3


def test_sums_of_integers_are_integers() -> None:
    answer, _ = _answer("select sum(salesid) as s, sum(price) as p from sale")
    assert answer.schema.field("s").type == pa.int64()
    assert answer.to_pylist() == [{"s": 6, "p": Decimal("3.50")}]


@pytest.mark.parametrize(
    ("sql", "position", "what"),
    [
        ("selec 1", "line 1, column 1", "selec"),
        ("select salesid,\n  nocol\nfrom sale", "line 2, column 3", "nocol"),
        ("select (", "line 1, column", "("),
        ("select * from nosuch", "line 1, column 15", "nosuch"),
        ("select lower(1, 2) from sale", "line 1, column 8", "lower"),
    ],
)
def test_bad_sql_says_what_and_where(sql: str, position: str, what: str) -> None:
    with pytest.raises(LabError) as caught:
        _answer(sql)
    assert caught.value.exit_code is ExitCode.USAGE
    assert position in caught.value.what
    assert what in caught.value.what


def test_an_unknown_table_is_told_which_there_are() -> None:
    with pytest.raises(LabError) as caught:
        _answer("select * from sales")
    assert "'sales'" in caught.value.what
    assert caught.value.hint == "Tables: tickit.sale, tickit.user."


@pytest.mark.parametrize(
    "sql",
    [
        "select * from moma_cow.artists where id = 1",
        "select artists.id from MOMA_cow.artists where moma_cow.artists.id = 1",
        "with artists as (from moma_cow.artists) select * from artists where id = 1",
    ],
)
def test_a_database_tells_tables_of_one_name_apart(sql: str) -> None:
    query, artists = SqlQuery(sql, ARTISTS), pa.table({"id": [1, 2]})
    (name,) = query.tables()
    assert name == "moma_cow.artists"
    query.plan({name: artists.schema})
    assert query.run({name: artists}, {name: artists.schema}).to_pylist() == [{"id": 1}]


def test_a_short_name_of_two_tables_is_an_error_that_lists_them() -> None:
    with pytest.raises(LabError, match="more than one silver table 'artists', line 1") as caught:
        SqlQuery("select * from artists", ARTISTS).plan({})
    assert caught.value.hint == ("Write the database, too: moma_cow.artists, moma_mor.artists.")


@pytest.mark.parametrize(
    "sql",
    ["", "select 1; select 2", "insert into sale values (1)", "drop table sale", "attach 'x.db'"],
)
def test_only_one_select_is_a_query(sql: str) -> None:
    with pytest.raises(LabError, match="one SELECT"):
        SqlQuery(sql)


def test_files_of_this_machine_are_out_of_reach(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(LabError, match="disabled"):
        _answer(f"select * from read_csv('{tmp_path / 'secret.csv'}')")
    assert not Path("x.db").exists()
