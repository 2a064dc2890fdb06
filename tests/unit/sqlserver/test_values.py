"""Values there and back: what a client sends, and what a row carries."""

from __future__ import annotations

import struct
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labctl.sqlserver.session.rows import encoder
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.wire.parameter_values import read_value
from labctl.sqlserver.wire.reader import Reader
from labctl.sqlserver.wire.tokens import parameter_type


def _there_and_back(kind: SqlType, binary: bytes | None) -> str | None:
    """A PostgreSQL value, encoded for a row, then read as a parameter of the same type."""
    data = parameter_type(kind) + encoder(kind, "")(binary)
    reader = Reader(data)
    found, value = read_value(reader)
    assert not reader
    assert found.name == kind.name
    return value


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
@pytest.mark.parametrize("name", ["varchar", "nvarchar"])
@pytest.mark.parametrize("length", [-1, 4000])
def test_text(name: str, length: int, text: str) -> None:
    assert _there_and_back(SqlType(name, length=length), text.encode()) == text


@given(st.integers(-(2**63), 2**63 - 1))
def test_bigint(number: int) -> None:
    assert _there_and_back(SqlType("bigint"), struct.pack(">q", number)) == str(number)


def _numeric(value: Decimal) -> bytes:
    """PostgreSQL's binary numeric."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    text = "".join(map(str, digits)).rjust(scale + 1, "0")
    whole, fraction = (text[:-scale], text[-scale:]) if scale else (text, "")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int((whole + fraction)[n : n + 4]) for n in range(0, len(whole + fraction), 4)]
    weight = len(whole) // 4 - 1
    head = struct.pack(">HhHH", len(groups), weight, 0x4000 if sign else 0, scale)
    return head + struct.pack(f">{len(groups)}H", *groups)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20),
                   max_value=10**20))  # fmt: skip
def test_decimal(value: Decimal) -> None:
    found = _there_and_back(SqlType("decimal", precision=38, scale=4), _numeric(value))
    assert found is not None
    assert Decimal(found) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**14),
                   max_value=10**14))  # fmt: skip
def test_money(value: Decimal) -> None:
    found = _there_and_back(SqlType("money"), _numeric(value))
    assert found is not None
    assert Decimal(found) == value


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_datetime2(value: datetime) -> None:
    microseconds = (value - datetime(2000, 1, 1)) // timedelta(microseconds=1)
    found = _there_and_back(SqlType("datetime2", scale=7), struct.pack(">q", microseconds))
    assert found == f"{value.date()} {value.strftime('%H:%M:%S.%f')}0"


@given(st.dates())
def test_date(value: date) -> None:
    days = (value - date(2000, 1, 1)).days
    assert _there_and_back(SqlType("date"), struct.pack(">i", days)) == str(value)


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.integers(-840, 840),
)
def test_datetimeoffset(value: datetime, offset: int) -> None:
    sign = "-" if offset < 0 else "+"
    zone = f"{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    text = f"{value.isoformat(' ', 'microseconds')}0 {zone}"
    assert _there_and_back(SqlType("datetimeoffset", scale=7), text.encode()) == text


@pytest.mark.parametrize(
    "kind",
    [
        SqlType("bit"), SqlType("int"), SqlType("float"), SqlType("money"), SqlType("datetime"),
        SqlType("decimal", precision=9, scale=2), SqlType("varchar", length=5),
        SqlType("nvarchar", length=-1), SqlType("varbinary", length=-1), SqlType("date"),
        SqlType("time", scale=3), SqlType("datetimeoffset", scale=7), SqlType("uniqueidentifier"),
    ],
    ids=SqlType.declared,
)  # fmt: skip
def test_null(kind: SqlType) -> None:
    assert _there_and_back(kind, None) is None
