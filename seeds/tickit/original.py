"""Reads the original TICKIT files: delimited text, from the zip or from a folder.

Fields are taken as they are (nothing is quoted in these files). An empty field or `\\N` is null,
and empty lines at the end of a file are no rows.
Every file is checked whole before anything is returned, so that bad input changes nothing.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from labctl.errors import ExitCode, LabError
from seeds.tickit.schema import Column, Table

__all__ = ["read_original"]

AnyColumn: TypeAlias = "pa.ChunkedArray[Any]"

_NULLS = ("", "\\N")
_BOOLEANS = {"true": True, "t": True, "false": False, "f": False}
_SHOWN = 60

Found = TypeVar("Found", str, Path)


def read_original(path: Path, tables: Iterable[Table]) -> dict[str, pa.Table]:
    """The rows of these tables, from the original files in a zip or folder.

    Files are found by name, in whichever subfolder they are. Raises `LabError` (usage) that
    names file, line and column for a file that is missing or cannot be loaded as it is.
    """
    if path.is_dir():
        return {t.name: _parse(t, _only(t, path, path.rglob(t.file)).read_bytes()) for t in tables}
    if not path.exists():
        raise _bad(f"{path} does not exist.", hint="give the zip of the data set, or its folder")
    if not zipfile.is_zipfile(path):
        raise _bad(f"{path} is neither a zip file nor a folder.")
    with zipfile.ZipFile(path) as archive:
        try:
            return {t.name: _parse(t, archive.read(_member(t, path, archive))) for t in tables}
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise _bad(f"{path} is damaged: {error}") from error


def _member(table: Table, path: Path, archive: zipfile.ZipFile) -> str:
    names = archive.namelist()
    return _only(table, path, (n for n in names if PurePosixPath(n).name == table.file))


def _only(table: Table, path: Path, found: Iterable[Found]) -> Found:
    files = list(found)
    if len(files) != 1:
        problem = f"holds {len(files)} files named" if files else "does not hold"
        raise _bad(
            f"{path} {problem} {table.file}, the file of {table.label}.",
            hint="each file of the data set has to be there, once",
        )
    return files[0]


def _bad(what: str, *, hint: str | None = None, line: str | None = None) -> LabError:
    details = () if line is None else (line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…",)
    return LabError(what, hint=hint, details=details, exit_code=ExitCode.USAGE)


def _parse(table: Table, data: bytes) -> pa.Table:
    lines = data.rstrip(b"\r\n")
    if not lines:
        raise _bad(f"{table.file} is empty.")
    fields = _split(table, lines)
    arrays = [_convert(table, column, fields[column.name]) for column in table.columns]
    _check_key(table, arrays[0])
    return pa.Table.from_arrays(arrays, schema=table.arrow)


def _split(table: Table, data: bytes) -> pa.Table:
    """All fields, as bytes; one row per line, so that a row's number is its line's."""
    bad: list[csv.InvalidRow] = []

    def remember(row: csv.InvalidRow) -> Literal["skip"]:
        bad.append(row)
        return "skip"

    names = [column.name for column in table.columns]
    fields = csv.read_csv(
        io.BytesIO(data),
        # With threads the parser cannot tell the number of a row it refuses.
        read_options=csv.ReadOptions(column_names=names, use_threads=False),
        parse_options=csv.ParseOptions(
            delimiter=table.delimiter,
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
        raise _bad(
            f"{table.file}, line {row.number}: {row.actual_columns} fields"
            f" instead of {row.expected_columns}.",
            hint=f"fields are separated by {table.delimiter!r}",
            line=row.text,
        )
    return fields


def _convert(table: Table, column: Column, fields: AnyColumn) -> AnyColumn:
    """A column's fields as its type, or an error that names the first line that is wrong."""
    text = _attempt(table, column, fields, lambda f: f.cast(pa.string()), "no valid UTF-8")
    is_null = pc.is_in(text, value_set=pa.array(_NULLS))
    if not column.nullable:
        line = pc.index(is_null, pa.scalar(True)).as_py()
        if line >= 0:
            raise _bad(f"{table.file}, line {line + 1}, column {column.name}: must not be empty.")
    text = pc.if_else(is_null, pa.scalar(None, pa.string()), text)
    return _attempt(table, column, text, _parser(column), f"no {column.declared}")


def _attempt(
    table: Table,
    column: Column,
    values: AnyColumn,
    convert: Callable[[AnyColumn], AnyColumn],
    complaint: str,
) -> AnyColumn:
    try:
        return convert(values)
    except (pa.ArrowInvalid, ValueError):
        position = _first_failure(values, convert)
        shown = values[position].as_py()
        raise _bad(
            f"{table.file}, line {position + 1}, column {column.name}: {shown!r} is {complaint}."
        ) from None


def _first_failure(values: AnyColumn, convert: Callable[[AnyColumn], AnyColumn]) -> int:
    """Position of the first value that cannot be converted, found by halving."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            convert(values.slice(low, middle - low))
        except (pa.ArrowInvalid, ValueError):
            high = middle
        else:
            low = middle
    return low


def _parser(column: Column) -> Callable[[AnyColumn], AnyColumn]:
    kind = column.arrow
    if pa.types.is_boolean(kind):
        return _booleans
    if pa.types.is_timestamp(kind):
        return _timestamps
    if pa.types.is_integer(kind):
        return lambda text: _integers(text, pa.int16() if column.declared == "smallint" else kind)
    if column.length is not None:
        return lambda text: _limited(text, column.length or 0)
    return lambda text: text.cast(kind)


def _booleans(text: AnyColumn) -> AnyColumn:
    index = pc.index_in(pc.utf8_lower(text), value_set=pa.array(list(_BOOLEANS)))
    if index.null_count != text.null_count:
        raise ValueError
    return pa.chunked_array([list(_BOOLEANS.values())]).take(index)


def _integers(text: AnyColumn, kind: pa.DataType) -> AnyColumn:
    return text.cast(kind).cast(pa.int32())


def _limited(text: AnyColumn, length: int) -> AnyColumn:
    if (pc.max(pc.utf8_length(text)).as_py() or 0) > length:
        raise ValueError
    return text


_AMERICAN = r"^([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}) (.*)$"


def _timestamps(text: AnyColumn) -> AnyColumn:
    """`2008-01-25 14:30:00`, or as in the sales file `2/18/2008 02:36:48`."""
    iso = pc.replace_substring_regex(text, _AMERICAN, r"\3-\1-\2 \4")
    padded = pc.replace_substring_regex(iso, r"-([0-9])\b", r"-0\1")
    return padded.cast(pa.timestamp("us"))


def _check_key(table: Table, key: AnyColumn) -> None:
    lines: dict[object, int] = {}
    for line, value in enumerate(key.to_pylist(), start=1):
        first = lines.setdefault(value, line)
        if first != line:
            raise _bad(
                f"{table.file}, line {line}, column {table.key}: {value} is the key of"
                f" line {first} already."
            )
