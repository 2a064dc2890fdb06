"""The reader of a query's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.catalog import information_schema
from sqlapi.catalog.file_columns import FILE_COLUMNS, with_file_columns
from sqlapi.catalog.files import Files, Partition, column_type, partition_rows
from sqlapi.catalog.information_schema import Asked
from sqlapi.catalog.table_inputs import partition_values
from sqlapi.catalog.views import is_view, view_text
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.source import (
    PATH,
    Comparison,
    MergeView,
    SourceError,
    SourceTable,
    TableSource,
)
from sqlapi.sql.arrow import arrow_type, positional
from sqlapi.sql.scope import Table
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type, of_arrow
from sqlapi.storage import LocationError, Storage

if TYPE_CHECKING:
    from sqlapi.catalog.definitions import SourceName

__all__ = ["Described", "Reader"]

_PARALLEL = 4
_PARTITIONS = "$partitions"
"""Ending of the name of a table of another table's partitions, as in Trino."""


class Described(Protocol):
    """The catalog's questions that a reader asks."""

    @property
    def source(self) -> TableSource: ...

    def lake_table(self, database: str, name: str) -> SourceName | None:
        """Return the source's table of this name. Raises SourceError."""
        ...

    def stored(self, database: str, name: str) -> Mapping[str, Any] | None:
        """Return a table or view that is stored; its `definition` is Glue's."""
        ...

    def partitions(self, database: str, name: str) -> Sequence[Partition]:
        """Return the partitions of a stored table."""
        ...

    def database(self, name: str) -> dict[str, Any]:
        """Return Glue's Database. Raises ApiError if there is none."""
        ...

    def information(self, catalog: str, table: str, asked: Asked) -> pa.Table:
        """Return rows of a table of `information_schema`. Raises SourceError and ApiError."""
        ...


class Reader:
    """Reader that finds the tables of one query for its translation, and reads them once."""

    def __init__(self, definitions: Described, storage: Storage, catalog: str) -> None:
        self._all = definitions
        self._storage = storage
        self._files = Files(storage)
        self._catalog = catalog.lower()
        self._sources: dict[str, tuple[SourceTable, MergeView]] = {}
        self._stored: dict[str, dict[str, Any]] = {}
        self._places: dict[str, tuple[str, str]] = {}
        """Databases and names of stored tables."""
        self._partitions: dict[str, Sequence[Partition]] = {}
        self._names: dict[str, dict[str, str]] = {}
        """Names of a source's columns in their own case, by their names in lower case."""
        self._hidden: dict[str, Mapping[str, Type]] = {}
        self._made: dict[str, pa.Table] = {}
        """Rows of tables of partitions."""
        self._information: dict[str, str] = {}
        """Tables of `information_schema`."""

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        """Return a table. Raises SqlError if it does not exist or cannot be read."""
        if catalog and catalog.lower() != self._catalog:
            raise SqlError("CATALOG_NOT_FOUND", f"Catalog '{catalog}' not found")
        if database == information_schema.SCHEMA:
            return self._of_catalog(name, as_of)
        if name.endswith(_PARTITIONS):
            return self._of_partitions(catalog, database, name.removesuffix(_PARTITIONS), as_of)
        try:
            if found := self._all.lake_table(database, name):
                return self._of_source(database, name, found, as_of)
            row = self._all.stored(database, name)
            if row is None:
                raise self._missing(database, name)
        except SourceError as error:
            raise SqlError("GENERIC_INTERNAL_ERROR", str(error)) from None
        if as_of:
            raise SqlError("NOT_SUPPORTED", "This connector does not support versioned tables")
        return self._of_store(database, name, row["definition"])

    def _of_catalog(self, name: str, as_of: str | None) -> Table:
        shape = information_schema.TABLES.get(name)
        schema = information_schema.SCHEMA
        if shape is None:
            raise SqlError(
                "TABLE_NOT_FOUND", f"Table '{self._catalog}.{schema}.{name}' does not exist"
            )
        if as_of or name not in information_schema.READ:
            what = "versioned tables" if as_of else "roles"
            raise SqlError("NOT_SUPPORTED", f"This connector does not support {what}")
        key = f"{schema}.{name}"
        self._information[key] = name
        return Table(key, schema, name, shape.columns, hidden=shape.hidden)

    def _of_partitions(
        self, catalog: str | None, database: str, name: str, as_of: str | None
    ) -> Table:
        """Return the table `name$partitions`, with a row per partition of a table."""
        whole = f"{name}{_PARTITIONS}"
        described = self.table(catalog, database, name, as_of)
        if described.key in self._sources:
            source = self._sources[described.key][0]
            keys = [key.lower() for key in source.partition_keys]
            folders = self._all.source.partitions(source)
            rows = [[unquote(value) for value in partition_values(one)] for one in folders]
        else:
            definition = self._stored.get(described.key, {})
            keys = [key["Name"].lower() for key in definition.get("PartitionKeys") or []]
            found = self._all.partitions(database, name) if keys else ()
            rows = [list(one["Values"]) for one in found if len(one["Values"]) == len(keys)]
        if not keys:
            raise SqlError(
                "TABLE_NOT_FOUND", f"Table '{self._catalog}.{database}.{whole}' does not exist"
            )
        key = f"{database}.{whole}"
        columns = {name: described.columns[name] for name in keys}
        self._made[key] = partition_rows(rows, columns)
        self._hidden[key] = {}
        return Table(key, database, whole, columns)

    def _missing(self, database: str, name: str) -> SqlError:
        try:
            self._all.database(database)
        except ApiError:
            return SqlError("SCHEMA_NOT_FOUND", f"Schema '{database}' does not exist")
        return SqlError(
            "TABLE_NOT_FOUND", f"Table '{self._catalog}.{database}.{name}' does not exist"
        )

    def _of_source(
        self, database: str, name: str, found: tuple[SourceTable, MergeView], as_of: str | None
    ) -> Table:
        if as_of:
            # Athena reads Hudi tables as they are
            raise SqlError("NOT_SUPPORTED", "This connector does not support versioned tables")
        schema = self._all.source.schema(found[0])
        key = f"{database}.{name}"
        self._sources[key] = found
        self._names[key] = {name.lower(): name for name in schema.names}
        keys = {key.lower() for key in found[0].partition_keys}
        columns = _columns(schema)
        # The catalog's order: partition keys come last.
        ordered = sorted(columns, key=lambda column: column in keys)
        return self._of_files(key, database, name, {column: columns[column] for column in ordered})

    def _of_store(self, database: str, name: str, definition: dict[str, Any]) -> Table:
        if is_view(definition):
            told = view_text(definition.get("ViewOriginalText") or "")
            if told is None:
                raise SqlError("INVALID_VIEW", f"View {database}.{name} is no Presto view")
            return Table("", database, name, {}, told["originalSql"], told["schema"])
        key = f"{database}.{name}"
        self._stored[key], self._places[key] = definition, (database, name)
        storage = definition.get("StorageDescriptor") or {}
        columns = [*(storage.get("Columns") or []), *(definition.get("PartitionKeys") or [])]
        typed = {c["Name"].lower(): column_type(c) for c in columns}
        return self._of_files(key, database, name, typed)

    def _of_files(self, key: str, database: str, name: str, columns: Mapping[str, Type]) -> Table:
        """Return a table of files, without hidden columns if a column has such a name."""
        self._hidden[key] = {} if FILE_COLUMNS.keys() & columns.keys() else FILE_COLUMNS
        return Table(key, database, name, columns, hidden=self._hidden[key])

    def empty(self, read: Mapping[str, Mapping[str, Type]]) -> dict[str, pa.Table]:
        """Return the same tables as `rows`, without rows."""
        found = {}
        for key, columns in read.items():
            schema = pa.schema([(name, _in_memory(kind)) for name, kind in columns.items()])
            arrays = [
                positional(column, kind)
                for column, kind in zip(schema.empty_table().columns, columns.values(), strict=True)
            ]
            found[key] = pa.table(arrays, names=schema.names)
        return found

    def rows(
        self,
        read: Mapping[str, Mapping[str, Type]],
        where: Mapping[str, Sequence[Comparison]] | None = None,
        texts: Mapping[str, Mapping[str, frozenset[str]]] | None = None,
    ) -> dict[str, pa.Table]:
        """Return the columns that a query reads, by table. Raises SqlError.

        Rows that do not meet `where`, or have none of `texts`, may be left out to save work.
        """
        asked = [
            (key, columns, (where or {}).get(key, ()))
            for key, columns in read.items()
            if key not in self._information
        ]
        try:
            # In sequence: the service answers one question at a time.
            for key in read.keys() & self._stored.keys():
                has_keys = bool(self._stored[key].get("PartitionKeys"))
                self._partitions[key] = self._all.partitions(*self._places[key]) if has_keys else ()
            tables = {
                key: self._told(key, columns, (texts or {}).get(key, {}))
                for key, columns in read.items()
                if key in self._information
            }
            if len(asked) < 2:
                found = [self._rows(*one) for one in asked]
            else:
                with ThreadPoolExecutor(_PARALLEL) as pool:
                    found = list(pool.map(lambda one: self._rows(*one), asked))
            return tables | {one[0]: rows for one, rows in zip(asked, found, strict=True)}
        except (SourceError, ApiError) as error:
            raise SqlError("GENERIC_INTERNAL_ERROR", str(error)) from None
        except LocationError as error:
            raise SqlError("HIVE_METASTORE_ERROR", str(error)) from None
        except (OSError, pa.ArrowException) as error:
            raise SqlError("HIVE_CANNOT_OPEN_SPLIT", str(error)) from None
        except ValueError as error:
            raise SqlError("HIVE_BAD_DATA", str(error)) from None

    def is_information(self, key: str) -> bool:
        """Return whether a table is in `information_schema`, which does not count as scanned."""
        return key in self._information

    def _told(
        self, key: str, columns: Mapping[str, Type], texts: Mapping[str, frozenset[str]]
    ) -> pa.Table:
        asked = Asked(texts.get("table_schema"), texts.get("table_name"))
        rows = self._all.information(self._catalog, self._information[key], asked)
        return rows.select(list(columns)) if columns else _counted(rows)

    def _rows(self, key: str, columns: Mapping[str, Type], where: Sequence[Comparison]) -> pa.Table:
        plain = [column for column in columns if column not in self._hidden[key]]
        path = [PATH] if len(plain) < len(columns) else []
        if key in self._made:
            rows = self._made[key].select(plain) if plain else self._made[key]
        elif key in self._sources:
            source, view = self._sources[key]
            # a count of rows needs one column
            names = self._names[key]
            wanted = [*(names[c] for c in plain), *path] or list(names.values())[:1]
            only = [(names[column], sign, number) for column, sign, number in where
                    if column in names]  # fmt: skip
            rows = self._all.source.read(source, wanted, view, only)
            if columns:
                rows = rows.rename_columns([*plain, *path])
        else:
            definition = self._stored[key]
            rows = self._files.rows(
                definition, self._partitions[key], {c: columns[c] for c in plain}, path
            )
        if not columns:
            return _counted(rows)
        rows = with_file_columns(rows, columns, self._storage) if path else rows
        arrays = [positional(_clocks(rows.column(name)), kind) for name, kind in columns.items()]
        return pa.table(arrays, names=list(columns))


def _in_memory(kind: Type) -> pa.DataType:
    return pa.timestamp("us") if kind.zone else arrow_type(kind)


def _counted(rows: pa.Table) -> pa.Table:
    """Return a table with as many rows and a column of nulls."""
    return pa.table({"t_row": pa.nulls(rows.num_rows, pa.int8())})


def _columns(schema: pa.Schema) -> dict[str, Type]:
    """Return types by name in lower case, without columns whose type Athena does not have."""
    found: dict[str, Type] = {}
    for field in schema:
        try:
            found[field.name.lower()] = of_arrow(field.type)
        except SqlError:
            continue
    return found


def _clocks(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Return timestamps without a zone, rounded to Athena's milliseconds."""
    if not pa.types.is_timestamp(column.type):
        return column
    plain = column.cast(pa.timestamp(column.type.unit))
    if column.type.unit == "us":
        rounded: Any = pc.round_temporal
        plain = rounded(plain, 1, "millisecond")
    return plain.cast(pa.timestamp("us"), safe=False)
