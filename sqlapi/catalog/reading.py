"""The rows behind a table's name, for a query."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sqlapi.catalog.glue_types import of_glue
from sqlapi.catalog.views import is_view, view_text
from sqlapi.protocol.errors import ApiError
from sqlapi.source import Comparison, MergeView, SourceError, SourceTable, TableSource
from sqlapi.sql.arrow import arrow_type, positional
from sqlapi.sql.errors import SqlError
from sqlapi.sql.scope import Table
from sqlapi.sql.types import Type, of_arrow
from sqlapi.storage import LocationError, Storage

if TYPE_CHECKING:
    from sqlapi.catalog.definitions import SourceName

__all__ = ["Described", "Reader"]

_PARALLEL = 4


class Described(Protocol):
    """What is asked of a catalog."""

    @property
    def source(self) -> TableSource: ...

    def lake_table(self, database: str, name: str) -> SourceName | None:
        """The source's table of that name. Raises SourceError."""
        ...

    def stored(self, database: str, name: str) -> Mapping[str, Any] | None:
        """Another table, or a view: its `definition` is Glue's."""
        ...

    def database(self, name: str) -> dict[str, Any]:
        """Raises ApiError when there is none."""
        ...


class Reader:
    """Finds tables for the translation of one query, and reads them once."""

    def __init__(self, definitions: Described, storage: Storage, catalog: str) -> None:
        self._all = definitions
        self._storage = storage
        self._catalog = catalog.lower()
        self._sources: dict[str, tuple[SourceTable, MergeView]] = {}
        self._stored: dict[str, dict[str, Any]] = {}
        self._names: dict[str, dict[str, str]] = {}
        """The names of a source's columns as they are written there, by those in small letters."""

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        """Raises SqlError when there is no such table, or it is of a kind that is not read."""
        if catalog and catalog.lower() != self._catalog:
            raise SqlError("CATALOG_NOT_FOUND", f"Catalog '{catalog}' not found")
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
        return Table(key, database, name, _columns(schema))

    def _of_store(self, database: str, name: str, definition: dict[str, Any]) -> Table:
        if is_view(definition):
            told = view_text(definition.get("ViewOriginalText") or "")
            if told is None:
                raise SqlError("INVALID_VIEW", f"View {database}.{name} is no Presto view")
            return Table("", database, name, {}, told["originalSql"], told["schema"])
        key = f"{database}.{name}"
        self._stored[key] = definition
        storage = definition.get("StorageDescriptor") or {}
        columns = [*(storage.get("Columns") or []), *(definition.get("PartitionKeys") or [])]
        return Table(key, database, name, {c["Name"].lower(): _type(c) for c in columns})

    def empty(self, read: Mapping[str, Mapping[str, Type]]) -> dict[str, pa.Table]:
        """What `rows` would give, without rows."""
        found = {}
        for key, columns in read.items():
            schema = pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()])
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
    ) -> dict[str, pa.Table]:
        """The columns that a query reads, by table. Raises SqlError.

        Rows that do not meet `where` may be left out, where that saves work.
        """
        asked = [(key, columns, (where or {}).get(key, ())) for key, columns in read.items()]
        try:
            if len(read) < 2:
                return {key: self._rows(key, columns, only) for key, columns, only in asked}
            with ThreadPoolExecutor(_PARALLEL) as pool:
                found = pool.map(lambda item: self._rows(*item), asked)
                return dict(zip(read, found, strict=True))
        except SourceError as error:
            raise SqlError("GENERIC_INTERNAL_ERROR", str(error)) from None
        except LocationError as error:
            raise SqlError("HIVE_METASTORE_ERROR", str(error)) from None
        except (OSError, pa.ArrowException) as error:
            raise SqlError("HIVE_CANNOT_OPEN_SPLIT", str(error)) from None
        except ValueError as error:
            raise SqlError("HIVE_BAD_DATA", str(error)) from None

    def _rows(self, key: str, columns: Mapping[str, Type], where: Sequence[Comparison]) -> pa.Table:
        if key in self._sources:
            source, view = self._sources[key]
            # a count of rows reads one column
            names = self._names[key]
            wanted = [names[c] for c in columns] or list(names.values())[:1]
            only = [(names[column], sign, number) for column, sign, number in where]
            rows = self._all.source.read(source, wanted, view, only)
        else:
            rows = self._files(self._stored[key], columns)
        arrays = [
            positional(_clocks(rows.column(index)), kind)
            for index, kind in enumerate(columns.values())
        ]
        if not arrays:
            return pa.table({"t_row": pa.nulls(rows.num_rows, pa.int8())})
        return pa.table(arrays, names=list(columns))

    def _files(self, definition: dict[str, Any], columns: Mapping[str, Type]) -> pa.Table:
        storage = definition.get("StorageDescriptor") or {}
        location, serde = storage.get("Location") or "", storage.get("InputFormat") or ""
        library = (storage.get("SerdeInfo") or {}).get("SerializationLibrary") or ""
        if "hudi" in serde.lower():
            raise SqlError("NOT_SUPPORTED", f"Hudi table at {location} is not one of this lake")
        _check_properties(definition)
        keys = [k["Name"] for k in definition.get("PartitionKeys") or []]
        if "parquet" in serde.lower():
            return self._parquet(location, definition, columns)
        if keys:
            raise SqlError("NOT_SUPPORTED", "Partitioned tables of text files are not read")
        if "json" in library.lower():
            return self._json(location, columns)
        if "LazySimple" in library and not storage.get("Compressed"):
            parameters = (storage.get("SerdeInfo") or {}).get("Parameters") or {}
            if unknown := sorted(set(parameters) - {"field.delim", "serialization.format"}):
                raise SqlError("NOT_SUPPORTED", f"Property {unknown[0]} of text files is not read")
            names = [c["Name"].lower() for c in storage.get("Columns") or []]
            delimiter = parameters.get("field.delim", "\x01")
            if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\r\n":
                raise SqlError("NOT_SUPPORTED", f"The delimiter {delimiter!r} is not supported")
            return self._text(location, delimiter, names, columns)
        raise SqlError("HIVE_UNSUPPORTED_FORMAT", f"Unsupported storage format: {serde}")

    def _parquet(
        self, location: str, definition: dict[str, Any], columns: Mapping[str, Type]
    ) -> pa.Table:
        stored = [
            *(definition["StorageDescriptor"].get("Columns") or []),
            *(definition.get("PartitionKeys") or []),
        ]
        schema = pa.schema([(c["Name"].lower(), arrow_type(_type(c))) for c in stored])
        names = {key["Name"].lower() for key in definition.get("PartitionKeys") or []}
        # Arrow makes no decimals of the names of folders: they are read as texts, and cast.
        read = pa.schema(
            [field.with_type(pa.string()) if field.name in names else field for field in schema]
        )
        keys = pa.schema([field for field in read if field.name in names])
        files = [
            Storage.path(uri)
            for uri in self._storage.list(location)
            if not uri.rpartition("/")[2].startswith(("_", "."))
        ]
        if not files:
            return schema.empty_table().select(list(columns))
        # Here: it brings pandas, which nothing else of the service needs.
        from pyarrow import dataset

        found = dataset.dataset(
            files,
            schema=read,
            filesystem=self._storage.filesystem,
            format="parquet",
            partitioning=dataset.partitioning(keys, flavor="hive") if len(keys) else None,
            partition_base_dir=Storage.path(location),
        )
        rows = found.to_table(columns=list(columns) or schema.names[:1])
        return rows.cast(pa.schema([schema.field(name) for name in rows.column_names]))

    def _json(self, location: str, columns: Mapping[str, Type]) -> pa.Table:
        rows: list[dict[str, Any]] = []
        for uri in self._storage.list(location):
            for line in self._storage.read(uri).decode().splitlines():
                told = json.loads(line)
                if not isinstance(told, dict):
                    raise SqlError("HIVE_BAD_DATA", f"{uri}: a line is no JSON object")
                rows.append({key.lower(): value for key, value in told.items()})
        return pa.table(
            {
                name: pa.array([_value(row.get(name)) for row in rows], pa.string()).cast(
                    arrow_type(kind)
                )
                for name, kind in columns.items()
            }
        )

    def _text(
        self, location: str, delimiter: str, names: list[str], columns: Mapping[str, Type]
    ) -> pa.Table:
        tables = [
            csv.read_csv(
                io.BytesIO(self._storage.read(uri)),
                csv.ReadOptions(column_names=names),
                csv.ParseOptions(delimiter=delimiter, quote_char=False),
                csv.ConvertOptions(
                    column_types={n: arrow_type(k) for n, k in columns.items()},
                    null_values=["\\N"],
                    strings_can_be_null=True,
                    include_columns=list(columns) or names[:1],
                ),
            )
            for uri in self._storage.list(location)
        ]
        return pa.concat_tables(tables) if tables else pa.table({n: [] for n in columns})


def _type(column: Mapping[str, Any]) -> Type:
    """The type of a column of Glue. Raises SqlError for one without, and for one not offered."""
    if not column.get("Type"):
        raise SqlError("HIVE_METASTORE_ERROR", f"Column {column['Name']} has no type")
    return of_glue(column["Type"])


def _check_properties(definition: dict[str, Any]) -> None:
    """Properties of a table that say which rows it has are not read. Raises SqlError."""
    parameters = definition.get("Parameters") or {}
    if parameters.get("projection.enabled", "false").lower() == "true":
        raise SqlError("NOT_SUPPORTED", "Partition projection is not supported")
    for name in ("skip.header.line.count", "skip.footer.line.count"):
        if parameters.get(name, "0").strip() != "0":
            raise SqlError("NOT_SUPPORTED", f"Property {name} is not supported")


def _value(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _columns(schema: pa.Schema) -> dict[str, Type]:
    """By names in small letters; a column of a type that Athena has not is not there."""
    found: dict[str, Type] = {}
    for field in schema:
        try:
            found[field.name.lower()] = of_arrow(field.type)
        except SqlError:
            continue
    return found


def _clocks(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Timestamps in milliseconds, as Athena reads them, without a zone."""
    if not pa.types.is_timestamp(column.type):
        return column
    plain = column.cast(pa.timestamp(column.type.unit))
    if column.type.unit == "us":
        rounded: Any = pc.round_temporal
        plain = rounded(plain, 1, "millisecond")
    return plain.cast(pa.timestamp("us"), safe=False)
