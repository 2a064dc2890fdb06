"""The record keys that a table can keep apart, and the class that makes a text of each.

Hudi's own classes write the value of a single column, and `a:x,b:y` of several. They escape
nothing, and have words of their own for an empty part and for null. They refuse a key without any
content, and with it the whole commit. Hudi's bucket index never finds the end of some texts with
commas and colons. The classes in `java` write the same, but escape what would be ambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyspark.sql.types import BinaryType, DataType, StringType, StructType

from lakecontract.partitions import COMPLEX, NONPARTITIONED, SIMPLE

__all__ = ["RecordKeys", "distinct_generator", "endless", "have_text", "is_distinct"]

_DISTINCT = {
    "": "lakehouse.NonpartitionedKeys",
    NONPARTITIONED: "lakehouse.NonpartitionedKeys",
    SIMPLE: "lakehouse.SimpleKeys",
    COMPLEX: "lakehouse.ComplexKeys",
}
"""The class that keeps all keys apart, by Hudi's class."""


def distinct_generator(generator: str) -> str:
    """Return the class that writes what Hudi's class `generator` does, but keeps keys apart."""
    return _DISTINCT[generator]


def is_distinct(generator: str) -> bool:
    """Return whether a class of that name keeps all keys apart."""
    return generator in _DISTINCT.values()


def endless(*, is_alone: bool) -> str:
    """Return the pattern of texts with a comma whose end Hudi's bucket index never finds.

    The index takes each colon as the end of a column's name, and then continues after the last
    comma before the next colon. `is_alone`: the text is the whole key; else it is the last of
    several columns.
    """
    begin = "^[^:]*:" if is_alone else "^[^,]*,[^:]*:"
    return f"{begin}([^,]*,[^:]*:)*[^,]*:[^,]*(,[^:]*)?$"


def have_text(keys: Sequence[str], columns: StructType) -> bool:
    """Return whether a key's text may need escaping: only text, or bytes, may."""
    kinds = _kinds(keys, columns).values()
    return any(isinstance(kind, StringType | BinaryType) for kind in kinds)


@dataclass
class RecordKeys:
    """The record keys of one table."""

    columns: tuple[str, ...]
    are_distinct: bool = True
    """True if the table's class keeps all of them apart. A table begun with Hudi's own class
    continues with it: with the other class, a row of it could be written a second time."""

    def problem(self, columns: StructType, value: Callable[[str], str]) -> str:
        """Return Spark SQL for the problem with a row's key, as a text; null if there is none.

        `columns` has the types of the rows; `value` returns Spark SQL for the value of one column.
        """
        first = self.columns[0]
        cases = [(f"{value(first)} IS NULL", _text(f"its record key {first} is null"))]
        if not self.are_distinct:
            cases += _mixed_up(self.columns, _kinds(self.columns, columns), value)
        return f"CASE {' '.join(f'WHEN {test} THEN {why}' for test, why in cases)} END"


def _kinds(keys: Sequence[str], columns: StructType) -> dict[str, DataType]:
    return {name: columns[name].dataType for name in keys if name in columns.names}


def _mixed_up(
    keys: Sequence[str], kinds: Mapping[str, DataType], value: Callable[[str], str]
) -> list[tuple[str, str]]:
    """Return what Hudi's classes cannot keep apart: conditions with reasons, in Spark SQL."""
    cases = []
    again = "`labctl table rebuild` writes the table with keys that are kept apart"
    if all(isinstance(kind, StringType | BinaryType) for kind in kinds.values()):
        empty = " AND ".join(f"coalesce(length({value(name)}), 0) = 0" for name in kinds)
        why = f"its record key {', '.join(kinds)} is empty, which Hudi refuses: {again}"
        cases.append((empty or "FALSE", _text(why)))
    if len(keys) > 1:
        for name in (name for name, kind in kinds.items() if isinstance(kind, StringType)):
            why = f"its record key {name} is a word that Hudi writes for an empty text or for null"
            cases.append((f"{value(name)} IN ('__empty__', '__null__')", _text(f"{why}: {again}")))
    for name, following in pairwise(keys):
        if isinstance(kinds.get(name), StringType):
            # Otherwise this key and another one could be the same text.
            end = _text(f",{following}:")
            told = f", and Hudi cannot tell where it ends and {following} begins: {again}"
            shown = f"concat({_text(f'its record key {name} is ')}, {value(name)}, {_text(told)})"
            cases.append((f"instr({value(name)}, {end}) > 0", shown))
    if isinstance(kinds.get(keys[-1]), StringType):
        last = value(keys[-1])
        told = f", and Hudi would never find where it ends: {again}"
        shown = f"concat({_text(f'its record key {keys[-1]} is ')}, {last}, {_text(told)})"
        pattern = _text(endless(is_alone=len(keys) == 1))
        cases.append((f"instr({last}, ',') > 0 AND {last} RLIKE {pattern}", shown))
    return cases


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
