"""Tables of files that clients have defined: Parquet, ORC, Avro, JSON and delimited text."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlapi.catalog.field_texts import of_partition
from sqlapi.catalog.glue_types import of_glue
from sqlapi.catalog.line_files import FILE, read_json, read_text, values_array
from sqlapi.source import PATH
from sqlapi.sources.parquet_rows import parquet_rows
from sqlapi.sql.arrow import arrow_type, of_texts
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["Files", "Partition", "column_type", "partition_rows"]

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""A partition's value that means NULL."""
Partition = Mapping[str, Any]
"""Glue's Partition: `Values` and `StorageDescriptor`."""


class Files:
    """Reader of the files in a storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def rows(
        self,
        definition: Mapping[str, Any],
        partitions: Sequence[Partition],
        columns: Mapping[str, Type],
        with_path: Sequence[str],
    ) -> pa.Table:
        """Return the columns, and PATH if it is in `with_path`; with none, rows to be counted.

        A table with partition keys has the files of its `partitions` alone. Raises SqlError,
        OSError, ValueError and Arrow's errors.
        """
        _check_properties(definition)
        storage = definition.get("StorageDescriptor") or {}
        keys = {
            key["Name"].lower(): (at, column_type(key))
            for at, key in enumerate(definition.get("PartitionKeys") or [])
        }
        plain = {name: kind for name, kind in columns.items() if name not in keys}
        asked = {name: keys[name] for name in columns if name in keys}
        schema = pa.schema([(n, arrow_type(k)) for n, k in plain.items()] + [(FILE, pa.string())])
        found = []
        for form, parts in self._forms(storage, partitions if keys else None):
            for values in self._rounds(parts):
                rows = self._read(form, list(values), plain, definition)
                found.append(_with_keys(rows, values, asked))
        if not found:
            found = [_with_keys(schema.empty_table(), {}, asked)]
        rows = pa.concat_tables(found)
        if columns and not with_path:
            return rows.select(list(columns))
        return rows.select([*columns, FILE]).rename_columns([*columns, PATH])

    @staticmethod
    def _forms(
        storage: Mapping[str, Any], partitions: Sequence[Partition] | None
    ) -> list[tuple[Mapping[str, Any], list[tuple[str, Sequence[str]]]]]:
        """Return storage descriptors that differ in format, each with its locations and values."""
        if partitions is None:
            return [(storage, [(storage.get("Location") or "", ())])]
        found: dict[str, tuple[Mapping[str, Any], list[tuple[str, Sequence[str]]]]] = {}
        for one in partitions:
            own = {k: v for k, v in (one.get("StorageDescriptor") or {}).items() if v}
            form = {**storage, **own, "Columns": storage.get("Columns") or []}
            kind = repr((form.get("InputFormat"), form.get("SerdeInfo")))
            location = form.get("Location") or ""
            found.setdefault(kind, (form, []))[1].append((location, one.get("Values") or ()))
        return list(found.values())

    def _rounds(
        self, parts: Sequence[tuple[str, Sequence[str]]]
    ) -> Sequence[Mapping[str, Sequence[str]]]:
        """Return the values of each file's partition; each round has a file once.

        Partitions may share files, which then have rows in each of them.
        """
        rounds: list[dict[str, Sequence[str]]] = []
        for location, values in parts:
            for uri in self._files(location):
                free = next((one for one in rounds if uri not in one), None)
                if free is None:
                    free = {}
                    rounds.append(free)
                free[uri] = values
        return rounds

    def _files(self, location: str) -> list[str]:
        """Return the files with rows: no empty ones, and none with a hidden name."""
        start = len(self._storage.path(location)) + 1
        return [
            self._storage.uri(path)
            for path, size in self._storage.sizes(location)
            if size and not any(name.startswith(("_", ".")) for name in path[start:].split("/"))
        ]

    def _read(
        self,
        form: Mapping[str, Any],
        files: Sequence[str],
        columns: Mapping[str, Type],
        definition: Mapping[str, Any],
    ) -> pa.Table:
        """Return the columns and FILE of files of one format."""
        reads = form.get("InputFormat") or ""
        serde = form.get("SerdeInfo") or {}
        kind, library = reads.lower(), serde.get("SerializationLibrary") or ""
        names = [c["Name"].lower() for c in form.get("Columns") or []]
        if "hudi" in kind or "iceberg" in kind:
            raise SqlError("NOT_SUPPORTED", f"Table at {form.get('Location')} is not of this lake")
        if "parquet" in kind:
            return self._columnar("parquet", files, columns, None)
        if "orc" in kind:
            by_name = (serde.get("Parameters") or {}).get("orc.column.index.access") == "false"
            return self._columnar("orc", files, columns, None if by_name else names)
        if "avro" in kind:
            return self._avro(files, columns)
        skip = _header(definition)
        if "json" in library.lower():
            return read_json(self._storage, files, serde, columns, skip)
        if "LazySimple" in library or "OpenCSV" in library:
            return read_text(self._storage, files, serde, names, columns, skip)
        raise SqlError("HIVE_UNSUPPORTED_FORMAT", f"Unsupported storage format: {reads}")

    def _columnar(
        self,
        kind: str,
        files: Sequence[str],
        columns: Mapping[str, Type],
        names: Sequence[str] | None,
    ) -> pa.Table:
        """Read Parquet or ORC: by name without regard to case, or by the position in `names`."""
        # Imported here: it imports pandas, which nothing else in the service needs.
        from pyarrow import dataset

        paths = [Storage.path(uri) for uri in files]
        make: Any = dataset.dataset
        whole = make(paths, schema=pa.schema([]), filesystem=self._storage.filesystem, format=kind)
        groups: dict[tuple[tuple[str, str], ...], list[Any]] = {}
        for fragment in whole.get_fragments():
            stored = fragment.physical_schema.names
            if names is None:
                own = {name.lower(): name for name in reversed(stored)}
            else:
                own = dict(zip(names, stored, strict=False))
            # A column that a file lacks is NULL: Arrow finds none by such a name.
            key = tuple((name, own.get(name, f"\x00{name}")) for name in columns)
            groups.setdefault(key, []).append(fragment)
        found = []
        for key, fragments in groups.items():
            schema = pa.schema([(own, arrow_type(columns[name])) for name, own in key])
            part = dataset.FileSystemDataset(
                fragments, schema, fragments[0].format, self._storage.filesystem
            )
            rows = parquet_rows(part, [own for _, own in key], with_path=True)
            found.append(rows.rename_columns([*columns, FILE]))
        return pa.concat_tables(found)

    def _avro(self, files: Sequence[str], columns: Mapping[str, Type]) -> pa.Table:
        # Imported here: only tables of Avro files need it.
        import fastavro

        rows: list[dict[str, Any]] = []
        paths: list[str] = []
        for uri in files:
            for record in fastavro.reader(io.BytesIO(self._storage.read(uri))):
                if not isinstance(record, dict):
                    raise SqlError("HIVE_BAD_DATA", f"{uri} has other values than records")
                rows.append({str(key).lower(): value for key, value in record.items()})
                paths.append(uri)
        made = {n: values_array([row.get(n) for row in rows], k) for n, k in columns.items()}
        return pa.table([*made.values(), pa.array(paths, pa.string())], names=[*made, FILE])


def partition_rows(rows: Sequence[Sequence[str]], keys: Mapping[str, Type]) -> pa.Table:
    """Return a row per partition, with the values of its keys. Raises SqlError."""
    arrays = [
        of_partition(
            pa.chunked_array([pa.array([_value(row, at) for row in rows], pa.string())]), kind
        )
        for at, kind in enumerate(keys.values())
    ]
    return pa.table(arrays, names=list(keys))


def column_type(column: Mapping[str, Any]) -> Type:
    """Return the type of Glue's column. Raises SqlError for a missing or unsupported type."""
    if not column.get("Type"):
        raise SqlError("HIVE_METASTORE_ERROR", f"Column {column['Name']} has no type")
    return of_glue(column["Type"])


def _with_keys(
    rows: pa.Table, values: Mapping[str, Sequence[str]], keys: Mapping[str, tuple[int, Type]]
) -> pa.Table:
    """Add partition keys, given by their place and type, to rows that have FILE."""
    for name, (at, kind) in keys.items():
        by_file = {uri: _value(of_part, at) for uri, of_part in values.items()}
        texts = of_texts(rows[FILE], by_file.__getitem__, pa.string())
        rows = rows.append_column(name, of_partition(texts, kind))
    return rows


def _value(values: Sequence[str], at: int) -> str | None:
    value = values[at] if at < len(values) else NO_VALUE
    return None if value == NO_VALUE else value


def _header(definition: Mapping[str, Any]) -> int:
    text = (definition.get("Parameters") or {}).get("skip.header.line.count", "0").strip()
    if not text.isdecimal() or len(text) > 9:
        raise SqlError("HIVE_INVALID_METADATA", f"Invalid value of skip.header.line.count: {text}")
    return int(text)


def _check_properties(definition: Mapping[str, Any]) -> None:
    """Raise SqlError for table properties that decide which rows the table has."""
    parameters = definition.get("Parameters") or {}
    if parameters.get("projection.enabled", "false").lower() == "true":
        raise SqlError("NOT_SUPPORTED", "Partition projection is not supported")
    if parameters.get("skip.footer.line.count", "0").strip() != "0":
        raise SqlError("NOT_SUPPORTED", "Property skip.footer.line.count is not supported")
