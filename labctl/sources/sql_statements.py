"""A statement of a script, and the splitting of SQL into statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import Token

__all__ = ["Statement", "tokenized"]


@dataclass(frozen=True)
class Statement:
    """A statement of a script, or a batch."""

    text: str
    line: int
    """Line on which it begins, counted from 1."""


def tokenized(text: str, dialect: str, first: int) -> Iterator[Statement]:
    """Yield the statements of a text that begins in line `first`. A semicolon ends one.

    Semicolons in quotes, comments and dollar quotes do not count, by the rules of `dialect`, one of
    sqlglot's. Raises ValueError for an unclosed quote.
    """
    from sqlglot import TokenType, tokenize
    from sqlglot.errors import TokenError

    try:
        tokens = tokenize(text, read=dialect)
    except TokenError as error:
        raise ValueError(f"it is no SQL: {error}") from None

    line, counted = first, 0

    def statement(part: Sequence[Token]) -> Statement:
        nonlocal line, counted
        start, end = part[0].start, part[-1].end + 1
        line, counted = line + text.count("\n", counted, start), start
        return Statement(text[start:end], line)

    begun: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            begun.append(token)
        elif begun:
            yield statement(begun)
            begun = []
    if begun:
        yield statement(begun)
