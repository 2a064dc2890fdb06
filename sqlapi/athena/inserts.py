"""INSERT INTO a table that a client has defined: its target files, and its query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlapi.athena.tables_written import Target
from sqlapi.catalog.files import column_type
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type, can_coerce

__all__ = ["insert_columns", "insert_query", "insert_target"]

_SIZED = re.compile(r"\s*(?:var)?char\s*\(", re.IGNORECASE)
_WRITTEN = {"field.delim", "serialization.format"}
"""Parameters of text files that the writer knows."""


def insert_columns(definition: Mapping[str, Any]) -> dict[str, Type]:
    """Return the types of a table's columns and keys, by name in lower case. Raises SqlError."""
    storage = definition.get("StorageDescriptor") or {}
    columns = [*(storage.get("Columns") or []), *(definition.get("PartitionKeys") or [])]
    for column in columns:
        if _SIZED.match(column.get("Type") or ""):
            raise SqlError("NOT_SUPPORTED", f"INSERT into a column of type {column['Type']}")
    return {column["Name"].lower(): column_type(column) for column in columns}


def insert_target(definition: Mapping[str, Any]) -> Target:
    """Return the location and format of new files. Raises SqlError."""
    storage = definition.get("StorageDescriptor") or {}
    serde = storage.get("SerdeInfo") or {}
    library, given = serde.get("SerializationLibrary") or "", serde.get("Parameters") or {}
    parameters = definition.get("Parameters") or {}
    keys = tuple(key["Name"].lower() for key in definition.get("PartitionKeys") or [])
    location = (storage.get("Location") or "").rstrip("/")
    reads = (storage.get("InputFormat") or "").lower()
    if parameters.get("projection.enabled", "false").lower() == "true":
        raise SqlError("NOT_SUPPORTED", "INSERT into a table with partition projection")
    if "parquet" in reads:
        return Target(location, partitioned_by=keys)
    if parameters.get("skip.header.line.count", "0").strip() != "0":
        raise SqlError("NOT_SUPPORTED", "INSERT into a table of files with headers")
    if "text" in reads and "json" in library.lower():
        return Target(location, "JSON", partitioned_by=keys)
    if "text" in reads and "LazySimple" in library:
        if unknown := sorted(set(given) - _WRITTEN):
            raise SqlError("NOT_SUPPORTED", f"INSERT into text files with {unknown[0]}")
        return Target(
            location, "TEXTFILE", delimiter=given.get("field.delim", "\x01"), partitioned_by=keys
        )
    raise SqlError("NOT_SUPPORTED", f"INSERT into files of {library.rpartition('.')[2] or reads}")


def insert_query(
    query: str, given: Sequence[Type], columns: Mapping[str, Type], into: Sequence[str]
) -> str:
    """Return the query with the table's columns and types; `into` names those of the query.

    Raises SqlError for columns that the table does not have, and types that do not fit.
    """
    wanted = list(into or columns)
    if unknown := [name for name in wanted if name not in columns]:
        raise SqlError(
            "COLUMN_NOT_FOUND",
            f"line 1:1: Insert column name does not exist in target table: {unknown[0]}",
        )
    if len(set(wanted)) < len(wanted):
        raise SqlError(
            "DUPLICATE_COLUMN_NAME", "line 1:1: Insert column name is specified more than once"
        )
    kinds = [columns[name] for name in wanted]
    if len(given) != len(kinds) or not all(map(can_coerce, given, kinds)):
        shown = [", ".join(map(str, one)) for one in (kinds, given)]
        raise SqlError(
            "TYPE_MISMATCH",
            "line 1:1: Insert query has mismatched column types:"
            f" Table: [{shown[0]}], Query: [{shown[1]}]",
        )
    places = {name: f"c{at}" for at, name in enumerate(wanted)}
    items = ", ".join(
        f"CAST({places.get(name, 'NULL')} AS {kind}) AS {_quoted(name)}"
        for name, kind in columns.items()
    )
    return f"SELECT {items} FROM ({query}\n) AS t({', '.join(places.values())})"  # noqa: S608


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
