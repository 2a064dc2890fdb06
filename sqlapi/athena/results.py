"""Result files: written once when a statement succeeds, paged from there."""

from __future__ import annotations

import io
import json
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

import pyarrow as pa
from pyarrow import csv

from sqlapi.sql.text import as_text
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["Output", "Results", "column_info"]

_KEPT = 256
_KEPT_BYTES = 64 * 1024 * 1024
"""Results are mostly read at once; later their files are read."""


@dataclass(frozen=True)
class Output:
    """What a statement gives back: rows as texts, and the description of their columns."""

    columns: list[dict[str, Any]]
    """Athena's ColumnInfo."""
    rows: pa.Table
    """Texts, one column each, called c0, c1 and so on."""
    header: bool = True
    """Whether the names are the first row: of queries, not of utility statements."""

    @staticmethod
    def of_query(rows: pa.Table, columns: list[tuple[str, Type]], catalog: str) -> Output:
        texts = [as_text(rows.column(i), kind) for i, (_, kind) in enumerate(columns)]
        named = pa.table(texts, names=[f"c{i}" for i in range(len(columns))])
        return Output([column_info(name, kind, catalog) for name, kind in columns], named)

    @staticmethod
    def of_lines(names: list[str], lines: list[str]) -> Output:
        """Of a utility statement. As in Athena a row is one text, with tabs between columns."""
        infos = [_info(name, "string", 0, 0) for name in names]
        return Output(infos, _lines([line.replace("\n", "\\n") for line in lines]), header=False)


def column_info(name: str, kind: Type, catalog: str) -> dict[str, Any]:
    """Athena's description of a column."""
    sizes = {
        "boolean": (0, 0), "tinyint": (3, 0), "smallint": (5, 0), "integer": (10, 0),
        "bigint": (19, 0), "real": (17, 0), "double": (17, 0), "date": (0, 0),
        "timestamp": (3, 0), "timestamp with time zone": (3, 0), "varbinary": (1073741824, 0),
    }  # fmt: skip
    precision, scale = sizes.get(kind.name, (0, 0))
    if kind.name == "decimal":
        precision, scale = kind.size or 0, kind.scale
    if kind.name == "varchar":
        precision = kind.size if kind.size is not None else 2147483647
    name_of = {"real": "float", "timestamp with time zone": "timestamp with time zone"}
    shown = name_of.get(kind.name, kind.name)
    sensitive = kind.name in ("varchar", "char")
    return _info(name, shown, precision, scale, catalog, sensitive=sensitive)


def _info(
    name: str, kind: str, precision: int, scale: int, catalog: str = "hive", *,
    sensitive: bool = False,
) -> dict[str, Any]:  # fmt: skip
    return {
        "CatalogName": "hive", "SchemaName": "", "TableName": "", "Name": name, "Label": name,
        "Type": kind, "Precision": precision, "Scale": scale, "Nullable": "UNKNOWN",
        "CaseSensitive": sensitive,
    }  # fmt: skip


def _lines(lines: list[str]) -> pa.Table:
    return pa.table({"c0": pa.array(lines, pa.string())})


class Results:
    """Writes outputs to the bucket, and reads pages of them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: OrderedDict[str, tuple[pa.Table, int]] = OrderedDict()
        """With their bytes, of which `_bytes` is the sum."""
        self._bytes = 0
        self._lock = Lock()

    def write(self, location: str, output: Output) -> None:
        """The file at `location`, and `.metadata` beside it. Raises OSError."""
        if output.header:
            labels = [info["Label"] for info in output.columns]
            sink = pa.BufferOutputStream()
            options = csv.WriteOptions(include_header=False, quoting_style="all_valid")
            header = pa.table(
                [pa.array([label]) for label in labels], names=output.rows.column_names
            )
            csv.write_csv(header, sink, options)
            csv.write_csv(output.rows, sink, options)
            data = sink.getvalue().to_pybytes()
        else:
            data = "".join(f"{line}\n" for line in output.rows.column(0).to_pylist()).encode()
        self._storage.write(location, data)
        self._storage.write(
            f"{location}.metadata", json.dumps({"ColumnInfo": output.columns}).encode()
        )
        self._keep(location, output.rows)

    def check(self, location: str) -> None:
        """Raise LocationError for a folder that results may not be written to."""
        self._storage.check(location)
        self._storage.check_bucket(location)

    def remove(self, location: str) -> None:
        with self._lock:
            self._forget(location)
        self._storage.remove(location)
        self._storage.remove(f"{location}.metadata")

    def _keep(self, location: str, rows: pa.Table) -> None:
        size = rows.nbytes
        with self._lock:
            self._forget(location)
            self._kept[location] = (rows, size)
            self._bytes += size
            while len(self._kept) > _KEPT or (len(self._kept) > 1 and self._bytes > _KEPT_BYTES):
                self._forget(next(iter(self._kept)))

    def _forget(self, location: str) -> None:
        _, size = self._kept.pop(location, (None, 0))
        self._bytes -= size

    def rows(self, location: str, columns: list[dict[str, Any]]) -> pa.Table:
        """All rows as texts. Raises OSError when the file is gone."""
        with self._lock:
            if location in self._kept:
                self._kept.move_to_end(location)
                return self._kept[location][0]
        names = [f"c{i}" for i in range(len(columns))]
        data = self._storage.read(location)
        if location.endswith(".csv"):
            # a quoted '' is a text, an empty field is NULL
            convert = csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
            )  # fmt: skip
            rows = csv.read_csv(
                io.BytesIO(data),
                csv.ReadOptions(column_names=names, skip_rows_after_names=1),
                csv.ParseOptions(newlines_in_values=True),
                convert,
            )
        else:
            rows = _lines(data.decode().split("\n")[:-1])
        self._keep(location, rows)
        return rows
