"""Conversion of JSON to one form, in which exactly the equal values are equal.

MySQL and Debezium write the same value differently: with other blanks and orders of members, and a
double as `1e100` or with all its digits. Numbers are compared by value, as MySQL itself compares 1
with 1.0.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

from labctl.verify.alike import AnyColumn

__all__ = ["as_json"]

_INTEGERS = range(-(2**63), 2**64)
"""Integers that MySQL keeps exactly. Beyond, a number is a double, or a decimal with its digits."""


class _Number(str):
    """A number's text as it stands in a document."""

    __slots__ = ()


def as_json(column: AnyColumn) -> AnyColumn:
    """Return a column of JSON text with equal documents written equally. Nulls stay."""
    texts = (None if text is None else _document(text) for text in column.to_pylist())
    return pa.chunked_array([pa.array(texts, pa.string())])


def _document(text: str) -> str:
    try:
        value = json.loads(text, parse_int=_Number, parse_float=_Number)
    except ValueError:
        return text
    return json.dumps(_tagged(value), sort_keys=True)


def _tagged(value: Any) -> Any:
    """Return a value in which text and numbers differ by their first letter."""
    match value:
        case _Number():
            return f"n{_number(value)}"
        case str():
            return f"s{value}"
        case list():
            return [_tagged(item) for item in value]
        case dict():
            return {key: _tagged(item) for key, item in value.items()}
        case _:
            return value


def _number(text: str) -> str:
    exact = Decimal(text)
    if exact.is_zero():
        return "-0" if exact.is_signed() else "0"
    if exact == exact.to_integral_value() and int(exact) in _INTEGERS:
        return str(int(exact))
    near = float(text)
    if math.isfinite(near) and exact in (Decimal(near), Decimal(repr(near))):
        return near.hex()
    digits = f"{exact:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
