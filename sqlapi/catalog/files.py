"""Tables of files that clients have defined: Parquet, JSON and delimited text."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv

from sqlapi.catalog.glue_types import of_glue
from sqlapi.source import PATH
from sqlapi.sources.parquet_rows import parquet_rows
from sqlapi.sql.arrow import arrow_type
from sqlapi.sql.errors import SqlError
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["Files", "column_type"]


class Files:
    """Reader of the files in a storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def rows(
        self, definition: Mapping[str, Any], columns: Mapping[str, Type], with_path: Sequence[str]
    ) -> pa.Table:
        """Return the columns, and PATH if it is in `with_path`; with none, rows to be counted.

        Raises SqlError, OSError, ValueError and Arrow's errors.
        """
        storage = definition.get("StorageDescriptor") or {}
        location, serde = storage.get("Location") or "", storage.get("InputFormat") or ""
        library = (storage.get("SerdeInfo") or {}).get("SerializationLibrary") or ""
        if "hudi" in serde.lower():
            raise SqlError("NOT_SUPPORTED", f"Hudi table at {location} is not one of this lake")
        _check_properties(definition)
        keys = [k["Name"] for k in definition.get("PartitionKeys") or []]
        if "parquet" in serde.lower():
            return self._parquet(location, definition, columns, with_path)
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
            return self._text(location, delimiter, names, columns, with_path)
        raise SqlError("HIVE_UNSUPPORTED_FORMAT", f"Unsupported storage format: {serde}")

    def _parquet(
        self,
        location: str,
        definition: Mapping[str, Any],
        columns: Mapping[str, Type],
        with_path: Sequence[str],
    ) -> pa.Table:
        stored = [
            *(definition["StorageDescriptor"].get("Columns") or []),
            *(definition.get("PartitionKeys") or []),
        ]
        schema = pa.schema([(c["Name"].lower(), arrow_type(column_type(c))) for c in stored])
        names = {key["Name"].lower() for key in definition.get("PartitionKeys") or []}
        # Arrow reads no decimals from folder names: they are read as strings and cast.
        read = pa.schema(
            [field.with_type(pa.string()) if field.name in names else field for field in schema]
        )
        keys = pa.schema([field for field in read if field.name in names])
        schema = pa.schema([*schema, *(pa.field(name, pa.string()) for name in with_path)])
        files = [
            Storage.path(uri)
            for uri in self._storage.list(location)
            if not uri.rpartition("/")[2].startswith(("_", "."))
        ]
        if not files:
            return schema.empty_table().select([*columns, *with_path])
        # Imported here: it imports pandas, which nothing else in the service needs.
        from pyarrow import dataset

        found = dataset.dataset(
            files,
            schema=read,
            filesystem=self._storage.filesystem,
            format="parquet",
            partitioning=dataset.partitioning(keys, flavor="hive") if len(keys) else None,
            partition_base_dir=Storage.path(location),
        )
        wanted = list(columns) or ([] if with_path else schema.names[:1])
        rows = parquet_rows(found, wanted, with_path=bool(with_path))
        return rows.cast(pa.schema([schema.field(name) for name in rows.column_names]))

    def _json(self, location: str, columns: Mapping[str, Type]) -> pa.Table:
        rows: list[dict[str, Any]] = []
        paths: list[str] = []
        for uri in self._storage.list(location):
            for line in self._storage.read(uri).decode().splitlines():
                told = json.loads(line)
                if not isinstance(told, dict):
                    raise SqlError("HIVE_BAD_DATA", f"{uri}: a line is no JSON object")
                rows.append({key.lower(): value for key, value in told.items()})
                paths.append(uri)
        return pa.table(
            {
                PATH: pa.array(paths, pa.string()),
                **{
                    name: pa.array([_value(row.get(name)) for row in rows], pa.string()).cast(
                        arrow_type(kind)
                    )
                    for name, kind in columns.items()
                },
            }
        )

    def _text(
        self,
        location: str,
        delimiter: str,
        names: list[str],
        columns: Mapping[str, Type],
        with_path: Sequence[str],
    ) -> pa.Table:
        uris = self._storage.list(location)
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
            for uri in uris
        ]
        for name in with_path:
            tables = [
                table.append_column(name, pa.array([uri] * len(table), pa.string()))
                for uri, table in zip(uris, tables, strict=True)
            ]
        if not tables:
            kinds = {name: arrow_type(kind) for name, kind in columns.items()}
            kinds |= dict.fromkeys(with_path, pa.string())
            return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
        return pa.concat_tables(tables)


def column_type(column: Mapping[str, Any]) -> Type:
    """Return the type of Glue's column. Raises SqlError for a missing or unsupported type."""
    if not column.get("Type"):
        raise SqlError("HIVE_METASTORE_ERROR", f"Column {column['Name']} has no type")
    return of_glue(column["Type"])


def _check_properties(definition: Mapping[str, Any]) -> None:
    """Raise SqlError for table properties that decide which rows the table has."""
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
