"""sqlglot's T-SQL and PostgreSQL, adjusted: functions stay as they were written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.tsql import TSQL

__all__ = ["PostgresOut", "TSqlIn"]


class TSqlIn(TSQL):
    """Reads T-SQL; every function call keeps its own name, so that none is translated by guess."""

    class Parser(TSQL.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
            name: parse
            for name, parse in TSQL.Parser.FUNCTION_PARSERS.items()
            if name in {"CAST", "TRY_CAST", "CONVERT", "TRY_CONVERT", "STRING_AGG", "OPENJSON"}
        }


class PostgresOut(Postgres):
    """Writes PostgreSQL; names come out as they are."""

    class Generator(Postgres.Generator):  # type: ignore[misc, valid-type]
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **Postgres.Generator.TRANSFORMS,
            exp.National: lambda self, e: self.sql(exp.Literal.string(e.name)),
        }
