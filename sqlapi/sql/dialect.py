"""Athena's grammar: sqlglot's Trino, with every function call left as it was written."""

from __future__ import annotations

from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.trino import Trino
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.trino import TrinoParser

from sqlapi.sql.errors import SqlError

__all__ = ["AthenaText", "parse_expression", "parse_query"]


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


def parse_query(sql: str) -> exp.Expr:
    """The tree of one SELECT (or VALUES, or TABLE) statement. Raises SqlError (SYNTAX_ERROR)."""
    trees = _parse(sql)
    if len(trees) != 1:
        raise SqlError("SYNTAX_ERROR", "line 1:1: Only one sql statement is allowed.")
    tree = trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        raise SqlError("SYNTAX_ERROR", "line 1:1: mismatched input. Expecting: a query")
    return tree


def parse_expression(sql: str) -> exp.Expr:
    """The tree of an expression alone. Raises SqlError (SYNTAX_ERROR)."""
    query = parse_query(f"select {sql}")
    found = query.expressions
    if len(found) != 1 or query.args.get("from_"):
        raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{sql}'")
    tree: exp.Expr = found[0]
    return tree


def _parse(sql: str) -> list[exp.Expr]:
    try:
        return [tree for tree in sqlglot.parse(sql, read=AthenaText) if tree is not None]
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        position = (int(first.get("line") or 1), int(first.get("col") or 1))
        near = first.get("highlight") or ""
        raise SqlError("SYNTAX_ERROR", f"mismatched input '{near}'", position=position) from None
    except (TokenError, RecursionError) as error:
        raise SqlError("SYNTAX_ERROR", f"line 1:1: {str(error).splitlines()[0]}") from None
