"""Statements through the service's own steps, up to what DuckDB would run, and what that is."""

from __future__ import annotations

import duckdb

from sqlapi.athena.statements import parse
from sqlapi.sql.one_select import UnknownStatementError, one_select
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import translate, with_parameters
from tests.unit.sqlapi.athena_statements import TABLES, Asked
from tests.unit.sqlapi.duckdb_statements import check

__all__ = ["Translator"]


class Translator:
    """Translates one statement after another. It runs none."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(":memory:", config={"threads": 1})
        self.longest = 0
        """Characters of the longest translation."""

    def outcome(self, asked: Asked) -> str:
        """Return `refused`, `no query` or `one SELECT`.

        Raises EscapeError, what the last look at a translation refuses, and any error but SqlError.
        """
        try:
            statement = parse(asked.sql)
            if not statement.query:
                return "no query"
            sql = with_parameters(statement.query, asked.parameters)
            made = translate(sql, TABLES, "default")
        except SqlError:
            return "refused"
        self.longest = max(self.longest, len(made.sql))
        try:
            one_select(self._connection, made.sql, made.tables)
        except UnknownStatementError as error:
            if "expression depth" in str(error):
                return "refused"
            raise
        check(self._connection, made.sql, list(made.tables))
        return "one SELECT"
