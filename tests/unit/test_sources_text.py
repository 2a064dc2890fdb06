"""Rows survive the way through the text that databases send and take."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labctl.engines.mysql.mysql_types import MYSQL
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.errors import LabError
from labctl.sources import SourceColumn, TableRef
from labctl.sources.base import Declared
from labctl.sources.text import from_csv, row_literals, statements, to_csv
from labctl.sources.type_rules import rule_for


def column(name: str, kind: str, full: str | None = None, **size: int) -> SourceColumn:
    declared = Declared(kind, full or kind, **size)
    return SourceColumn(name, declared, True, rule_for(POSTGRES, declared, name))


def test_null_and_empty_text_are_told_apart() -> None:
    rows = from_csv(
        b'"",1\n,2\n"a""b\r\nc",\n\\N,4\n', [column("t", "text"), column("n", "bigint")]
    )
    assert rows["t"].to_pylist() == ["", None, 'a"b\r\nc', "\\N"]
    assert rows["n"].to_pylist() == [1, 2, None, 4]


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.none() | st.text('a\n\r,"\\', max_size=3), st.none() | st.text()))
)
def test_null_is_null_in_every_place(rows: list[tuple[str | None, str | None]]) -> None:
    def field(value: str | None) -> str:
        return "" if value is None else '"' + value.replace('"', '""') + '"'

    data = "".join(f"{','.join(map(field, row))}\n" for row in rows).encode()
    read = from_csv(data, [column("a", "text"), column("b", "text")])
    assert [tuple(row.values()) for row in read.to_pylist()] == rows


def test_a_last_row_that_has_no_end_is_refused() -> None:
    with pytest.raises(ValueError, match="no newline"):
        from_csv(b'"x",\n"y",', [column("a", "text"), column("b", "text")])


def test_a_single_null_column_keeps_its_rows() -> None:
    assert from_csv(b"\n\n1\n", [column("n", "integer")])["n"].to_pylist() == [None, None, 1]


def test_numbers_become_what_they_stand_for() -> None:
    columns = [
        column("at", "timestamp without time zone"),
        column("day", "date"),
        column("price", "numeric", precision=8, scale=2),
        column("raw", "bytea"),
        column("x", "double precision"),
        column("yes", "boolean"),
    ]
    rows = from_csv(b'-1,-1,-0.01,"00ff",-0,t\n,,,"",NaN,f\n', columns)
    first, second = rows.to_pylist()
    assert first["at"] == dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
    assert first["day"] == dt.date(1969, 12, 31)
    assert first["price"] == Decimal("-0.01")
    assert (first["raw"], second["raw"]) == (b"\x00\xff", b"")
    assert str(first["x"]) == "-0.0"
    assert second["x"] != second["x"]
    assert (first["yes"], second["yes"]) == (True, False)


ARRAYS: list[tuple[str, str, list[list[object] | None]]] = [
    ("integer[]", '"[""-1"",null]"\n[]\n\n', [[-1, None], [], None]),
    ("numeric(8,2)[]", '"[""-0.10"",null]"\n', [[Decimal("-0.10"), None]]),
    ("date[]", '"[""-1"",null]"\n', [[dt.date(1969, 12, 31), None]]),
    ("bytea[]", '"[""00ff"",""""]"\n', [[b"\x00\xff", b""]]),
    ("boolean[]", '"[""true"",""false""]"\n', [[True, False]]),
    ("real[]", '"[""0.1"",""-Infinity""]"\n', [[0.10000000149011612, -math.inf]]),
    (
        "character varying(9)[]",
        '"[""a,b"",""\\""\\u00e4"",""""]"\n',
        [["a,b", '"ä', ""]],
    ),
    ("date[]", '"[]"\n', [[]]),
    ("bytea[]", '"[]"\n', [[]]),
    ("numeric(8,2)[]", '"[]"\n', [[]]),
    ("date[]", "\n\n", [None, None]),
]


@pytest.mark.parametrize(("full", "text", "arrays"), ARRAYS)
def test_arrays_are_read_by_their_elements(
    full: str, text: str, arrays: list[list[object] | None]
) -> None:
    assert from_csv(text.encode(), [column("a", "ARRAY", full)])["a"].to_pylist() == arrays


@pytest.mark.parametrize("full", ["numeric[]", "numeric(60,2)[]", "mood[]", "share", "time[]"])
def test_arrays_that_silver_has_in_another_form_have_no_rule(full: str) -> None:
    with pytest.raises(LabError, match="no exact silver type"):
        column("a", "ARRAY", full)


def test_no_rows_have_the_right_types() -> None:
    rows = from_csv(b"", [column("n", "smallint"), column("d", "numeric", precision=38, scale=9)])
    assert rows.num_rows == 0
    assert rows.schema.types == [pa.int32(), pa.decimal128(38, 9)]


def test_a_value_without_exact_form_is_an_error() -> None:
    with pytest.raises(LabError, match="no exact silver form"):
        from_csv(b"NaN\n", [column("d", "numeric", precision=8, scale=2)])


def test_csv_round_trip() -> None:
    columns = [column("t", "text"), column("n", "integer")]
    values = ["", None, 'a"b', "c,d\ne\r\n", "\\N", "NULL", "😀 \u0000"]
    rows = pa.table({"t": values, "n": pa.array(range(7), pa.int32())})
    assert from_csv(to_csv(rows), columns).to_pylist() == rows.to_pylist()


def test_row_literals() -> None:
    rows = pa.table(
        {
            "i": [1, None],
            "s": ["it's a \\", ""],
            "b": [True, False],
            "d": pa.array([Decimal("-0.10"), None], pa.decimal128(8, 2)),
            "t": pa.array([dt.datetime(2008, 1, 1, 0, 0, 0, 1), None], pa.timestamp("us")),
            "z": pa.array([dt.datetime(2008, 1, 1), None], pa.timestamp("us", "UTC")),
            "day": pa.array([dt.date(2008, 2, 28), None]),
            "x": pa.array([b"\x00'", None], pa.binary()),
            "f": [0.1, None],
        }
    )
    assert row_literals(rows).to_pylist() == [
        "(1,'it''s a \\\\',1,-0.10,'2008-01-01 00:00:00.000001','2008-01-01 00:00:00.000000',"
        "'2008-02-28',x'0027',0.1)",
        "(NULL,'',0,NULL,NULL,NULL,NULL,NULL,NULL)",
    ]


def test_nan_cannot_be_written() -> None:
    with pytest.raises(LabError, match="Column f holds NaN"):
        row_literals(pa.table({"f": [1.0, float("nan")]}))


def test_statements_stay_within_their_size() -> None:
    items = pa.chunked_array([["x" * 100_000] * 25])
    batches = list(statements("HEAD ", items, " TAIL"))
    assert [batch.count("x" * 100_000) for batch in batches] == [11, 11, 3]
    assert all(b.startswith("HEAD x") and b.endswith("x TAIL") for b in batches)
    assert list(statements("HEAD ", items.slice(0, 0))) == []


def test_types_without_a_rule_are_named() -> None:
    with pytest.raises(LabError, match=r"ecomm\.shop\.place has type geometry"):
        rule_for(MYSQL, Declared("geometry", "geometry"), "ecomm.shop.place")


@pytest.mark.parametrize(
    ("declared", "silver"),
    [
        (Declared("numeric", "numeric(38,10)", 38, 10), pa.decimal128(38, 10)),
        (Declared("numeric", "numeric"), pa.string()),
    ],
)
def test_decimals(declared: Declared, silver: pa.DataType) -> None:
    assert POSTGRES["numeric"].silver_type(declared) == silver


def test_a_decimal_of_more_digits_than_silver_has_is_text_as_the_source_writes_it() -> None:
    declared = Declared("numeric", "numeric(39,10)", 39, 10)
    rule = rule_for(POSTGRES, declared, "n")
    assert rule.silver_type(declared) == pa.string()
    assert rule.expression == "{0}", "with the zeros behind the point that it is declared with"
    assert "trim_scale" in rule_for(POSTGRES, Declared("numeric", "numeric"), "n").expression
    assert rule_for(MYSQL, Declared("decimal", "decimal(65,30)", 65, 30), "d") == rule


def test_table_names() -> None:
    assert TableRef.parse("ecomm.sale") == TableRef("ecomm", "sale")
    assert str(TableRef("ems", "event")) == "ems.event"
    for wrong in ("sale", "ecomm.", ".sale", ""):
        with pytest.raises(LabError, match="names no table"):
            TableRef.parse(wrong)
