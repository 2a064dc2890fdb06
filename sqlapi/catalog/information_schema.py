"""Trino's `information_schema`: the catalog's databases, tables, columns and views as tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlapi.catalog.glue_types import shown_type
from sqlapi.catalog.views import is_view, view_text
from sqlapi.sql.arrow import arrow_type
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BIGINT, VARCHAR, Type

if TYPE_CHECKING:
    from sqlapi.catalog.definitions import Definitions

__all__ = ["READ", "SCHEMA", "TABLES", "Asked", "Shape", "rows"]

SCHEMA = "information_schema"
_TIMESTAMP = re.compile(r"\btimestamp\b(?!\()")


@dataclass(frozen=True)
class Shape:
    """The columns of a table, in order."""

    columns: Mapping[str, Type]
    hidden: Mapping[str, Type]
    """Columns that `*` does not show."""

    def table(self, rows: Sequence[Sequence[Any]]) -> pa.Table:
        """Return an Arrow table; `rows` have all columns, the hidden ones last."""
        fields = {**self.columns, **self.hidden}
        schema = pa.schema([(name, arrow_type(kind)) for name, kind in fields.items()])
        columns = list(zip(*rows, strict=True)) or [()] * len(fields)
        return pa.table(
            [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)],
            schema=schema,
        )


def _shape(columns: str, hidden: str = "") -> Shape:
    def typed(names: str) -> Mapping[str, Type]:
        return {n: BIGINT if n == "ordinal_position" else VARCHAR for n in names.split()}

    return Shape(typed(columns), typed(hidden))


TABLES: Mapping[str, Shape] = {
    "columns": _shape(
        "table_catalog table_schema table_name column_name ordinal_position column_default"
        " is_nullable data_type",
        "comment extra_info column_comment",
    ),
    "schemata": _shape("catalog_name schema_name"),
    "tables": _shape("table_catalog table_schema table_name table_type", "table_comment"),
    "views": _shape("table_catalog table_schema table_name view_definition"),
    "applicable_roles": _shape("grantee grantee_type role_name is_grantable"),
    "enabled_roles": _shape("role_name"),
    "roles": _shape("role_name"),
    "table_privileges": _shape(
        "grantor grantor_type grantee grantee_type table_catalog table_schema table_name"
        " privilege_type is_grantable with_hierarchy"
    ),
}
"""The tables of Trino 476."""
READ = ("columns", "schemata", "tables", "views")
"""Tables that can be read. Trino, too, refuses the others for a catalog without roles."""


@dataclass(frozen=True)
class Asked:
    """Schemas and names of the rows that a query may need; None if it does not limit them."""

    schemas: frozenset[str] | None = None
    names: frozenset[str] | None = None

    def has(self, schema: str, name: str) -> bool:
        return _in(schema, self.schemas) and _in(name, self.names)


def _in(value: str, wanted: Collection[str] | None) -> bool:
    return wanted is None or value in wanted


def rows(definitions: Definitions, catalog: str, table: str, asked: Asked) -> pa.Table:
    """Return the rows of a table in `READ`, perhaps without those that `asked` excludes.

    Raises SourceError and ApiError.
    """
    catalog = catalog.lower()
    found: Iterator[tuple[Any, ...]]
    match table:
        case "schemata":
            names = {one["Name"] for one in definitions.databases()} | {SCHEMA}
            found = iter((catalog, name) for name in sorted(names))
        case "tables":
            found = _tables(definitions, catalog, asked)
        case "views":
            found = _views(definitions, catalog, asked)
        case _:
            found = _columns(definitions, catalog, asked)
    return TABLES[table].table(list(found))


def _tables(definitions: Definitions, catalog: str, asked: Asked) -> Iterator[tuple[Any, ...]]:
    for database, name, definition in definitions.listed(asked.has):
        if database != SCHEMA:
            kind = "VIEW" if definition is not None and is_view(definition) else "BASE TABLE"
            yield catalog, database, name, kind, None
    for name in TABLES:
        yield catalog, SCHEMA, name, "BASE TABLE", None


def _views(definitions: Definitions, catalog: str, asked: Asked) -> Iterator[tuple[Any, ...]]:
    for database, name, definition in definitions.listed(asked.has):
        if database != SCHEMA and definition is not None and is_view(definition):
            original = definition.get("ViewOriginalText") or ""
            told = view_text(original)
            yield catalog, database, name, told["originalSql"] if told else original


def _columns(definitions: Definitions, catalog: str, asked: Asked) -> Iterator[tuple[Any, ...]]:
    for database, name, definition in definitions.described(asked.has):
        if database != SCHEMA:
            for number, (column, kind, comment, extra) in enumerate(_typed(definition), 1):
                place = (catalog, database, name, column, number)
                yield *place, None, "YES", kind, comment, extra, comment
    for name, shape in TABLES.items():
        for number, (column, type_) in enumerate(shape.columns.items(), 1):
            place = (catalog, SCHEMA, name, column, number)
            yield *place, None, "YES", str(type_), None, None, None


def _typed(definition: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield name, Trino's type, comment and extra information of each column.

    Columns whose type Trino does not have are left out, as in its Hive connector.
    """
    if is_view(definition) and (told := _view_columns(definition)) is not None:
        yield from told
        return
    storage = definition.get("StorageDescriptor") or {}
    keys = definition.get("PartitionKeys") or []
    for extra, columns in ((None, storage.get("Columns") or []), ("partition key", keys)):
        for column in columns:
            try:
                kind = shown_type(column.get("Type") or "")
            except SqlError:
                continue
            yield column["Name"].lower(), kind, column.get("Comment"), extra


def _view_columns(
    definition: Mapping[str, Any],
) -> list[tuple[str, str, str | None, str | None]] | None:
    """Return the columns in the text of a Presto view; None if it has none."""
    told = view_text(definition.get("ViewOriginalText") or "") or {}
    columns = told.get("columns")
    if not isinstance(columns, list):
        return None
    found: list[tuple[str, str, str | None, str | None]] = []
    for column in columns:
        if not isinstance(column, dict) or not all(
            isinstance(column.get(key), str) for key in ("name", "type")
        ):
            return None
        # Athena writes `timestamp` for what Trino shows as timestamp(3).
        name, kind = str(column["name"]), str(column["type"])
        kind = _TIMESTAMP.sub("timestamp(3)", kind) if "row(" not in kind else kind
        comment = column.get("comment")
        found.append((name.lower(), kind, comment if isinstance(comment, str) else None, None))
    return found
