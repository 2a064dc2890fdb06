"""One SELECT in Athena's SQL, as DuckDB's SQL over named tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlapi.sql.budget import budget, spend, too_deep
from sqlapi.sql.dialect import bound, parse_query, tokens
from sqlapi.sql.errors import SqlError
from sqlapi.sql.query import Queries
from sqlapi.sql.scope import Context, Schema, Table
from sqlapi.sql.types import Type

__all__ = ["Translation", "translate", "with_parameters"]

_VOLATILE = ("random", "rand", "uuid")


@dataclass(frozen=True)
class Translation:
    """What to run, over which columns of which tables, and what comes out."""

    sql: str
    """Its columns are c0, c1 and so on."""
    columns: Sequence[tuple[str, Type]]
    """The names to show, and Trino's types."""
    tables: Mapping[str, Table]
    """By the name that `sql` has for a table."""
    read: Mapping[str, Mapping[str, Type]]
    """The columns that are read of each."""


def translate(sql: str, schema: Schema, database: str) -> Translation:
    """Raises SqlError for errors, and for whatever is not known to agree with Trino."""
    context = Context(schema, database)
    try:
        with budget():
            tree = parse_query(sql)
            found = Queries(context).query(tree)
            spend(len(found.sql))
    except RecursionError:
        raise too_deep() from None
    if found.sql.count("random()") + found.sql.count("uuid()") > _volatile(tree):
        # what is written once would be evaluated twice
        raise SqlError("NOT_SUPPORTED", "random() or uuid() in this place")
    return Translation(found.sql, found.columns, context.tables, context.read)


def _volatile(tree: exp.Expr) -> int:
    return sum(str(c.this).lower() in _VOLATILE for c in tree.find_all(exp.Anonymous))


def with_parameters(sql: str, parameters: Sequence[str]) -> str:
    """Return the text with each `?` as the value given for it, in order. Raises SqlError."""
    places = [token for token in tokens(sql) if token.token_type == TokenType.PLACEHOLDER]
    if len(places) != len(parameters):
        raise SqlError(
            "INVALID_PARAMETER_USAGE",
            f"Incorrect number of parameters: expected {len(places)} but found {len(parameters)}",
            position=(1, 1),
        )
    pieces, start = [], 0
    for token, value in zip(places, parameters, strict=True):
        pieces += [sql[start : token.start], bound(value)]
        start = token.end + 1
    return "".join([*pieces, sql[start:]])
