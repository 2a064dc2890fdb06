"""Glue's partition expressions: `year = 2024 AND (kind <> 'a')`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["ExpressionError", "partition_filter"]

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(<>|!=|>=|<=|=|>|<|\(|\))|([^\s'<>=!()]+))\s*")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "!=": operator.ne, ">=": operator.ge, "<=": operator.le,
    ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_Values = Sequence[str]


class ExpressionError(ValueError):
    """The expression is not supported; the message is the expression."""


def partition_filter(keys: Sequence[str], expression: str) -> Callable[[_Values], bool]:
    """Return a function that tells for a partition's values whether the expression selects it.

    An expression has comparisons joined by AND, each with or without parentheses. Integers are
    compared as numbers. Raises ExpressionError.
    """
    words = [word for word in _tokens(expression) if word not in ("(", ")")]
    tests = [_comparison(term, keys, expression) for term in _terms(words)]
    return lambda values: all(test(values) for test in tests)


def _tokens(expression: str) -> list[str]:
    found, at, depth = [], 0, 0
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if not match:
            raise ExpressionError(expression)
        sign = match[0].strip()
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            raise ExpressionError(expression)
        found.append(sign)
        at = match.end()
    if depth:
        raise ExpressionError(expression)
    return found


def _terms(words: Sequence[str]) -> list[list[str]]:
    """Split the words at AND."""
    terms: list[list[str]] = [[]]
    for word in words:
        if word.upper() == "AND":
            terms.append([])
        else:
            terms[-1].append(word)
    return terms


def _comparison(
    term: Sequence[str], keys: Sequence[str], expression: str
) -> Callable[[_Values], bool]:
    if len(term) != 3 or term[0].lower() not in keys or term[1] not in _TESTS:
        raise ExpressionError(expression)
    index, test = keys.index(term[0].lower()), _TESTS[term[1]]
    wanted = term[2]
    if wanted.startswith("'"):
        wanted = wanted[1:-1].replace("''", "'")

    def holds(values: _Values) -> bool:
        value = values[index] if index < len(values) else ""
        if _WHOLE.fullmatch(value) and _WHOLE.fullmatch(wanted):
            return test(int(value), int(wanted))
        return test(value, wanted)

    return holds
