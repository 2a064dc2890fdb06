"""Which keys Hudi can keep apart.

It makes one text of a key: the value of a single column; of several `a:x,b:y`, with no escape, and
with words of its own for an empty part and for null. It refuses a key without any content, and with
it the whole commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from pyspark.sql.types import BinaryType, StringType, StructType

__all__ = ["key_problem"]


def key_problem(keys: Sequence[str], columns: StructType, value: Callable[[str], str]) -> str:
    """Return Spark SQL of what is wrong with a row's key, as a text; null where nothing is.

    `columns` has the types of the rows, `value` gives Spark SQL for the value of one of them.
    """
    kinds = {name: columns[name].dataType for name in keys if name in columns.names}
    cases = [(f"{value(keys[0])} IS NULL", _text(f"its record key {keys[0]} is null"))]
    if all(isinstance(kind, StringType | BinaryType) for kind in kinds.values()):
        empty = " AND ".join(f"coalesce(length({value(name)}), 0) = 0" for name in kinds)
        why = f"its record key {', '.join(kinds)} is empty, and Hudi keeps no row without a key"
        cases.append((empty or "FALSE", _text(why)))
    if len(keys) > 1:
        for name in (name for name, kind in kinds.items() if isinstance(kind, StringType)):
            why = f"its record key {name} is a word that Hudi writes for an empty text or for null"
            cases.append((f"{value(name)} IN ('__empty__', '__null__')", _text(why)))
    for name, following in pairwise(keys):
        if isinstance(kinds.get(name), StringType):
            # Otherwise this key and another one could be the same text.
            end = _text(f",{following}:")
            told = _text(f", and Hudi cannot tell where it ends and {following} begins")
            shown = f"concat({_text(f'its record key {name} is ')}, {value(name)}, {told})"
            cases.append((f"instr({value(name)}, {end}) > 0", shown))
    return f"CASE {' '.join(f'WHEN {test} THEN {why}' for test, why in cases)} END"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
