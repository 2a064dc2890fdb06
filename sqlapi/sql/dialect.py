"""Athena's grammar: sqlglot's Trino, with every function call left as it was written."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.trino import Trino
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.trino import TrinoParser
from sqlglot.tokenizer_core import TokenType

from sqlapi.sql.errors import SqlError

__all__ = ["AthenaText", "TypedLiteral", "bound", "parse_query", "tokens"]


class TypedLiteral(exp.Cast):
    """`DECIMAL '1.50'` or `TIMESTAMP '…'`: the text decides the precision, as in no CAST."""


def _typed(parser: Any, this: exp.Expr, to: exp.DataType) -> exp.Expr:
    made: exp.Expr = parser.expression(TypedLiteral(this=this, to=to))
    return made


class AthenaText(Trino):
    """Names and arguments of functions stay what they are, so that the translation decides."""

    INDEX_OFFSET = 0

    class Parser(TrinoParser):
        """Knows no function, and none that is parsed in a way of its own where it need not be."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parse
            for name, parse in TrinoParser.FUNCTION_PARSERS.items()
            if name in {"CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "LISTAGG"}
        }
        TYPE_LITERAL_PARSERS: ClassVar[dict[Any, Any]] = {
            **TrinoParser.TYPE_LITERAL_PARSERS,
            **dict.fromkeys(
                (exp.DType.DECIMAL, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ), _typed
            ),
        }


def parse_query(sql: str) -> exp.Expr:
    """The tree of one SELECT (or VALUES, or TABLE) statement. Raises SqlError (SYNTAX_ERROR)."""
    trees = _parse(sql)
    if len(trees) != 1:
        raise SqlError("SYNTAX_ERROR", "line 1:1: Only one sql statement is allowed.")
    tree = trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        raise SqlError("SYNTAX_ERROR", "line 1:1: mismatched input. Expecting: a query")
    return tree


def bound(value: str) -> str:
    """Return the SQL that stands for a parameter's value, whatever stands beside it.

    A value of several tokens, such as `-1`, is put in parentheses, so that no operator around it
    takes a part of it away; comments are left out. Raises SqlError (SYNTAX_ERROR) for what is not
    one expression.
    """
    found = tokens(value)
    inner = value[found[0].start : found[-1].end + 1] if found else ""
    query = parse_query(f"select ({inner}\n)")
    selected = query.expressions if isinstance(query, exp.Select) else []
    tree = selected[0] if len(selected) == 1 and not query.args.get("from_") else None
    is_value = isinstance(tree, exp.Paren) and not isinstance(tree.this, exp.Alias | exp.Star)
    if tree is None or not is_value or tree.find(exp.Query, exp.Placeholder):
        raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{value}'")
    for column in tree.find_all(exp.Column):
        if column.find_ancestor(exp.Lambda) is None:
            raise SqlError("COLUMN_NOT_FOUND", f"Column '{column.name}' cannot be resolved")
    is_literal = isinstance(tree.this, exp.Literal | exp.Null | exp.Boolean)
    return inner if is_literal and len(found) == 1 else f"({inner}\n)"


def tokens(sql: str) -> list[Any]:
    """Return the tokens of a text. Raises SqlError (SYNTAX_ERROR)."""
    try:
        return list(AthenaText().tokenize(sql))
    except Exception as error:
        raise SqlError("SYNTAX_ERROR", f"line 1:1: {str(error).splitlines()[0]}") from None


def _parse(sql: str) -> list[exp.Expr]:
    try:
        _check_numbers(sql, AthenaText().tokenize(sql))
        return [tree for tree in sqlglot.parse(sql, read=AthenaText) if tree is not None]
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        position = (int(first.get("line") or 1), int(first.get("col") or 1))
        near = first.get("highlight") or ""
        raise SqlError("SYNTAX_ERROR", f"mismatched input '{near}'", position=position) from None
    except (TokenError, RecursionError) as error:
        raise SqlError("SYNTAX_ERROR", f"line 1:1: {str(error).splitlines()[0]}") from None


def _check_numbers(sql: str, tokens: list[Any]) -> None:
    """Raises SqlError for 0x1F, 0b11 and the like, which sqlglot takes for something else."""
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.token_type == TokenType.HEX_STRING and sql[token.start] == "0":
            raise SqlError("NOT_SUPPORTED", f"Number 0x{token.text} is not supported")
        if (
            token.token_type == TokenType.NUMBER
            and following is not None
            and following.start == token.end + 1
            and (following.text[:1].isalpha() or following.text[:1] == "_")
        ):
            found = token.text + following.text
            raise SqlError("NOT_SUPPORTED", f"Number {found} is not supported")
