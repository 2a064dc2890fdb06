"""Result files, which are written when a statement succeeds and then read in pages."""

from __future__ import annotations

import io
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import pyarrow as pa
from pyarrow import csv

from sqlapi.athena.layout import Layout
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["Line", "Output", "Page", "Results", "column_info"]

_LONGEST_NAME = 64
"""Longest name of a result file, which is an execution's id and a suffix."""
_KEPT_BYTES = 16 * 1024**2
"""Bytes of results' beginnings that are cached, since most clients read a result at once."""
_PAGE_BYTES = 4 * 1024**2
"""Bytes after which a page ends, at the end of the block."""
Line = Sequence[str | None]


@dataclass(frozen=True)
class Output:
    """The output of a statement."""

    columns: list[dict[str, Any]]
    """Athena's ColumnInfo."""
    lines: tuple[str, ...] = ()
    """Lines of a utility statement. As in Athena, a row is one string with tabs between columns."""
    layout: Layout | None = None
    """Layout of a query's result, which is already in the bucket."""
    beginning: bytes = b""
    """The first block of that result."""

    @property
    def rows(self) -> int:
        return self.layout.rows if self.layout else len(self.lines)

    @staticmethod
    def of_query(
        columns: Sequence[tuple[str, Type]], catalog: str, layout: Layout, beginning: bytes
    ) -> Output:
        infos = [column_info(name, kind, catalog) for name, kind in columns]
        return Output(infos, layout=layout, beginning=beginning)

    @staticmethod
    def of_lines(names: list[str], lines: list[str]) -> Output:
        infos = [_info(name, "string", 0, 0) for name in names]
        return Output(infos, tuple(line.replace("\n", "\\n") for line in lines))


def column_info(name: str, kind: Type, catalog: str) -> dict[str, Any]:
    """Return Athena's description of a column."""
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


@dataclass(frozen=True)
class Page:
    """Some rows of a result, as strings."""

    lines: list[Line]
    rows: int
    """All rows of the result."""


class Results:
    """Results in the bucket: outputs are written, and read in pages."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: OrderedDict[str, tuple[Layout, bytes]] = OrderedDict()
        """Beginnings of results; `_bytes` is their total size."""
        self._bytes = 0
        self._lock = Lock()

    def write(self, location: str, output: Output) -> None:
        """Write the result's `.metadata` and, unless a worker has, its file. Raises OSError."""
        layout, beginning = output.layout, output.beginning
        if layout is None:
            data = "".join(f"{line}\n" for line in output.lines).encode()
            self._storage.write(location, data)
            layout = Layout(len(output.lines), len(data), ((0, 0),) if output.lines else ())
            beginning = data
        told = {"ColumnInfo": output.columns, "Layout": layout.as_json()}
        self._storage.write(f"{location}.metadata", json.dumps(told).encode())
        self._keep(location, layout, beginning)

    def check(self, location: str) -> None:
        """Raise LocationError for a folder that results must not be written to."""
        self._storage.check(location)
        self._storage.check(f"{location.rstrip('/')}/{'x' * _LONGEST_NAME}")
        self._storage.check_bucket(location)

    def remove(self, location: str) -> None:
        with self._lock:
            self._forget(location)
        self._storage.remove(location)
        self._storage.remove(f"{location}.metadata")

    def _keep(self, location: str, layout: Layout, beginning: bytes) -> None:
        with self._lock:
            self._forget(location)
            self._kept[location] = (layout, beginning)
            self._bytes += _cost(layout, beginning)
            while len(self._kept) > 1 and self._bytes > _KEPT_BYTES:
                self._forget(next(iter(self._kept)))

    def _forget(self, location: str) -> None:
        if kept := self._kept.pop(location, None):
            self._bytes -= _cost(*kept)

    def page(self, location: str, columns: list[dict[str, Any]], start: int, count: int) -> Page:
        """Return up to `count` rows from row `start`; fewer if they are large.

        Raises OSError or ValueError if the file is missing or is not the one that was written.
        """
        with self._lock:
            layout, beginning = self._kept.get(location, (None, b""))
        if layout is None:
            layout = self._layout(location)
        lines: list[Line] = []
        size, end = 0, min(start + count, layout.rows)
        while start + len(lines) < end and size < _PAGE_BYTES:
            row = start + len(lines)
            block = layout.block_of(row)
            begins, ends = layout.place(block)
            if block or not beginning:
                data = self._storage.read_part(location, begins, ends)
            else:
                data = beginning
            found = _lines(data, len(columns), is_csv=location.endswith(".csv")) if data else []
            some = found[row - layout.first_row(block) : end - layout.first_row(block)]
            if not some:
                raise OSError(f"{location} has other rows than were written")
            lines += some
            size += len(data)
        return Page(lines, layout.rows)

    def _layout(self, location: str) -> Layout:
        text = self._storage.read(f"{location}.metadata")
        try:
            layout = Layout.of_json(json.loads(text)["Layout"])
        except (KeyError, TypeError, ValueError):
            raise OSError(
                f"{location}.metadata was written by an earlier version: run the query again"
            ) from None
        self._keep(location, layout, b"")
        return layout


def _cost(layout: Layout, beginning: bytes) -> int:
    return len(beginning) + 100 * (len(layout.blocks) + 1)


def _lines(data: bytes, columns: int, *, is_csv: bool) -> list[Line]:
    if not is_csv:
        return [(line,) for line in data.decode().split("\n")[:-1]]
    names = [f"c{index}" for index in range(columns)]
    # a quoted '' is a string; an empty field is NULL, even if it is the only one in its line
    rows = csv.read_csv(
        io.BytesIO(data),
        csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
        ),
    )  # fmt: skip
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
