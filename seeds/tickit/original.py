"""Reads the original TICKIT files: delimited text, from the zip or from a folder.

Fields are taken as they are (nothing is quoted in these files). An empty field or `\\N` is null,
and empty lines at the end of a file are no rows.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from seeds.files import AnyColumn, DataFile, Parser, bad_input, read_files, typed
from seeds.table_declarations import Column, Table

__all__ = ["read_original"]

_BOOLEANS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def read_original(path: Path, tables: Iterable[Table]) -> dict[str, pa.Table]:
    """Read the tables whose original files are in a zip or folder.

    Raises `LabError` (usage) that names file, line and column for every file that cannot be loaded
    as it is, and where there is none.
    """
    return read_files(path, tables, _parse)


def _parse(file: DataFile) -> pa.Table:
    lines = file.content.rstrip(b"\r\n")
    if not lines:
        raise bad_input(f"{file.name} is empty.")
    fields = _split(file, lines)
    columns = {name: fields[name] for name in fields.column_names}
    return typed(file, columns, line=lambda position: position + 1, special=_special)


def _split(file: DataFile, data: bytes) -> pa.Table:
    """Split all fields, as bytes; a row's number is its line's."""
    bad: list[csv.InvalidRow] = []

    def remember(row: csv.InvalidRow) -> Literal["skip"]:
        bad.append(row)
        return "skip"

    names = [column.name for column in file.table.columns]
    fields = csv.read_csv(
        io.BytesIO(data),
        # With threads the parser cannot tell the number of a row it refuses.
        read_options=csv.ReadOptions(column_names=names, use_threads=False),
        parse_options=csv.ParseOptions(
            delimiter=file.table.delimiter,
            quote_char=False,
            ignore_empty_lines=False,
            invalid_row_handler=remember,
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False
        ),
    )
    if bad:
        row = bad[0]
        raise bad_input(
            f"{file.name}, line {row.number}: {row.actual_columns} fields"
            f" instead of {row.expected_columns}.",
            hint=f"fields are separated by {file.table.delimiter!r}",
            line=row.text,
        )
    return fields


def _special(column: Column) -> Parser | None:
    if pa.types.is_boolean(column.arrow):
        return _booleans
    return _timestamps if pa.types.is_timestamp(column.arrow) else None


def _booleans(text: AnyColumn) -> AnyColumn:
    index = pc.index_in(pc.utf8_lower(text), value_set=pa.array(list(_BOOLEANS)))
    if index.null_count != text.null_count:
        raise ValueError
    return pa.chunked_array([list(_BOOLEANS.values())]).take(index)


_AMERICAN = r"^([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}) (.*)$"


def _timestamps(text: AnyColumn) -> AnyColumn:
    """`2008-01-25 14:30:00`, or as in the sales file `2/18/2008 02:36:48`."""
    iso = pc.replace_substring_regex(text, _AMERICAN, r"\3-\1-\2 \4")
    padded = pc.replace_substring_regex(iso, r"-([0-9])\b", r"-0\1")
    return padded.cast(pa.timestamp("us"))
