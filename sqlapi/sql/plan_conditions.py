"""Conditions as DuckDB's `json_serialize_sql` tells them: which of them compare a whole number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlapi.source import Comparison

__all__ = ["whole_number_comparisons"]

_OPERATORS = {
    "COMPARE_EQUAL": "=", "COMPARE_LESSTHAN": "<", "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">", "COMPARE_GREATERTHANOREQUALTO": ">=",
}  # fmt: skip


def whole_number_comparisons(condition: Mapping[str, Any]) -> Iterator[Comparison]:
    """Those that every row which meets `condition` meets."""
    if condition["type"] == "CONJUNCTION_AND":
        for child in condition["children"]:
            yield from whole_number_comparisons(child)
    elif found := _comparison(condition):
        yield found


def _comparison(term: Mapping[str, Any]) -> Comparison | None:
    """`column operator number`, the way round in which DuckDB's optimizer puts it."""
    operator = _OPERATORS.get(term["type"])
    if operator is None or term["left"]["type"] != "COLUMN_REF":
        return None
    literal = term["right"].get("literal", {})
    if literal.get("kind") != "INTEGER":
        return None
    return str(term["left"]["column_names"][-1]), operator, str(literal["text"])
