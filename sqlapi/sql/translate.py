"""The translation of one SELECT from Athena's SQL to DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlapi.sql.budget import budget, spend, too_deep
from sqlapi.sql.dialect import bound, parse_query, tokens
from sqlapi.sql.query import Queries
from sqlapi.sql.scope import Context, Schema, Table
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type

__all__ = ["Translation", "translate", "with_parameters"]

_VOLATILE = ("random", "rand", "uuid")


@dataclass(frozen=True)
class Translation:
    """A translated query: SQL, result columns, and the tables and columns that it reads."""

    sql: str
    """DuckDB's SQL, whose columns are c0, c1 and so on."""
    columns: Sequence[tuple[str, Type]]
    """Names of the result's columns, with Trino's types."""
    tables: Mapping[str, Table]
    """Tables by their name in `sql`."""
    read: Mapping[str, Mapping[str, Type]]
    """The columns that are read of each table."""


def translate(sql: str, schema: Schema, database: str) -> Translation:
    """Translate a query. Raises SqlError for errors and for SQL not known to agree with Trino."""
    context = Context(schema, database)
    try:
        with budget():
            tree = parse_query(sql)
            found = Queries(context).query(tree)
            spend(len(found.sql))
    except RecursionError:
        raise too_deep() from None
    if found.sql.count("random()") + found.sql.count("uuid()") > _volatile(tree):
        # the query has the call once, but the translation would evaluate it twice
        raise SqlError("NOT_SUPPORTED", "random() or uuid() in this place")
    return Translation(found.sql, found.columns, context.tables, context.read)


def _volatile(tree: exp.Expr) -> int:
    return sum(str(c.this).lower() in _VOLATILE for c in tree.find_all(exp.Anonymous))


def with_parameters(sql: str, parameters: Sequence[str]) -> str:
    """Return the SQL with each `?` replaced by its value, in order. Raises SqlError."""
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
