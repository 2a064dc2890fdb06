"""Recognition of numbers that no decimal of silver holds: PostgreSQL's numeric NaN and infinities,
and SQL Server's of more digits than a column had when its capture instance was made.

`labctl.SpecialNumbers` (`labctl/kafkaconnect/plugin`) sends them. In a column of p digits each is a
number of p + 1 digits, and the column's schema has a parameter that says so. Where no size is
declared, each is a number without bytes, whose scale tells what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from lakecontract.wide_decimals import MOST_DIGITS, exact_decimal, scaled_text

__all__ = ["VARIABLE", "Special", "declared", "is_marked", "special_name", "with_room"]

_PARAMETER = "labctl.special"
_NAMES: Mapping[int, str] = {
    1: "NaN",
    2: "Infinity",
    3: "-Infinity",
    4: "a value that Debezium does not send",
    5: "a number of more digits than its column had when its capture instance was made",
}
_EXACT = Context(prec=2000)
"""An exact context: PostgreSQL declares 1000 digits at most."""
_Sql = Callable[[str], str]
"""Function that makes Spark SQL from the Spark SQL of the raw number."""


@dataclass(frozen=True, slots=True)
class Special:
    """The reading of a number that may be special. The last two are for one that is not."""

    is_special: _Sql
    name: _Sql
    """The value as the source shows it."""
    column: _Sql
    element: _Sql

    def value(self) -> str:
        """Return the template of a column's value; null for a special value."""
        return f"CASE WHEN NOT ({self.is_special('{0}')}) THEN {self.column('{0}')} END"

    def values(self) -> str:
        """Return the template of an array's value; null if it has a special value."""
        found = f"exists({{0}}, t -> coalesce({self.is_special('t')}, FALSE))"
        return f"CASE WHEN NOT {found} THEN transform({{0}}, t -> {self.element('t')}) END"

    def shown(self) -> str:
        """Return the template of a column's value, as a sentence about it shows it."""
        return self.name("{0}")

    def all_shown(self) -> str:
        """Return the template of an array's value, as a sentence about it shows it."""
        return f"concat_ws(',', transform({{0}}, t -> coalesce({self.name('t')}, 'NULL')))"


def special_name(scale: int) -> str:
    """Return the meaning of a number without bytes, by its scale."""
    return _NAMES.get(scale, "unknown")


def is_marked(node: Mapping[str, Any]) -> bool:
    """Return whether an Avro type is of a column of declared size with special values."""
    return _PARAMETER in node.get("connect.parameters", {})


def with_room(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Avro type of a marked column as one that has room for special values."""
    if node["precision"] < MOST_DIGITS:
        return {**node, "precision": node["precision"] + 1}
    return {key: value for key, value in node.items() if key != "logicalType"}


def declared(digits: int, scale: int) -> Special:
    """Return the reading of a column of a declared size, by a type `with_room`."""
    if digits >= MOST_DIGITS:
        return _of_bytes(digits, scale)
    kind = f"DECIMAL({digits},{scale})"
    names = {
        f"{format(_EXACT.scaleb(Decimal(what), digits - scale), 'f')}BD": name
        for what, name in _NAMES.items()
    }
    return Special(
        lambda raw: f"{raw} IS NOT NULL AND TRY_CAST({raw} AS {kind}) IS NULL",
        lambda raw: _named(raw, names, f"CAST({raw} AS STRING)"),
        *(lambda raw: f"CAST({raw} AS {kind})",) * 2,
    )


def _of_bytes(digits: int, scale: int) -> Special:
    names = {_bytes(what * 10**digits): name for what, name in _NAMES.items()}
    is_wide = digits > MOST_DIGITS
    return Special(
        lambda raw: f"{raw} IN ({', '.join(names)})",
        lambda raw: _named(raw, names, f"hex({raw})"),
        lambda raw: scaled_text(raw, str(scale)) if is_wide else exact_decimal(raw, scale),
        lambda raw: raw if is_wide else exact_decimal(raw, scale),
    )


def _named(raw: str, names: Mapping[str, str], other: str) -> str:
    cases = " ".join(f"WHEN {value} THEN '{name}'" for value, name in names.items())
    return f"CASE {raw} {cases} ELSE {other} END"


def _bytes(number: int) -> str:
    """Return Spark SQL of a decimal's bytes."""
    return f"X'{number.to_bytes(number.bit_length() // 8 + 1, 'big', signed=True).hex()}'"


_TEXTS = ", ".join(f"'{name}'" for name in _NAMES.values())
VARIABLE = Special(
    lambda raw: f"length({raw}.value) = 0",
    lambda raw: (
        f"IF(length({raw}.value) = 0, element_at(array({_TEXTS}), "
        f"{raw}.scale), CAST({raw} AS STRING))"
    ),
    lambda raw: scaled_text(f"{raw}.value", f"{raw}.scale"),
    lambda raw: raw,
)
"""The reading of a column without a declared size."""
