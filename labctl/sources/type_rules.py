"""The rule by which a source type arrives in silver; each engine's folder has its own.

A `TypeRule` says which Arrow type a source column's values have in silver and how to read them
from the database as text without losing a digit, a microsecond or a blank. Readers, comparisons
and the documentation follow these rules. They agree with the connectors' settings: exact decimals
(`decimal.handling.mode=precise`) and microseconds
(`time.precision.mode=adaptive_time_microseconds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from labctl.errors import LabError
from labctl.sources.arrays import ARRAY, element_of, elements_sql, lost_sql
from labctl.sources.base import Declared, SourceColumn

__all__ = [
    "DECIMAL",
    "INSTANT_NOTE",
    "INT",
    "JULIAN_NOTE",
    "LONG",
    "SMALL",
    "TEXT",
    "TIMESTAMP_NOTE",
    "TypeRule",
    "declared_decimal",
    "rule_for",
]


@dataclass(frozen=True)
class TypeRule:
    """A source type: its type in silver, and how it is read."""

    silver: pa.DataType | Callable[[Declared], pa.DataType]
    """The Arrow type in silver, or a function that derives it from the declared type."""
    wire: pa.DataType | None = None
    """Type as which the database's text is read, if it is converted afterwards (a timestamp is
    read as microseconds); None: the silver type itself."""
    expression: str = "{0}"
    """SQL expression that selects the value as that text; `{0}` is the quoted column."""
    note: str = ""
    """Note for readers of silver."""
    is_lossy: bool = False
    """True if silver stores some values less exactly than the source."""
    is_json: bool = False
    """True if values are compared as JSON and not as text."""
    element: SourceColumn | None = None
    """An array's element, which says how elements are read from the text; else None."""
    lost: str = ""
    """SQL condition for values that silver has no form for; they are read as NULL."""
    lost_as: tuple[str, str] = ("zero date, NULL in silver", "zero dates, NULL in silver")
    """Description of one such value, and of several."""

    def silver_type(self, declared: Declared) -> pa.DataType:
        """Return the Arrow type of a column with this declared type."""
        return self.silver if isinstance(self.silver, pa.DataType) else self.silver(declared)


_MAX_PRECISION = 38


def declared_decimal(declared: Declared) -> pa.DataType:
    """Return the type of a decimal: text if no size is declared, or one that silver cannot hold."""
    if declared.precision is None or declared.scale is None or _is_wide(declared):
        return pa.string()
    return pa.decimal128(declared.precision, declared.scale)


def _is_wide(declared: Declared) -> bool:
    return (declared.precision or 0) > _MAX_PRECISION


SMALL = TypeRule(pa.int32(), note="Avro has no integer below 32 bits")
INT = TypeRule(pa.int32())
LONG = TypeRule(pa.int64())
TEXT = TypeRule(pa.string())
DECIMAL = TypeRule(
    declared_decimal,
    note="every digit kept; as text where more than 38 are declared, or no size is",
)
_WIDE = TypeRule(pa.string(), note="every digit kept, as text: silver's decimals have 38 digits")
TIMESTAMP_NOTE = "microseconds kept; the wall clock as stored, without a time zone"
INSTANT_NOTE = "an instant, in UTC"
JULIAN_NOTE = "Debezium's first load shows 5 to 14 October 1582 ten days later, streaming does not"


def rule_for(rules: Mapping[str, TypeRule], declared: Declared, column: str) -> TypeRule:
    """Return the rule for a column's type; raise `LabError` if silver has no exact type for it."""
    try:
        if declared.name == ARRAY and (element := element_of(rules, declared)) is not None:
            return TypeRule(
                pa.list_(element.arrow),
                pa.string(),
                elements_sql(element),
                element=element,
                lost=lost_sql(element),
                lost_as=("array that silver has no form for", "arrays that silver has no form for"),
            )
        rule = rules[declared.name]
        return _WIDE if rule.silver is declared_decimal and _is_wide(declared) else rule
    except KeyError:
        raise LabError(
            f"Column {column} has type {declared.full}, which has no exact silver type here.",
            hint="exclude the column from capture, or add a rule in the engine's folder",
        ) from None
