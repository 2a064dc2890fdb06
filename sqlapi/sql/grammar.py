"""Checks for what sqlglot's parser accepts and Trino's grammar does not.

They look at the tokens of a statement before it is parsed: from the tree alone, `a::varchar` and
`cast(a as varchar)` are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from sqlglot.tokenizer_core import TokenType

from sqlapi.sql.statement_errors import SqlError

__all__ = ["TYPE_NAMES", "check_tokens"]

_TYPES = """
array bigint boolean char date decimal double int integer json map real row smallint time timestamp
tinyint varbinary varchar
"""
TYPE_NAMES = frozenset(("double precision", *_TYPES.split()))
"""The first words of types that are translated; sqlglot also knows names of other engines."""
_RESERVED_WORDS = """
alter and as between by case cast constraint create cross cube current_catalog current_date
current_path current_role current_schema current_time current_timestamp current_user deallocate
delete describe distinct drop else end escape except execute exists extract false for from full
group grouping having in inner insert intersect into is join json_array json_exists json_object
json_query json_table json_value left like listagg localtime localtimestamp natural normalize
not null on or order outer prepare recursive right rollup select skip table then trim true
uescape union unnest using values when where with
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
"""Trino's reserved words, which are names only in quotes."""
_OPERATORS = {"::", "==", "<=>", "!", "&&", "~", "//", "??", "->>", "#>", "@>", "<@"}
_WORDS = (TokenType.ISNULL, TokenType.NOTNULL)
_AFTER_LIST = (
    TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY,
    TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.UNION, TokenType.EXCEPT,
    TokenType.INTERSECT, TokenType.SEMICOLON,
)  # fmt: skip
_NO_ALIAS = (
    TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN, TokenType.COMMA, TokenType.SEMICOLON,
)  # fmt: skip
_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_VALUES = (TokenType.STRING, TokenType.NUMBER)


def check_tokens(sql: str, given: Sequence[Any]) -> None:
    """Raise SqlError for tokens that stand in no statement of Trino, or are misread by sqlglot."""
    before = None
    for index, (token, following) in enumerate(zip_longest(given, given[1:])):
        _check_number(sql, token, following)
        _check_operator(token)
        _check_name(token, following)
        if token.token_type == TokenType.COMMA and (
            following is None or following.token_type in _AFTER_LIST
        ):
            raise _mismatched(following or token)
        if token.token_type == TokenType.FROM and (
            before is None or before.token_type == TokenType.L_PAREN
        ):
            # sqlglot reads a missing SELECT as SELECT *
            raise _mismatched(token)
        if token.token_type == TokenType.INTERVAL:
            _check_interval(given[index + 1 : index + 4])
        if token.token_type == TokenType.HEX_STRING and len(token.text) % 2:
            raise SqlError("SYNTAX_ERROR", "Binary literal must contain an even number of digits")
        before = token


def _mismatched(token: Any) -> SqlError:
    position = (token.line, max(1, token.col - len(token.text) + 1))
    return SqlError("SYNTAX_ERROR", f"mismatched input '{token.text[:50]}'", position=position)


def _check_operator(token: Any) -> None:
    if token.token_type == TokenType.IDENTIFIER or token.token_type in _VALUES:
        return
    if token.text in _OPERATORS:
        raise _mismatched(token)
    if token.token_type in _WORDS:
        raise SqlError("NOT_SUPPORTED", f"{token.text} is not supported")


def _check_name(token: Any, following: Any) -> None:
    """Raise SqlError for an unquoted name with `$`, or after AS for what is no name."""
    if token.token_type == TokenType.VAR and "$" in token.text:
        position = (token.line, token.col - len(token.text) + 1)
        raise SqlError("SYNTAX_ERROR", "mismatched input '$'", position=position)
    if token.token_type == TokenType.ALIAS and (
        following is None
        or following.token_type in _NO_ALIAS
        or (
            following.token_type != TokenType.IDENTIFIER
            and following.text.lower().partition(" ")[0] in _RESERVED
        )
    ):
        raise _mismatched(following or token)
    is_tested = token.token_type == TokenType.IS and following is not None
    if is_tested and following.text.upper() == "UNKNOWN":
        raise _mismatched(following)


def _check_interval(following: Sequence[Any]) -> None:
    """Raise SqlError for `INTERVAL '7 days'` and the like; the unit is a word of its own."""
    signed = following and following[0].token_type in (TokenType.DASH, TokenType.PLUS)
    rest = following[1:] if signed else following[:2]
    if not rest or rest[0].token_type not in _VALUES:
        # a column or an alias of this name
        return
    if rest[0].token_type == TokenType.NUMBER:
        raise _mismatched(rest[0])
    if len(rest) < 2 or rest[1].text.upper() not in _UNITS:
        raise SqlError("TYPE_NOT_FOUND", f"Unknown type: interval '{rest[0].text[:50]}'")


def _check_number(sql: str, token: Any, following: Any) -> None:
    """Raise SqlError for 0x1F, 0b11 and the like, which sqlglot misreads."""
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
