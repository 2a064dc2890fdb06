"""SQL translated and run over tables in memory, without a service."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from sqlapi.catalog import information_schema
from sqlapi.catalog.file_columns import FILE_COLUMNS
from sqlapi.sql.arrow import positional
from sqlapi.sql.engine import Engine
from sqlapi.sql.scope import Table
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.text import as_text
from sqlapi.sql.translate import Translation, translate
from sqlapi.sql.types import of_arrow

__all__ = ["Tables", "answer", "ask", "translated"]


class Tables:
    """Arrow tables of database `default`, by name, beside `information_schema` without rows."""

    def __init__(self, **tables: pa.Table) -> None:
        self._tables = tables

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        if database == information_schema.SCHEMA and name in information_schema.TABLES:
            shape = information_schema.TABLES[name]
            return Table(f"{database}.{name}", database, name, shape.columns, hidden=shape.hidden)
        if name not in self._tables:
            raise SqlError("TABLE_NOT_FOUND", f"Table '{database}.{name}' does not exist")
        columns = {f.name.lower(): of_arrow(f.type) for f in self._tables[name].schema}
        return Table(name, database, name, columns, hidden=FILE_COLUMNS)

    def rows(self, made: Translation) -> dict[str, pa.Table]:
        """The columns that are read, and no others."""
        found = {}
        for key, columns in made.read.items():
            stored = self._tables[key]
            by_small = {name.lower(): name for name in stored.column_names}
            arrays = [positional(stored[by_small[c]], kind) for c, kind in columns.items()]
            rows = pa.table(arrays, names=list(columns))
            found[key] = rows if columns else pa.table({"t": pa.nulls(len(stored), pa.int8())})
        return found


@cache
def _engine() -> Engine:
    return Engine()


def translated(sql: str, tables: Tables | None = None) -> Translation:
    return translate(sql, tables or Tables(), "default")


def answer(
    sql: str, tables: Tables | None = None
) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    """Trino's types, and the rows as Athena shows them. Raises SqlError."""
    tables = tables or Tables()
    made = translated(sql, tables)
    rows = _engine().run().answer(made, tables.rows(made))
    texts = [as_text(rows.column(i), k).to_pylist() for i, (_, k) in enumerate(made.columns)]
    return tuple(str(kind) for _, kind in made.columns), tuple(zip(*texts, strict=True))


def ask(sql: str, tables: Tables | None = None) -> list[list[str | None]]:
    """The rows as Athena shows them. Raises SqlError."""
    return [list(row) for row in answer(sql, tables)[1]]
