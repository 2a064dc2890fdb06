"""Comparisons as filter expressions of Arrow."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from sqlapi.source import Comparison

__all__ = ["expressions"]

_OPERATORS: dict[str, Any] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def expressions(where: Sequence[Comparison]) -> list[pc.Expression]:
    """Return an Arrow expression per comparison. A null meets none of them."""
    return [_OPERATORS[sign](pc.field(column), int(number)) for column, sign, number in where]
