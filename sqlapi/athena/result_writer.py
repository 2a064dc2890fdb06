"""The writer of Athena's result file, for any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
from pyarrow import csv

from sqlapi.athena.layout import BLOCK_BYTES, PAGE_ROWS, Layout
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.text import as_text
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["LONGEST_ROW", "ResultWriter"]

LONGEST_ROW = 32 * 1024**2
"""Largest size of a row in bytes, as in Athena."""
_IN_MEMORY = 4 * 1024**2
"""Largest result in bytes that is collected in memory; a larger one is collected in a file."""
_SLICE_BYTES = BLOCK_BYTES // 4
"""Bytes of rows that are converted to text at a time."""
_OPTIONS = csv.WriteOptions(include_header=False, quoting_style="all_valid")


class ResultWriter:
    """Writer that collects rows and then puts the file into the bucket."""

    def __init__(self, columns: Sequence[tuple[str, Type]], folder: Path, limit: int) -> None:
        """Start a result. `folder` is for a temporary file; `limit` is the maximum in bytes."""
        self._kinds = [kind for _, kind in columns]
        self._names = [f"c{index}" for index in range(len(columns))]
        self._limit = limit
        self._rows, self._size = 0, 0
        self._blocks: list[tuple[int, int]] = []
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY, dir=str(folder))  # noqa: SIM115
        labels = [pa.array([label], pa.string()) for label, _ in columns]
        self._append(self._lines(labels))

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, rows: pa.RecordBatch) -> None:
        """Append rows. Raises SqlError when the result grows too large."""
        if rows.num_rows > 1 and (rows.num_rows > PAGE_ROWS or rows.nbytes > _SLICE_BYTES):
            half = rows.num_rows // 2
            self.add(rows.slice(0, half))
            self.add(rows.slice(half))
        elif rows.num_rows:
            self._add(rows)

    def _add(self, rows: pa.RecordBatch) -> None:
        texts = [
            as_text(pa.chunked_array([column]), kind)
            for column, kind in zip(rows.columns, self._kinds, strict=True)
        ]
        lines = self._lines(texts)
        if len(lines) > LONGEST_ROW * rows.num_rows:
            raise _too_large("A row of the result", LONGEST_ROW)
        if not self._blocks or self._size - self._blocks[-1][1] >= BLOCK_BYTES:
            self._blocks.append((self._rows, self._size))
        self._append(lines)
        self._rows += rows.num_rows

    def _lines(self, texts: Sequence[Any]) -> bytes:
        sink = pa.BufferOutputStream()
        csv.write_csv(pa.table(texts, names=self._names), sink, _OPTIONS)
        return sink.getvalue().to_pybytes()

    def _append(self, lines: bytes) -> None:
        if self._size + len(lines) > self._limit:
            raise _too_large("The result", self._limit)
        self._file.write(lines)
        self._size += len(lines)

    @property
    def layout(self) -> Layout:
        return Layout(self._rows, self._size, tuple(self._blocks))

    def beginning(self) -> bytes:
        """Return the first block; it is empty if there are no rows."""
        if not self._blocks:
            return b""
        begin, end = self.layout.place(0)
        self._file.seek(begin)
        return self._file.read(end - begin)

    def put(self, storage: Storage, location: str) -> None:
        """Write the file to the bucket. Raises OSError."""
        self._file.seek(0)
        storage.write_file(location, self._file)


def _too_large(what: str, limit: int) -> SqlError:
    return SqlError(
        "EXCEEDED_RESULT_SIZE_LIMIT",
        f"{what} has more than {limit / 1024**2:,.0f} MiB. Select fewer rows or columns.",
    )
