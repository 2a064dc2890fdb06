"""Athena's grammar: sqlglot's Trino dialect, which leaves function calls as they are written."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.trino import Trino
from sqlglot.errors import ParseError
from sqlglot.parsers.trino import TrinoParser
from sqlglot.tokenizer_core import TokenType

from sqlapi.sql.budget import check_length, too_deep
from sqlapi.sql.grammar import check_tokens
from sqlapi.sql.json_calls import PARSERS as JSON_PARSERS
from sqlapi.sql.statement_errors import SqlError

__all__ = ["AthenaText", "TypedLiteral", "bound", "parse_query", "shown", "tokens"]


# sqlglot would write clients' statements into the service's log
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
_READ_AGAIN = 20_000
"""Tokens over which the parser may backtrack, in addition to four per token of the statement."""
_CONSTRUCTED = (TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT, TokenType.ROW)
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET)
_DEEPER, _HIGHER = (*_OPENING, TokenType.CASE), (
    TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END,
)  # fmt: skip
_PREFIXES = (TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.JOIN)
_DEPTH, _RUN = 60, 300
_CLAUSES = ("joins", "where", "group", "having", "windows", "order", "offset", "limit")
"""The clauses of a query in the order in which Trino's grammar has them."""
WRITTEN = "written"
"""Key of a type's metadata: its first word, as it was written."""


class TypedLiteral(exp.Cast):
    """`DECIMAL '1.50'` or `TIMESTAMP '…'`; unlike in CAST, the text decides the precision."""


def _typed(parser: Any, this: exp.Expr, to: exp.DataType) -> exp.Expr:
    made: exp.Expr = parser.expression(TypedLiteral(this=this, to=to))
    return made


class AthenaText(Trino):
    """Dialect that keeps functions' names and arguments, so that the translation decides."""

    INDEX_OFFSET = 0

    class Parser(TrinoParser):
        """Parser without known functions, except those that need a syntax of their own."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parse
            for name, parse in TrinoParser.FUNCTION_PARSERS.items()
            if name in {"CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "LISTAGG"}
        } | JSON_PARSERS
        TYPE_LITERAL_PARSERS: ClassVar[dict[Any, Any]] = {
            **TrinoParser.TYPE_LITERAL_PARSERS,
            **dict.fromkeys(
                (exp.DType.DECIMAL, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ), _typed
            ),
        }

        def reset(self) -> None:
            super().reset()
            self._read_again = 0

        def _retreat(self, index: int) -> None:
            self._read_again += max(0, self._index - index)
            if self._read_again > _READ_AGAIN + 4 * self._tokens_size:
                raise too_deep()
            super()._retreat(index)

        def _parse_types(self, check_func: bool = False, *args: Any, **named: Any) -> Any:
            constructed = self._curr.token_type in _CONSTRUCTED
            if check_func and constructed and self._next.token_type in _OPENING:
                # this is a value: to try it as a type first takes 2^n attempts for n nested ones
                return None
            first, following = self._curr, self._next
            found = super()._parse_types(check_func, *args, **named)
            if isinstance(found, exp.DataType):
                is_foreign = self._prev.token_type == TokenType.R_BRACKET or (
                    first.text.lower() == "row" and following.token_type == TokenType.LT
                )
                found.meta[WRITTEN] = (
                    "another notation" if is_foreign else " ".join(first.text.lower().split())
                )
            return found

        def _parse_query_modifiers(self, this: Any) -> Any:
            if isinstance(this, exp.Query):
                for key in _CLAUSES:
                    if not this.args.get(key):
                        this.args.pop(key, None)
            found = super()._parse_query_modifiers(this)
            if isinstance(found, exp.Query):
                # the clauses are in the order in which they were read
                read = [key for key, value in found.args.items() if key in _CLAUSES and value]
                if read != sorted(read, key=_CLAUSES.index):
                    raise SqlError("SYNTAX_ERROR", f"mismatched input {read[-1].upper()}")
            return found

        def _parse_join(self, *args: Any, **named: Any) -> Any:
            is_comma = self._curr.token_type == TokenType.COMMA
            found = super()._parse_join(*args, **named)
            if isinstance(found, exp.Join) and not is_comma and not found.args.get("method"):
                has_condition = bool(found.args.get("on") or found.args.get("using"))
                if has_condition == (found.kind == "CROSS"):
                    raise SqlError("SYNTAX_ERROR", "A join needs ON or USING, CROSS JOIN has none")
            return found


def shown(tree: exp.Expr) -> str:
    """Return the start of a tree's SQL for an error, or its class if Trino has no such SQL."""
    try:
        return tree.sql("trino")[:100]
    except (ValueError, RecursionError):
        return type(tree).__name__


def parse_query(sql: str) -> exp.Expr:
    """Parse one SELECT, VALUES or TABLE statement. Raises SqlError (SYNTAX_ERROR)."""
    trees = _parse(sql)
    if len(trees) != 1:
        raise SqlError("SYNTAX_ERROR", "line 1:1: Only one sql statement is allowed.")
    tree = trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        raise SqlError("SYNTAX_ERROR", "line 1:1: mismatched input. Expecting: a query")
    return tree


def bound(value: str) -> str:
    """Return a parameter's value as SQL that is safe within any expression.

    A value of several tokens, such as `-1`, is put in parentheses, so that no operator beside it
    binds to a part of it. Comments are left out. Raises SqlError (SYNTAX_ERROR) for anything but
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
    check_length(sql)
    try:
        return list(AthenaText().tokenize(sql))
    except Exception as error:
        raise SqlError("SYNTAX_ERROR", f"line 1:1: {str(error).splitlines()[0]}") from None


def _parse(sql: str) -> list[exp.Expr]:
    given = tokens(sql)
    _check_depth(given)
    check_tokens(sql, given)
    try:
        return [tree for tree in sqlglot.parse(sql, read=AthenaText) if tree is not None]
    except SqlError:
        raise
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        position = (int(first.get("line") or 1), int(first.get("col") or 1))
        near = first.get("highlight") or ""
        raise SqlError("SYNTAX_ERROR", f"mismatched input '{near}'", position=position) from None
    except RecursionError:
        raise too_deep() from None
    except Exception as error:
        # for some texts, the parser raises other errors than its own
        raise SqlError("SYNTAX_ERROR", f"line 1:1: the statement cannot be read: {error}") from None


def _check_depth(given: list[Any]) -> None:
    """Raise SqlError if brackets, CASE or signs are nested too deeply for the parser.

    This is below the recursion limit, beyond which errors are arbitrary.
    """
    depth = run = 0
    for token in given:
        kind = token.token_type
        depth += (kind in _DEEPER) - (kind in _HIGHER)
        run = run + 1 if kind in _PREFIXES else 0
        if depth > _DEPTH or run > _RUN:
            raise too_deep()
