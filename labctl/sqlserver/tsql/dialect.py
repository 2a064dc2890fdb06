"""Adjusted sqlglot dialects, and the only conversion of a tree to SQL for PostgreSQL.

When reading T-SQL, every function call keeps its name, so that sqlglot does not translate it by
guess. When writing, only the nodes listed here are allowed and names are quoted. A function, type
or parameter is written only from a node that this package made itself, which T-SQL's parser cannot
make. So a client's names always stay names, and untranslated constructs are refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, ClassVar

from psycopg.sql import SQL
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.tsql import TSQL

from labctl.sqlserver.client_errors import SqlError, unsupported

__all__ = ["PgCall", "PgParameter", "PgType", "PostgresOut", "TSqlIn", "written"]

# sqlglot logs unsupported syntax; the client gets it as an error instead.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_WORDS = re.compile(r'[a-z_][a-z0-9_]*(?:\.(?:[a-z_][a-z0-9_]*|"[a-z]+"))?')
"""Pattern of a function or type that this program names, with an optional schema."""
_SIZED = re.compile(_WORDS.pattern + r"(?:\(\d+(?:,\d+)?\))?")
_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_KEYWORDS = {"DEFAULT"}


class PgCall(exp.Anonymous):
    """A call of PostgreSQL's function `this`; if `this` is an identifier, `schema` is one too."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "schema": False, "expressions": False}


class PgType(exp.DataType):
    """PostgreSQL's type `kind`, named as in `SqlType`."""


class PgParameter(exp.Expression):
    """The parameter `$this`."""


class TSqlIn(TSQL):
    """The dialect for reading T-SQL."""

    class Parser(TSQL.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
            name: parse
            for name, parse in TSQL.Parser.FUNCTION_PARSERS.items()
            if name in {"CAST", "TRY_CAST", "CONVERT", "TRY_CONVERT", "STRING_AGG", "OPENJSON"}
        }


_WRITTEN: frozenset[type[exp.Expression]] = frozenset({
    # queries
    exp.Select, exp.Subquery, exp.Union, exp.Except, exp.Intersect, exp.With, exp.CTE, exp.From,
    exp.Join, exp.Table, exp.TableAlias, exp.Lateral, exp.Values, exp.Tuple, exp.Where, exp.Group,
    exp.GroupingSets, exp.Cube, exp.Rollup, exp.Having, exp.Order, exp.Ordered, exp.Limit,
    exp.LimitOptions, exp.Offset, exp.Fetch, exp.Distinct, exp.Window, exp.WindowSpec,
    exp.WithinGroup, exp.GroupConcat,
    # names and values
    exp.Identifier, exp.Column, exp.Star, exp.Alias, exp.Literal, exp.National, exp.Null,
    exp.Boolean, exp.Var, exp.DataType, exp.DataTypeParam, exp.Cast, exp.Paren, PgCall, PgType,
    PgParameter, exp.Coalesce,
    # operators
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.BitwiseAnd, exp.BitwiseOr,
    exp.BitwiseXor, exp.BitwiseNot, exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE,
    exp.LT, exp.LTE, exp.Is, exp.In, exp.Between, exp.Like, exp.Escape, exp.Exists, exp.Any,
    exp.All, exp.Case, exp.If,
})  # fmt: skip
"""The nodes that may be written for PostgreSQL."""


class PostgresOut(Postgres):
    """The dialect for writing PostgreSQL."""

    class Generator(Postgres.Generator):  # type: ignore[misc, valid-type]
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **Postgres.Generator.TRANSFORMS,
            exp.National: lambda self, e: self.sql(exp.Literal.string(e.name)),
            PgCall: lambda self, e: self.pg_call(e),
            exp.GroupConcat: lambda self, e: self.pg_string_agg(e),
            PgType: lambda self, e: _matching(_SIZED, e.text("kind")),
            PgParameter: lambda self, e: f"${int(e.name)}",
        }

        def sql(
            self, expression: Any, key: str | None = None, comment: bool = True
        ) -> str:  # the signature is sqlglot's
            if isinstance(expression, exp.Expression) and key is None:
                _refuse_foreign(expression)
            return str(super().sql(expression, key, comment))

        def pg_call(self, node: PgCall) -> str:
            schema = node.args.get("schema")
            if schema is not None:
                name = f"{self.sql(schema)}.{self.sql(node, 'this')}"
            else:
                name = _matching(_WORDS, str(node.this))
            return str(self.func(name, *node.expressions, normalize=False))

        def pg_string_agg(self, node: exp.GroupConcat) -> str:
            """Write STRING_AGG; PostgreSQL has WITHIN GROUP's order after the separator."""
            value, order = node.this, ""
            if isinstance(value, exp.Order):
                order = self.sql(exp.Order(expressions=value.expressions))
                value = value.this
            return f"STRING_AGG({self.sql(value)}, {self.sql(node, 'separator')}{order})"


def written(tree: exp.Expression) -> SQL:
    """Return a rewritten tree as SQL for PostgreSQL, without comments.

    Raises the unsupported-construct error for nodes that are not allowed.
    """
    return SQL(
        tree.sql(dialect=PostgresOut, normalize_functions=False, identify=True, comments=False)
    )


def _refuse_foreign(node: exp.Expression) -> None:
    kind = type(node)
    if kind not in _WRITTEN:
        raise unsupported(f"{kind.__name__} here")
    if kind is exp.DataType and (node.this == exp.DataType.Type.USERDEFINED or node.expressions):
        raise unsupported(f"the data type {node.text('kind') or node.this}")
    if kind is exp.Var and str(node.this).upper() not in _KEYWORDS:
        raise SqlError(207, f"Invalid column name '{node.name}'.")
    if kind is exp.Literal and not node.is_string:
        _matching(_NUMBER, node.name)


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise SqlError(102, f"Incorrect syntax near '{text[:60]}'.", severity=15)
    return text
