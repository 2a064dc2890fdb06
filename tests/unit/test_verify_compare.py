"""Comparison finds every difference and only differences."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labctl.errors import LabError
from labctl.sources.base import JSON_MARK
from labctl.verify import RowChange, changes_between, verify_table

Rows = dict[int, str | None]


def table(rows: Rows, **more: Any) -> pa.Table:
    columns: dict[str, Any] = {
        "id": pa.array(rows, pa.int32()),
        "v": pa.array(rows.values(), pa.string()),
    }
    return pa.table(columns | more)


contents = st.dictionaries(
    st.integers(-5, 5), st.one_of(st.none(), st.sampled_from(["", " ", "a", "A", "a ", "é", "é"]))
)


@settings(deadline=None, max_examples=40)
@given(contents, contents)
def test_against_plain_dictionaries(ours: Rows, theirs: Rows) -> None:
    diff = verify_table(table(ours), table(theirs), ["id"], shown=100)
    common = sorted(ours.keys() & theirs.keys())
    assert [row["id"] for row in diff.missing_keys] == sorted(ours.keys() - theirs.keys())
    assert [row["id"] for row in diff.extra_keys] == sorted(theirs.keys() - ours.keys())
    assert diff.changes == tuple(
        RowChange({"id": key}, {"v": (ours[key], theirs[key])})
        for key in common
        if ours[key] != theirs[key]
    )
    assert diff.equal == (ours == theirs)


@settings(deadline=None, max_examples=40)
@given(contents, contents)
def test_changes_between_lead_from_one_to_the_other(wanted: Rows, present: Rows) -> None:
    put, gone = changes_between(table(wanted), table(present), ["id"])
    removed = {row["id"] for row in gone.to_pylist()}
    result = {key: value for key, value in present.items() if key not in removed}
    result.update((row["id"], row["v"]) for row in put.to_pylist())
    assert result == wanted
    assert removed <= present.keys()
    assert put.num_rows + gone.num_rows <= len(wanted) + len(present.keys() - wanted.keys())


def of(kind: pa.DataType, *values: object) -> pa.Table:
    return pa.table({"id": range(len(values)), "v": pa.array(values, kind)})


NAN = float("nan")
ARRAY = pa.list_(pa.field("array", pa.int64()))
"""As silver calls the elements."""
NOON = dt.datetime(2008, 1, 1, 12, 0, 0, 1)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (of(pa.int16(), 1, None), of(pa.int64(), 1, None)),
        (of(pa.float64(), NAN, -0.0, 0.5, None), of(pa.float64(), NAN, -0.0, 0.5, None)),
        (of(pa.float32(), 0.1, NAN), of(pa.float32(), 0.1, NAN)),
        (of(pa.decimal128(8, 2), Decimal("1.50")), of(pa.decimal128(12, 4), Decimal("1.5000"))),
        (of(pa.timestamp("us"), NOON), of(pa.timestamp("us", "UTC"), NOON)),
        (
            of(pa.timestamp("ms"), dt.datetime(2008, 1, 1)),
            of(pa.timestamp("us"), dt.datetime(2008, 1, 1)),
        ),
        (of(pa.string(), "é", "", None), of(pa.large_string(), "é", "", None)),
        (of(pa.string(), "x", None), of(pa.dictionary(pa.int8(), pa.string()), "x", None)),
        (of(pa.binary(), b"\x00", b""), of(pa.large_binary(), b"\x00", b"")),
        (of(pa.bool_(), True, False, None), of(pa.int32(), 1, 0, None)),
        (of(pa.list_(pa.int32()), [1, None], [], None, [2]), of(ARRAY, [1, None], [], None, [2])),
        (of(ARRAY, [], None), of(ARRAY, [], None)),
        (of(pa.list_(pa.float32()), [NAN, -0.0]), of(pa.list_(pa.float64()), [NAN, -0.0])),
        (of(ARRAY, [1], None, [2, 3]).slice(1), of(ARRAY, [1], None, [2, 3]).slice(1)),
        (
            of(pa.list_(pa.decimal128(8, 2)), [Decimal("1.50"), None]),
            of(pa.list_(pa.decimal128(12, 4)), [Decimal("1.5000"), None]),
        ),
        # A column of text that got another type at its source.
        (of(pa.int32(), 7, -1, None), of(pa.string(), "7", "-1", None)),
        (of(pa.date32(), NOON.date()), of(pa.string(), "2008-01-01")),
    ],
)
def test_equal_whatever_the_representation(ours: pa.Table, theirs: pa.Table) -> None:
    assert verify_table(ours, theirs, ["id"]).equal


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (of(pa.float64(), 0.0), of(pa.float64(), -0.0)),
        (of(pa.float64(), NAN), of(pa.float64(), None)),
        (of(pa.float64(), 0.1), of(pa.float64(), math.nextafter(0.1, 1))),
        (of(pa.string(), "NY"), of(pa.string(), "NY ")),
        (of(pa.string(), "é"), of(pa.string(), "e\u0301")),
        (of(pa.string(), ""), of(pa.string(), None)),
        (of(pa.binary(), b""), of(pa.binary(), None)),
        (of(pa.decimal128(8, 2), Decimal("1.50")), of(pa.decimal128(8, 3), Decimal("1.501"))),
        (of(pa.timestamp("us"), NOON), of(pa.timestamp("us"), NOON.replace(microsecond=2))),
        (of(pa.bool_(), True), of(pa.int32(), 2)),
        (of(ARRAY, []), of(ARRAY, None)),
        (of(ARRAY, []), of(ARRAY, [None])),
        (of(ARRAY, [1, None]), of(ARRAY, [None, 1])),
        (of(ARRAY, [1, 2]), of(ARRAY, [1])),
        (of(pa.list_(pa.float64()), [0.0]), of(pa.list_(pa.float64()), [-0.0])),
        (of(pa.int32(), 7), of(pa.string(), "07")),
    ],
)
def test_different_by_the_smallest_thing(ours: pa.Table, theirs: pa.Table) -> None:
    diff = verify_table(ours, theirs, ["id"])
    assert (diff.missing, diff.extra, diff.different) == (0, 0, 1)
    (change,) = diff.changes
    assert list(change.columns) == ["v"]
    json.dumps(diff.to_dict())


def test_types_that_cannot_be_compared_are_named() -> None:
    diff = verify_table(of(pa.string(), "1"), of(pa.int32(), 1), ["id"])
    assert diff.columns_incomparable == ("v: string, int32",)
    assert not diff.equal


def json_of(text: str) -> pa.Table:
    plain = of(pa.string(), text)
    marked = plain.schema.field("v").with_metadata({JSON_MARK: b"1"})
    return plain.cast(plain.schema.set(plain.schema.get_field_index("v"), marked))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ('{"b": 1.10, "a": [1, null]}', '{"a":[1,null],"b":1.1}'),
        ("1", "1.0"),
        ("1e15", "1000000000000000"),
        ("1e100", str(int(1e100))),
        ("0.1", "0.1000000000000000055511151231257827021181583404541015625"),
        ('"\\u0041"', '"A"'),
        ("-0.0", "-0"),
    ],
)
def test_json_is_equal_whatever_its_text(ours: str, theirs: str) -> None:
    assert verify_table(json_of(ours), of(pa.string(), theirs), ["id"]).equal
    assert verify_table(of(pa.string(), ours), of(pa.string(), theirs), ["id"]).different == 1


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("1", '"1"'),
        ('"n1"', "1"),
        ("0.0", "-0.0"),
        ("9223372036854775808", "9223372036854776000"),
        ("18446744073709551615", "18446744073709551616"),
        ("1.12345678901234567890", "1.12345678901234567891"),
        ("[1, 2]", "[2, 1]"),
        ("null", "{}"),
        ('{"a": null}', "{}"),
        ("[]", "no JSON"),
        ("true", "1"),
    ],
)
def test_json_differs_by_the_smallest_thing(ours: str, theirs: str) -> None:
    assert verify_table(json_of(ours), of(pa.string(), theirs), ["id"]).different == 1


def test_values_that_silver_has_no_form_for_are_named() -> None:
    diff = verify_table(of(pa.int32(), None), of(pa.int32(), None), ["id"], lost=["v: 1 zero date"])
    assert diff.columns_incomparable == ("v: 1 zero date",)
    assert diff.rows_equal
    assert not diff.equal


def test_bookkeeping_is_left_out_and_soft_deletes_are_absent() -> None:
    silver = table(
        {1: "a", 2: "b", 3: "c"},
        __op=["c", "d", "u"],
        __deleted=["false", "true", None],
        _hoodie_commit_time=["1", "2", "3"],
    )
    diff = verify_table(table({1: "a", 3: "c"}), silver, ["id"])
    assert diff.equal
    assert diff.columns_extra == ()
    assert diff.silver_rows == 2


@pytest.mark.parametrize("flags", [["true", "false"], [True, False]])
def test_a_deleted_row_is_missing(flags: list[object]) -> None:
    diff = verify_table(table({1: "a", 2: "b"}), table({1: "a", 2: "b"}, __deleted=flags), ["id"])
    assert diff.missing_keys == ({"id": 1},)


def test_a_key_that_silver_has_twice() -> None:
    silver = pa.concat_tables([table({1: "a", 2: "b"}), table({2: "b"})])
    diff = verify_table(table({1: "a", 2: "b"}), silver, ["id"])
    assert (diff.duplicated, diff.duplicated_keys, diff.rows) == (1, ({"id": 2},), 1)
    assert not diff.equal


def test_columns_on_one_side_only() -> None:
    more = verify_table(table({1: "a"}, new=[1]), table({1: "a"}), ["id"])
    assert (more.columns_missing, more.equal) == (("new",), False)
    some = verify_table(table({1: "a", 2: "b"}, new=[None, 1]), table({1: "a", 2: "b"}), ["id"])
    assert (some.columns_missing, some.columns_awaited, some.equal) == (("new",), (), False)
    none = verify_table(table({1: "a"}, new=[None]), table({1: "a"}), ["id"])
    assert (none.columns_missing, none.columns_awaited, none.equal) == ((), ("new",), True)
    dropped = verify_table(table({1: "a"}), table({1: "a"}, old=[1]), ["id"])
    assert (dropped.columns_extra, dropped.equal) == (("old",), True)


def test_keys_of_several_columns() -> None:
    ours = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"], "v": [1.0, 2.0, 3.0]})
    theirs = pa.table({"b": ["x", "y"], "a": [2, 1], "v": [3.0, 9.0]})
    diff = verify_table(ours, theirs, ["a", "b"])
    assert diff.missing_keys == ({"a": 1, "b": "x"},)
    assert diff.changes == (RowChange({"a": 1, "b": "y"}, {"v": (2.0, 9.0)}),)


def test_counts_are_complete_and_names_limited() -> None:
    diff = verify_table(table(dict.fromkeys(range(1000), "x")), table({}), ["id"], shown=3)
    assert diff.missing == 1000
    assert diff.missing_keys == ({"id": 0}, {"id": 1}, {"id": 2})


def test_values_are_shown_exactly() -> None:
    ours = pa.table(
        {
            "id": [1],
            "d": pa.array([Decimal("0.10")]),
            "t": pa.array([dt.datetime(2008, 1, 1)], pa.timestamp("us")),
            "b": [b"\x01"],
            "f": [NAN],
        }
    )
    theirs = pa.table({"id": [1]} | {n: pa.nulls(1, ours[n].type) for n in "dtbf"})
    (change,) = verify_table(ours, theirs, ["id"]).changes
    assert change.columns == {
        "d": ("0.10", None),
        "t": ("2008-01-01 00:00:00.000000", None),
        "b": ("01", None),
        "f": ("nan", None),
    }


def test_keys_must_be_there_and_unique() -> None:
    with pytest.raises(LabError, match="silver table has no key column id"):
        verify_table(table({1: "a"}), pa.table({"v": ["a"]}), ["id"])
    with pytest.raises(LabError, match="key column cannot be compared by its type: id: citext"):
        verify_table(pa.table({"v": ["a"]}), table({1: "a"}), ["id"], unread=["id: citext"])
    with pytest.raises(LabError, match="no key column at all"):
        verify_table(table({1: "a"}), table({1: "a"}), [])
    with pytest.raises(LabError, match="more than one row with the key"):
        verify_table(pa.concat_tables([table({1: "a"})] * 2), table({1: "a"}), ["id"])
    with pytest.raises(LabError, match="key column cannot be compared"):
        verify_table(table({1: "a"}), pa.table({"id": [1.0], "v": ["a"]}), ["id"])


def test_empty_tables_are_equal() -> None:
    assert verify_table(table({}), table({}), ["id"]).equal


def test_lists_with_what_python_has_no_value_for_are_shown() -> None:
    def of(*days: int | None) -> pa.Table:
        lists = pa.array([[*days], None], pa.list_(pa.int32())).cast(pa.list_(pa.date32()))
        return pa.table({"id": pa.array([1, 2], pa.int32()), "v": lists})

    diff = verify_table(of(0, None, -735_000), of(0, None), ["id"])
    (change,) = diff.changes
    ours, theirs = change.columns["v"]
    assert "-0043-08-22" in str(ours)
    assert "1970" in str(theirs)
