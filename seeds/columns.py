"""Whole columns at once: the few Arrow operations that generating needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seeds.table_declarations import Table

__all__ = [
    "Flags",
    "Ints",
    "Values",
    "filled",
    "join",
    "money",
    "null_where",
    "pick",
    "pick_from",
    "stream",
    "text",
    "weighted",
    "where",
]

Ints: TypeAlias = "npt.NDArray[np.int64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Values: TypeAlias = "pa.Array[Any]"


def stream(seed: int, name: str) -> np.random.Generator:
    """Return a random stream of its own for each name, the same on every machine."""
    return np.random.Generator(np.random.PCG64([seed, *name.encode()]))


def filled(
    table: Table, columns: Sequence[npt.NDArray[np.generic] | Values | Sequence[object]]
) -> pa.Table:
    """Rows of a table from its columns in the declared order, as the declared types."""
    schema = table.arrow
    arrays = [
        (column if isinstance(column, pa.Array) else pa.array(column)).cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def pick(vocabulary: Sequence[str], chosen: Ints) -> Values:
    """Return the word at each position."""
    return pa.array(vocabulary, pa.string()).take(chosen)


def pick_from(groups: Sequence[Sequence[str]], group: Ints, rng: np.random.Generator) -> Values:
    """Draw a word of each row's group, evenly."""
    size = np.array([len(words) for words in groups])
    first = np.cumsum(size) - size
    return pick(
        [word for words in groups for word in words], first[group] + rng.integers(0, size[group])
    )


def weighted(weights: Sequence[int], count: int, rng: np.random.Generator) -> Ints:
    """Positions drawn as often as their weights say."""
    return rng.choice(len(weights), size=count, p=np.array(weights) / sum(weights))


def text(numbers: Ints, *, width: int = 0) -> Values:
    """Write each number in digits, with leading zeros up to `width`."""
    digits: Values = pa.array(numbers).cast(pa.string())
    return pc.utf8_lpad(digits, width, "0")


def join(*parts: Values | str, separator: str = "") -> Values:
    """Join the parts of each row."""
    joined: Values = pc.call_function("binary_join_element_wise", [*parts, separator])
    return joined


def where(mask: Flags, values: Values | str, otherwise: Values | str) -> Values:
    """Return the values where the mask is set, otherwise the others."""
    chosen: Values = pc.call_function("if_else", [pa.array(mask), values, otherwise])
    return chosen


def null_where(mask: Flags, values: Values) -> Values:
    """Return the values, null where the mask is set."""
    kept: Values = pc.call_function(
        "if_else", [pa.array(mask), pa.scalar(None, values.type), values]
    )
    return kept


def money(cents: Ints) -> Values:
    """Cents as `decimal(8,2)`, exactly."""
    digits: Values = pc.call_function(
        "binary_join_element_wise", [text(cents // 100), text(cents % 100, width=2), "."]
    )
    return digits.cast(pa.decimal128(8, 2))
