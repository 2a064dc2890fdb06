"""Reads the original MoMA files: CSV with `|` between fields and a line of column names.

They are published as one zip per table, in a full and a smaller edition. A field that holds the
delimiter, a quote or a line break is quoted. An empty field or `\\N` is null, and empty lines at
the end of a file are no rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from seeds.files import DataFile, bad_input, read_files, typed
from seeds.table_declarations import Table

__all__ = ["read_original"]


def read_original(path: Path, tables: Iterable[Table]) -> dict[str, pa.Table]:
    """Read the tables whose files, or their zips, are in a folder or one zip.

    Raises `LabError` (usage) that names file and line for every file that cannot be loaded as it
    is, and where there is none.
    """
    return read_files(path, tables, _parse)


def _parse(file: DataFile) -> pa.Table:
    names = [column.name for column in file.table.columns]
    text = _text(file).rstrip("\r\n")
    if not text:
        raise bad_input(f"{file.name} is empty.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=file.table.delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    """Where the row begins: a quoted field can hold line breaks."""
    try:
        for row in reader:
            if line == 1:
                _check_header(file, row, names)
            elif len(row) != len(names):
                raise bad_input(
                    f"{file.name}, line {line}: {len(row)} fields instead of {len(names)}.",
                    hint=f"fields are separated by {file.table.delimiter!r}; one that holds it"
                    ' is written in quotes (")',
                    line=file.table.delimiter.join(row),
                )
            else:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise bad_input(
            f"{file.name}, line {line}: the quotes of a field do not match ({error}).",
            hint='a quoted field begins and ends with ", and writes each " within it twice',
        ) from error
    if not rows:
        raise bad_input(f"{file.name} holds no rows: only the column names.")
    fields = {
        name: pa.chunked_array([pa.array(column, pa.string())])
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    return typed(file, fields, line=lines.__getitem__)


def _text(file: DataFile) -> str:
    zero = file.content.find(b"\0")
    if zero >= 0:
        line = file.content.count(b"\n", 0, zero) + 1
        raise bad_input(f"{file.name}, line {line}: a zero byte, which no text can hold.")
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        raise bad_input(f"{file.name}, line {line}: no valid UTF-8.") from error


def _check_header(file: DataFile, header: list[str], names: list[str]) -> None:
    if header != names:
        delimiter = file.table.delimiter
        raise bad_input(
            f"{file.name}, line 1: not the column names of {file.table.label}.",
            hint=f"expected: {delimiter.join(names)}",
            line=delimiter.join(header),
        )
