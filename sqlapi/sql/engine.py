"""The engine, which runs translated queries in DuckDB."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from sqlapi.source import Comparison
from sqlapi.sql.code import FAILURE
from sqlapi.sql.macros import MACROS
from sqlapi.sql.one_select import changing_nothing, one_select
from sqlapi.sql.pushdown import comparisons, texts
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import Translation
from sqlapi.sql.udfs import UDFS, null_safe

__all__ = ["Engine", "Run"]

_FAILED = re.compile(f"{FAILURE}([A-Z_]+){FAILURE}(.*?){FAILURE}", re.DOTALL)
_KINDS = {
    "Conversion Error": "INVALID_CAST_ARGUMENT",
    "Out of Range Error": "NUMERIC_VALUE_OUT_OF_RANGE",
    "Out of Memory Error": "EXCEEDED_LOCAL_MEMORY_LIMIT",
}
_UNGROUPED = re.compile(r"must appear in the GROUP BY clause|must be part of an aggregate")
_BATCH_ROWS = 8192


class Engine:
    """An in-memory DuckDB that has access only to the tables it is given."""

    def __init__(
        self,
        *,
        memory: str = "1GB",
        threads: int = 2,
        spill_folder: Path | None = None,
        spill: str = "1GB",
    ) -> None:
        """Use `memory`, then up to `spill` in `spill_folder`; sizes are in DuckDB's notation."""
        self._base = duckdb.connect(":memory:")
        self._base.execute(
            f"set TimeZone = 'UTC'; set memory_limit = '{memory}'; set threads = {threads};"
            "set python_enable_replacements = false"
        )
        if spill_folder:
            self._base.execute("set temp_directory = ?", [str(spill_folder)])
            self._base.execute("set max_temp_directory_size = ?", [spill])
        else:
            # By default DuckDB would create a folder in the working directory.
            self._base.execute("set temp_directory = ''")
        self._base.execute("set enable_external_access = false")
        make: Any = self._base.create_function
        for name, (call, takes, gives) in UDFS.items():
            # DuckDB lets only functions that also receive NULL return NULL
            make(name, null_safe(call, len(takes)), takes, gives, null_handling="special")
        for macro in MACROS:
            self._base.execute(f"CREATE MACRO {macro}")
        self._base.execute("set lock_configuration = true")
        self._lock = threading.Lock()

    def run(self) -> Run:
        """Return a run with its own tables."""
        with self._lock:
            return Run(self._base.cursor())

    def close(self) -> None:
        self._base.close()


class Run:
    """The run of one query."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._known: dict[str, duckdb.Statement] = {}

    def answer(self, translation: Translation, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows, in columns c0, c1 and so on, of DuckDB's types.

        Raises SqlError for values that Trino refuses at run time.
        """
        try:
            for name, table in tables.items():
                self._connection.register(name, table)
            with changing_nothing(self._connection):
                rows: pa.Table = self._connection.sql(self._statement(translation)).to_arrow_table()
            return rows
        except duckdb.Error as error:
            raise _explained(error) from error
        finally:
            self.close(tables)

    def batches(
        self, translation: Translation, tables: Mapping[str, pa.Table]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches while the query runs. Raises SqlError like `answer`."""
        try:
            for name, table in tables.items():
                self._connection.register(name, table)
            statement = self._statement(translation)
            with changing_nothing(self._connection):
                yield from self._connection.sql(statement).to_arrow_reader(_BATCH_ROWS)
        except (duckdb.Error, OSError) as error:
            # Arrow wraps DuckDB's message in its own error.
            raise _explained(error) from error
        finally:
            self.close(tables)

    def where(
        self, translation: Translation, rows: Mapping[str, pa.Table]
    ) -> dict[str, list[Comparison]]:
        """Return conditions that all relevant rows meet, by table; see `sqlapi.sql.pushdown`."""
        self._statement(translation)
        return comparisons(self._connection, translation, rows)

    def texts(
        self, translation: Translation, rows: Mapping[str, pa.Table]
    ) -> dict[str, dict[str, frozenset[str]]]:
        """Return, by table and column, the strings of which all relevant rows have one."""
        self._statement(translation)
        return texts(self._connection, translation, rows)

    def explain(self, translation: Translation, tables: Mapping[str, pa.Table]) -> str:
        """Return DuckDB's plan."""
        for name, table in tables.items():
            self._connection.register(name, table)
        try:
            self._statement(translation)
            with changing_nothing(self._connection):
                rows = self._connection.execute(f"EXPLAIN {translation.sql}").fetchall()
        except duckdb.Error as error:
            raise _explained(error) from error
        finally:
            self.close(tables)
        return "\n".join(text for _, text in rows)

    def _statement(self, translation: Translation) -> duckdb.Statement:
        """Return the statement after checking that it is one SELECT. Raises SqlError."""
        if translation.sql not in self._known:
            self._known[translation.sql] = one_select(
                self._connection, translation.sql, translation.tables
            )
        return self._known[translation.sql]

    def close(self, tables: Mapping[str, pa.Table]) -> None:
        for name in tables:
            try:
                self._connection.unregister(name)
            except duckdb.Error:
                return


def _explained(error: duckdb.Error | OSError) -> SqlError:
    text = str(error)
    if isinstance(error, (duckdb.FatalException, duckdb.InternalException)):
        return SqlError("GENERIC_INTERNAL_ERROR", text.splitlines()[0])
    if found := _FAILED.search(text):
        return SqlError(found[1], found[2])
    first = text.splitlines()[0].partition(" Error: ")[2] or text.splitlines()[0]
    if _UNGROUPED.search(text):
        return SqlError(
            "EXPRESSION_NOT_AGGREGATE",
            "An expression must be an aggregate expression or appear in GROUP BY clause",
        )
    if "Division by zero" in text:
        return SqlError("DIVISION_BY_ZERO", "Division by zero")
    kind = next((kind for start, kind in _KINDS.items() if text.startswith(start)), "NOT_SUPPORTED")
    return SqlError(kind, first)
