"""Glue's partition expressions: `year = 2024 AND (kind IN ('a', 'b') OR NOT day LIKE '2024-%')`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

__all__ = ["ExpressionError", "partition_filter"]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*+')|(?P<sign><>|!=|>=|<=|[=><(),])"
    r"|(?P<quoted>\"[^\"]+\"|`[^`]+`)|(?P<word>[^\s'\"`<>=!(),]+))\s*"
)
_NUMBER = re.compile(r"[+-]?[0-9]{1,38}(?:\.[0-9]{1,38})?")
_NUMERIC = re.compile(r"tinyint|smallint|int|integer|bigint|long|float|double|decimal(?:\(.*\))?")
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "!=": operator.ne, ">=": operator.ge, "<=": operator.le,
    ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_LONGEST, _DEEPEST = 2048, 50
_Values = Sequence[str]
_Test = Callable[[_Values], bool | None]
"""A function that returns None, SQL's unknown, for a comparison with NULL."""
_Token = tuple[str, str]
"""A token's kind and its text."""


class ExpressionError(ValueError):
    """The expression is not supported; the message is the expression."""


def partition_filter(keys: Mapping[str, str], expression: str) -> Callable[[_Values], bool]:
    """Return a function that tells for a partition's values whether the expression selects it.

    `keys` are the types of the partition keys by name, in their order. Keys of numbers are
    compared as numbers, others as strings. An expression has comparisons, IN, BETWEEN, LIKE and
    IS NULL, joined by AND, OR and NOT. Raises ExpressionError.
    """
    test = _Parser(keys, expression).whole()
    return lambda values: test(values) is True


class _Parser:
    def __init__(self, keys: Mapping[str, str], expression: str) -> None:
        self._keys = {name.lower(): kind.strip().lower() for name, kind in keys.items()}
        self._expression = expression
        self._at, self._depth = 0, 0
        if len(expression) > _LONGEST:
            raise ExpressionError(f"{expression[:100]}…")
        self._tokens: list[_Token] = []
        at = 0
        while at < len(expression):
            found = _TOKEN.match(expression, at)
            if not found:
                raise self._wrong()
            kind = str(found.lastgroup)
            text = found[kind]
            if kind == "text":
                text = text[1:-1].replace("''", "'")
            self._tokens.append((kind, text[1:-1] if kind == "quoted" else text))
            at = found.end()

    def _wrong(self) -> ExpressionError:
        return ExpressionError(self._expression)

    def _take(self, *words: str) -> bool:
        """Pass over words or signs if they are next."""
        there = self._tokens[self._at : self._at + len(words)]
        if [text.upper() for kind, text in there if kind in ("word", "sign")] != list(words):
            return False
        self._at += len(words)
        return True

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._wrong()

    def _one(self) -> _Token:
        if self._at >= len(self._tokens):
            raise self._wrong()
        self._at += 1
        return self._tokens[self._at - 1]

    def whole(self) -> _Test:
        test = self._or()
        if self._at < len(self._tokens):
            raise self._wrong()
        return test

    def _or(self) -> _Test:
        tests = [self._and()]
        while self._take("OR"):
            tests.append(self._and())
        return tests[0] if len(tests) == 1 else _any(tests)

    def _and(self) -> _Test:
        tests = [self._not()]
        while self._take("AND"):
            tests.append(self._not())
        return tests[0] if len(tests) == 1 else _all(tests)

    def _not(self) -> _Test:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong()
        try:
            if self._take("NOT"):
                return _turned(self._not(), is_not=True)
            if self._take("("):
                test = self._or()
                self._need(")")
                return test
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> _Test:
        first = self._one()
        if not self._is_key(first):
            sign = self._one()[1]
            key = self._one()
            if sign not in _TESTS or not self._is_key(key):
                raise self._wrong()
            return self._compared(key[1], _TURNED.get(sign, sign), first)
        name = first[1]
        if self._take("IS"):
            is_not = self._take("NOT")
            self._need("NULL")
            at = list(self._keys).index(name.lower())
            return lambda values: (_value(values, at) is None) != is_not
        is_not = self._take("NOT")
        if self._take("IN"):
            return _turned(self._in(name), is_not=is_not)
        if self._take("BETWEEN"):
            low = self._compared(name, ">=", self._one())
            self._need("AND")
            high = self._compared(name, "<=", self._one())
            return _turned(_all([low, high]), is_not=is_not)
        if self._take("LIKE"):
            return _turned(self._like(name), is_not=is_not)
        sign = self._one()[1]
        if is_not or sign not in _TESTS:
            raise self._wrong()
        return self._compared(name, sign, self._one())

    def _is_key(self, token: _Token) -> bool:
        return token[0] in ("word", "quoted") and token[1].lower() in self._keys

    def _in(self, name: str) -> _Test:
        self._need("(")
        tests = [self._compared(name, "=", self._one())]
        while self._take(","):
            tests.append(self._compared(name, "=", self._one()))
        self._need(")")
        return _any(tests)

    def _like(self, name: str) -> _Test:
        kind, pattern = self._one()
        if kind != "text":
            raise self._wrong()
        at = list(self._keys).index(name.lower())
        parts = [part.split("_") for part in pattern.split("%")]

        def holds(values: _Values) -> bool | None:
            value = _value(values, at)
            return None if value is None else _like(value, parts)

        return holds

    def _compared(self, name: str, sign: str, literal: _Token) -> _Test:
        kind, text = literal
        if kind not in ("text", "word") or (kind == "word" and not _NUMBER.fullmatch(text)):
            raise self._wrong()
        at, test = list(self._keys).index(name.lower()), _TESTS[sign]
        numeric = _NUMERIC.fullmatch(self._keys[name.lower()]) is not None
        if numeric and not _NUMBER.fullmatch(text):
            raise self._wrong()
        wanted = Decimal(text) if numeric else text

        def holds(values: _Values) -> bool | None:
            value = _value(values, at)
            if value is None or (numeric and not _NUMBER.fullmatch(value)):
                return None
            return test(Decimal(value) if numeric else value, wanted)

        return holds


def _value(values: _Values, at: int) -> str | None:
    value = values[at] if at < len(values) else _NO_VALUE
    return None if value == _NO_VALUE else value


def _turned(test: _Test, *, is_not: bool) -> _Test:
    def turned(values: _Values) -> bool | None:
        found = test(values)
        return None if found is None else not found

    return turned if is_not else test


def _any(tests: Sequence[_Test]) -> _Test:
    def holds(values: _Values) -> bool | None:
        found = [test(values) for test in tests]
        return True if True in found else None if None in found else False

    return holds


def _all(tests: Sequence[_Test]) -> _Test:
    def holds(values: _Values) -> bool | None:
        found = [test(values) for test in tests]
        return False if False in found else None if None in found else True

    return holds


def _like(value: str, parts: Sequence[Sequence[str]]) -> bool:
    """Return whether a string matches a pattern, split at `%` and then at `_`.

    Each part is taken at its first place, so that the time is bounded without backtracking.
    """
    first, *between = parts
    if not between:
        return _begins(value, 0, first) == len(value)
    at = _begins(value, 0, first)
    if at is None:
        return False
    *inner, last = between
    for part in inner:
        ends = (_begins(value, start, part) for start in range(at, len(value) + 1))
        at = next((end for end in ends if end is not None), None)
        if at is None:
            return False
    start = len(value) - sum(map(len, last)) - len(last) + 1
    return start >= at and _begins(value, start, last) == len(value)


def _begins(value: str, at: int, part: Sequence[str]) -> int | None:
    """Return the end of a part that begins at `at`, or None if it does not."""
    for number, text in enumerate(part):
        if number:
            at += 1
        if at > len(value) or not value.startswith(text, at):
            return None
        at += len(text)
    return at if at <= len(value) else None
