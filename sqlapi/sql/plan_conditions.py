"""Comparisons with a number or a string in conditions of DuckDB's `json_serialize_sql`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlapi.source import Comparison

__all__ = ["texts_of", "whole_number_comparisons"]

_OPERATORS = {
    "COMPARE_EQUAL": "=", "COMPARE_LESSTHAN": "<", "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">", "COMPARE_GREATERTHANOREQUALTO": ">=",
}  # fmt: skip


def whole_number_comparisons(condition: Mapping[str, Any]) -> Iterator[Comparison]:
    """Yield comparisons that all rows which meet `condition` meet."""
    if condition["type"] == "CONJUNCTION_AND":
        for child in condition["children"]:
            yield from whole_number_comparisons(child)
    elif found := _comparison(condition):
        yield found


def texts_of(condition: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return, by column, the strings of which each row that meets `condition` has one."""
    kind, children = condition["type"], condition.get("children") or []
    if kind == "CONJUNCTION_AND":
        both: dict[str, frozenset[str]] = {}
        for found in map(texts_of, children):
            for column, values in found.items():
                both[column] = both[column] & values if column in both else values
        return both
    if kind == "CONJUNCTION_OR" and children:
        first, *others = map(texts_of, children)
        return {
            column: values.union(*(other[column] for other in others))
            for column, values in first.items()
            if all(column in other for other in others)
        }
    if kind != "COMPARE_EQUAL" or condition["left"]["type"] != "COLUMN_REF":
        return {}
    literal = condition["right"].get("literal", {})
    if literal.get("kind") != "STRING":
        return {}
    return {str(condition["left"]["column_names"][-1]): frozenset([str(literal["text"])])}


def _comparison(term: Mapping[str, Any]) -> Comparison | None:
    """Return a term `column operator number`, in the order that DuckDB's optimizer uses."""
    operator = _OPERATORS.get(term["type"])
    if operator is None or term["left"]["type"] != "COLUMN_REF":
        return None
    literal = term["right"].get("literal", {})
    if literal.get("kind") != "INTEGER":
        return None
    return str(term["left"]["column_names"][-1]), operator, str(literal["text"])
