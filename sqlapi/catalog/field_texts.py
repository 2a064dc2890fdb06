"""Values of text files, converted as Hive's LazySimpleSerDe converts them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import pyarrow as pa

from sqlapi.sql.arrow import arrow_type, of_texts
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type

__all__ = ["converted", "of_partition"]

_BITS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,80}\.?[0-9]{0,80}|\.[0-9]{1,80})(?:[eE][+-]?[0-9]{1,2})?")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Infinity|NaN")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?")
_DIGITS = 90


def converted(column: pa.ChunkedArray[Any], kind: Type) -> pa.ChunkedArray[Any]:
    """Return strings as values of a type; a string that is no such value becomes NULL.

    Raises SqlError for a type that text files do not have here.
    """
    if kind.name == "varchar":
        return column
    return of_texts(column, _conversion(kind), arrow_type(kind))


def of_partition(column: pa.ChunkedArray[Any], kind: Type) -> pa.ChunkedArray[Any]:
    """Return the values of a partition key. Raises SqlError for a string that is no such value."""
    made = converted(column, kind)
    if made.null_count != column.null_count:
        raise SqlError(
            "HIVE_INVALID_PARTITION_VALUE", f"A partition's value is not of the type {kind}"
        )
    return made


def _conversion(kind: Type) -> Callable[[str], Any]:
    if kind.name in _BITS:
        most = 1 << (_BITS[kind.name] - 1)
        return lambda text: _whole(text, most)
    if kind.name == "decimal":
        return lambda text: _decimal(text, kind.size or 0, kind.scale)
    if kind.name in _OTHERS:
        return _OTHERS[kind.name]
    raise SqlError("NOT_SUPPORTED", f"Columns of type {kind} in text files are not read")


def _whole(text: str, most: int) -> int | None:
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and -most <= number < most else None


def _decimal(text: str, digits: int, scale: int) -> Decimal | None:
    if not _DECIMAL.fullmatch(text):
        return None
    with localcontext() as context:
        context.prec = 4 * _DIGITS
        number = Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        return number if abs(number) < Decimal(10) ** (digits - scale) else None


def _float(text: str) -> float | None:
    return float(text) if _FLOAT.fullmatch(text) else None


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _timestamp(text: str) -> datetime | None:
    if not _TIME.fullmatch(text):
        return None
    whole, _, fraction = text.partition(".")
    try:
        moment = datetime.fromisoformat(whole)
    except ValueError:
        return None
    return moment.replace(microsecond=int(fraction.ljust(3, "0")[:3]) * 1000)


_OTHERS: dict[str, Callable[[str], Any]] = {
    "real": _float, "double": _float, "boolean": _boolean, "date": _date, "timestamp": _timestamp,
}  # fmt: skip
