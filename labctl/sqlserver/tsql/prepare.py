"""Rewriting of T-SQL that sqlglot does not parse: `SET a += 1`, `$5`, `0x`, `UPDATE TOP (n)`."""

from __future__ import annotations

from collections.abc import Sequence

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.tsql.lexer import Token, tokenize

__all__ = ["prepare"]

_COMPOUND = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}
_ENDS_EXPRESSION = {"FROM", "WHERE", "OUTPUT", "OPTION", "WHEN", "ORDER", "GROUP"}


def prepare(text: str) -> tuple[str, str | None]:
    """Return the statement in a form that sqlglot parses, and the limit of UPDATE/DELETE TOP."""
    tokens = tokenize(text)
    top = None
    pieces: list[str] = []
    position = skipped = 0
    outputs = any(t.key == "OUTPUT" for t in tokens)
    while position < len(tokens):
        token = tokens[position]
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.key in {"UPDATE", "DELETE", "INSERT"} and following and following.key == "TOP":
            if token.key == "INSERT" or top is not None:
                raise unsupported(f"{token.key} TOP")
            end = _closing(tokens, position + 2)
            top = text[tokens[position + 2].start + 1 : tokens[end].start]
            pieces.append(text[skipped : token.end])
            skipped, position = tokens[end].end, end
        elif token.key == "DELETE" and following and following.key == "FROM" and outputs:
            pieces.append(text[skipped : token.end])
            skipped, position = following.end, position + 1
        elif token.key in _COMPOUND:
            start = _operand_start(tokens, position)
            end = _expression_end(tokens, position + 1)
            if end == position + 1:
                raise SqlError(102, f"Incorrect syntax near '{token.text}'.", severity=15)
            target = text[tokens[start].start : tokens[position - 1].end]
            value = text[tokens[position + 1].start : tokens[end - 1].end]
            pieces.append(f"{text[skipped : token.start]}= {target} {token.text[0]} ({value})")
            skipped, position = tokens[end - 1].end, end - 1
        elif token.text in {"0x", "0X"}:
            pieces.append(f"{text[skipped : token.start]}CAST('' AS varbinary(1))")
            skipped = token.end
        elif token.text[:1] == "$" and token.text[1:2].isdigit():
            pieces.append(text[skipped : token.start] + " ")
            skipped = token.start + 1
        position += 1
    pieces.append(text[skipped:])
    return "".join(pieces), top


def _closing(tokens: Sequence[Token], start: int) -> int:
    if start >= len(tokens) or tokens[start].key != "(":
        raise SqlError(102, "Incorrect syntax near 'TOP'.", severity=15)
    depth = 0
    for position in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[position].key, 0)
        if depth == 0:
            return position
    raise SqlError(102, "Incorrect syntax near 'TOP'.", severity=15)


def _operand_start(tokens: Sequence[Token], operator: int) -> int:
    start = operator - 1
    while start >= 2 and tokens[start - 1].key == ".":
        start -= 2
    return start


def _expression_end(tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for position in range(start, len(tokens)):
        key = tokens[position].key
        depth += {"(": 1, ")": -1}.get(key, 0)
        if depth < 0 or (depth == 0 and (key in {",", ";"} or key in _ENDS_EXPRESSION)):
            return position
    return len(tokens)
