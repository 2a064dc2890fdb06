"""The files that CTAS and UNLOAD write."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sqlapi.athena.partitions import partitions
from sqlapi.sql.arrow import named
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.text import as_text
from sqlapi.sql.types import Type
from sqlapi.storage import LocationError, Storage

__all__ = ["FORMATS", "Target", "storage_descriptor", "write"]

FORMATS = ("PARQUET", "JSON", "TEXTFILE")
_HIVE = "org.apache.hadoop.hive"
_MAPRED = "org.apache.hadoop.mapred.TextInputFormat"
_IGNORE = f"{_HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat"


@dataclass(frozen=True)
class Target:
    """The location and format of files to write."""

    location: str
    format: str = "PARQUET"
    compression: str = ""
    delimiter: str = "\x01"
    partitioned_by: tuple[str, ...] = ()

    @property
    def zipped(self) -> bool:
        return self.format != "PARQUET" and self.compression == "GZIP"


def write(
    storage: Storage, target: Target, rows: pa.Table, columns: Sequence[tuple[str, Type]], name: str
) -> list[tuple[str, list[str]]]:
    """Write the rows; return the addresses of the files with their partitions' values.

    Raises SqlError for columns and partitions that no table can have, and OSError.
    """
    arrays = [named(rows.column(i), kind) for i, (_, kind) in enumerate(columns)]
    table = pa.table(arrays, names=[column for column, _ in columns])
    kinds = dict(columns)
    if not target.partitioned_by:
        if not table.num_rows:
            return []
        uri = f"{target.location}/{name}{_ending(target)}"
        _put(storage, uri, _data(target, table, kinds))
        return [(uri, [])]
    found = []
    parts = partitions(table, target.partitioned_by, kinds)
    for number, (folder, values, part) in enumerate(parts):
        uri = f"{target.location}/{folder}/{name}_{number}{_ending(target)}"
        _put(storage, uri, _data(target, part, kinds))
        found.append((uri, values))
    return found


def _put(storage: Storage, uri: str, data: bytes) -> None:
    try:
        storage.write(uri, data)
    except LocationError as error:
        # The folder was checked before, so the name of a partition is too long.
        raise SqlError("HIVE_WRITER_OPEN_ERROR", str(error)) from None


def _ending(target: Target) -> str:
    return ".gz" if target.zipped else ".parquet" if target.format == "PARQUET" else ""


def _data(target: Target, table: pa.Table, kinds: dict[str, Type]) -> bytes:
    if target.format == "PARQUET":
        sink = io.BytesIO()
        compression: Any = target.compression or "GZIP"
        parquet.write_table(table, sink, compression=compression)
        return sink.getvalue()
    if target.format == "JSON":
        lines = (json.dumps(row, default=str, ensure_ascii=False) for row in table.to_pylist())
        data = "".join(f"{line}\n" for line in lines).encode()
    else:
        if any(kinds[name].args for name in table.column_names):
            raise SqlError("NOT_SUPPORTED", "Arrays, maps and rows in text files are not supported")
        texts = [as_text(table[name], kinds[name]).to_pylist() for name in table.column_names]
        rows = zip(*texts, strict=True)
        data = "".join(
            target.delimiter.join("\\N" if v is None else _escaped(v, target) for v in row) + "\n"
            for row in rows
        ).encode()
    return gzip.compress(data, mtime=0) if target.zipped else data


def _escaped(value: str, target: Target) -> str:
    if target.delimiter in value or "\n" in value:
        raise SqlError("NOT_SUPPORTED", "A text with the delimiter or a line's end in a text file")
    return value


def storage_descriptor(target: Target, columns: Sequence[tuple[str, Type]]) -> dict[str, Any]:
    """Return Glue's description of the files."""
    parquet_ = f"{_HIVE}.ql.io.parquet"
    formats = {
        "PARQUET": (
            f"{parquet_}.MapredParquetInputFormat", f"{parquet_}.MapredParquetOutputFormat",
            f"{parquet_}.serde.ParquetHiveSerDe", {"serialization.format": "1"},
        ),
        "JSON": (_MAPRED, _IGNORE, "org.openx.data.jsonserde.JsonSerDe", {}),
        "TEXTFILE": (
            _MAPRED, _IGNORE, f"{_HIVE}.serde2.lazy.LazySimpleSerDe",
            {"field.delim": target.delimiter},
        ),
    }  # fmt: skip
    read, written, library, parameters = formats[target.format]
    return {
        "Columns": [{"Name": n.lower(), "Type": k.glue} for n, k in columns],
        "Location": target.location,
        "InputFormat": read,
        "OutputFormat": written,
        "Compressed": target.zipped,
        "SerdeInfo": {"SerializationLibrary": library, "Parameters": parameters},
    }
