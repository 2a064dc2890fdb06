"""The second comparison: values of both sides in one form."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from labctl.conformance.forms import silver_value, source_field, source_value
from labctl.conformance.row_comparison import differences
from labctl.engine_names import EngineName


@pytest.mark.parametrize(
    ("form", "source", "silver"),
    [
        ("integer", "7", 7),
        ("decimal", "1.10", Decimal("1.1000")),
        ("decimal", "1.5", "1.50"),
        ("float32", "3.4028235e+38", 3.4028234663852886e38),
        ("float64", "NaN", float("nan")),
        ("boolean", "true", True),
        ("bytes", "00FF", b"\x00\xff"),
        ("date", "2008-02-29", dt.date(2008, 2, 29)),
        ("timestamp", "1969-12-31 23:59:59.999999", -1),
        ("instant", "2008-03-30 02:30:00+00", 1_206_844_200_000_000),
        ("instant", "2008-03-30 02:30:00.0000000 +05:45", 1_206_823_500_000_000),
        ("nanoseconds", "1970-01-01 00:00:00.000001", 1000),
        ("time", "-00:00:01", -1_000_000),
        ("time", "838:59:59", 3_020_399_000_000),
        ("json", '{"b": 1, "a": 1.0}', '{"a":1.0,"b":1}'),
        ("text", None, None),
        ("date", "0000-00-00", None),
        ("date", "2008-00-00", None),
        ("timestamp", "0000-00-00 00:00:00.000", None),
        ("instant", "2008-03-00 00:00:00", None),
        ("timestamp", dt.datetime(2008, 3, 30, 2, 30, 0, 1), 1_206_844_200_000_001),
        (
            "instant",
            dt.datetime(1970, 1, 1, 1, 0, 0, 1, dt.timezone(dt.timedelta(hours=1))),
            1,
        ),
        ("float64", -0.0, -0.0),
        ("bits", "000000001", b"\x01\x00"),
        ("bits", "100000000", b"\x00\x01"),
        ("bits", "", b""),
        ("bits", "1", True),
        ("bits", 2**64 - 1, b"\xff" * 8),
        ("utc_time", "12:34:56+02", "10:34:56Z"),
        ("utc_time", "00:00:00+15:59", "08:01:00Z"),
        ("utc_time", "23:59:59.999999-15:59", "15:58:59.999999Z"),
        ("interval", "1 mon -1 days +00:00:00.000001", "P0Y1M-1DT0H0M0.000001S"),
        ("interval", "-178000000 years", "P-178000000Y0M0DT0H0M0S"),
        ("interval", "1 year 2 mons -3 days -04:05:06.000007", "P1Y2M-3DT-4H-5M-6.000007S"),
        ("money", "-$9,999.50", "-9999.50"),
        ("point", "(-1e+300,1e-300)", {"x": -1e300, "y": 1e-300, "wkb": b"", "srid": None}),
        ("wkb", "E610000001AB", {"srid": 4326, "wkb": b"\x01\xab"}),
        ("wkb", "0000000001", {"srid": None, "wkb": b"\x01"}),
        ("vector", "0000803F000020C0", [1.0, -2.5]),
        ("hstore", '{"a": null, "b c": "d,e"}', '{"b c":"d,e","a":null}'),
        ("integer[]", "[1,null]", [1, None]),
        ("decimal[]", "[1.10,12345678901234567890.5]", ["1.1", Decimal("12345678901234567890.5")]),
        ("decimal[]", f"[{2**200}]", [{"scale": 0, "value": (2**200).to_bytes(26, "big")}]),
        ("decimal[]", "[-1.10]", [{"scale": 1, "value": b"\xf5"}]),
        ("instant[]", '["2008-03-30T01:00:00+00:00"]', ["2008-03-30T01:00:00.000000Z"]),
        ("date[]", '["2008-02-29"]', [dt.date(2008, 2, 29)]),
        (
            "instant[]",
            '["2008-03-30T01:00:00+00:00"]',
            [dt.datetime(2008, 3, 30, 1, tzinfo=dt.UTC)],
        ),
        ("text[]", '[null,""]', [None, ""]),
    ],
)
def test_equal_values_have_one_form(form: str, source: Any, silver: Any) -> None:
    assert source_value(form, source) == silver_value(form, silver)


@pytest.mark.parametrize(
    ("form", "source", "silver"),
    [
        ("float64", "-0", 0.0),
        ("date", "infinity", dt.date(9999, 12, 31)),
        ("date", "0044-03-15 BC", dt.date(44, 3, 15)),
        ("timestamp", "infinity", 9_223_372_036_854_775_807),
        ("text", "a ", "a"),
        ("text", "", None),
        ("text", "0000-00-00", None),
        ("date", "2000-01-01", None),
        ("decimal", "NaN", None),
        ("integer", "7", "seven"),
        ("bits", "000000001", b"\x00\x01"),
        ("interval", "1 day", "P0Y0M2DT0H0M0S"),
        ("vector", "00000080", [0.0]),
        ("integer[]", "[[1,2]]", [1, 2]),
        ("decimal[]", '["NaN"]', [None]),
        ("text[]", '["NULL"]', [None]),
        ("wkb", "E610000001", {"srid": 0, "wkb": b"\x01"}),
    ],
)
def test_other_values_have_another_form(form: str, source: Any, silver: Any) -> None:
    assert source_value(form, source) != silver_value(form, silver)


@pytest.mark.parametrize(
    ("engine", "form", "field"),
    [
        ("mysql", "float32", "CAST(c AS DOUBLE)"),
        ("mysql", "float64", "c"),
        ("sqlserver", "instant", "c"),
        ("sqlserver", "nanoseconds", "CONVERT(varchar(40), c)"),
    ],
)
def test_numbers_and_times_are_read_without_losing_any_of_them(
    engine: EngineName, form: str, field: str
) -> None:
    """`+ 0E0` made 0 of MySQL's -0, and a style cut microseconds off."""
    assert source_field(engine, form, "c") == field


def test_text_that_postgresql_pads_is_read_with_its_blanks() -> None:
    assert source_field("postgres", "padded", '"c"') == 'textin(bpcharout("c"))'


def test_differences_are_named_by_row_and_column() -> None:
    source = {("1",): {"id": 1, "a": "x"}, ("2",): {"id": 2, "a": "y"}}
    assert differences(source, source) == []
    silver = {("1",): {"id": 1, "a": "z"}, ("3",): {"id": 3, "a": "y"}}
    assert differences(source, silver) == [
        "row 2 is missing in silver",
        "row 3 is only in silver",
        "row 1, column a: x in the source, z in silver",
    ]


def test_true_is_not_one() -> None:
    assert differences({("1",): {"a": 1}}, {("1",): {"a": True}})
