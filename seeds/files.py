"""A data set's own files: finding them, and making their fields the declared types.

Every file is checked whole before anything is returned, so that bad input changes nothing.
How a file is split into fields is for the data set to say.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from labctl.errors import ExitCode, LabError
from seeds.table_declarations import Column, Table

__all__ = ["AnyColumn", "DataFile", "Parser", "bad_input", "read_files", "typed"]

AnyColumn: TypeAlias = "pa.ChunkedArray[Any]"
Parser: TypeAlias = Callable[[AnyColumn], AnyColumn]
"""Makes texts values of a type; `ArrowInvalid` or `ValueError` where one is none."""

_NULLS = ("", "\\N")
_SHOWN = 60
_MOST_BYTES = 512 * 1024**2
"""Size of one file, unpacked: several times the largest that the data sets have."""


@dataclass(frozen=True)
class DataFile:
    """The file of one table, as it was found."""

    table: Table
    name: str
    content: bytes


def read_files(
    path: Path, tables: Iterable[Table], parse: Callable[[DataFile], pa.Table]
) -> dict[str, pa.Table]:
    """Read the tables whose original files are in a zip or folder.

    Files are found by name, in whichever subfolder they are; in a folder also in a zip of the same
    name (`NAME.zip`). Where a table's file is missing, its smaller edition is read if there is
    one. Raises `LabError` (usage) with all that is wrong: files that are there more than once, and
    what `parse` says of each that cannot be loaded as it is; also where no file is there.
    """
    if not path.exists():
        raise bad_input(f"{path} does not exist.", hint="give the zip of the data set, or a folder")
    if not path.is_dir() and not (path.is_file() and zipfile.is_zipfile(path)):
        raise bad_input(f"{path} is neither a zip file nor a folder.")
    tables = list(tables)
    rows: dict[str, pa.Table] = {}
    wrong: list[LabError] = []
    for table in tables:
        try:
            found = (
                _in_folder(table, path) if path.is_dir() else _in_zip(table, path, _editions(table))
            )
            if found is not None:
                rows[table.name] = parse(found)
        except LabError as error:
            wrong.append(error)
    if wrong:
        raise _all_of(wrong)
    if not rows:
        raise _missing(tables, path)
    return rows


def _all_of(errors: list[LabError]) -> LabError:
    """Return one error that says what is wrong with every file."""
    first, *others = errors
    details = [*first.details, *(f"{other.what} {' '.join(other.details)}" for other in others)]
    return LabError(
        first.what,
        hint=first.hint,
        details=tuple(detail.rstrip() for detail in details),
        exit_code=first.exit_code,
    )


def _editions(table: Table) -> list[str]:
    """Return patterns for the names of a table's file; the first that is there is read."""
    return [name for name in (table.file, table.file_pattern, table.smaller_file) if name]


def _in_folder(table: Table, path: Path) -> DataFile | None:
    for name in _editions(table):
        if files := sorted(path.rglob(name)):
            _once(table, path, name, len(files))
            if not files[0].is_file():
                raise bad_input(f"{files[0]} is no file.")
            _require_size(files[0], files[0].name, files[0].stat().st_size)
            return DataFile(table, files[0].name, files[0].read_bytes())
        if zips := sorted(path.rglob(f"{name}.zip")):
            _once(table, path, f"{name}.zip", len(zips))
            found = _in_zip(table, zips[0], [name])
            if found is None:
                raise bad_input(
                    f"{zips[0]} does not hold {name}, the file of {table.label}.",
                    hint="a zip of one file is called as that file",
                )
            return found
    return None


def _in_zip(table: Table, path: Path, editions: list[str]) -> DataFile | None:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in editions:
                if members := [
                    n for n in archive.namelist() if fnmatchcase(PurePosixPath(n).name, name)
                ]:
                    _once(table, path, name, len(members))
                    # No more than a zip says of a member is ever unpacked of it.
                    _require_size(path, members[0], archive.getinfo(members[0]).file_size)
                    return DataFile(table, PurePosixPath(members[0]).name, archive.read(members[0]))
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise bad_input(f"{path} is damaged: {error}") from error
    except RuntimeError as error:  # encrypted, or packed in an unknown way
        raise bad_input(f"{path} cannot be unpacked: {error}") from error
    return None


def _require_size(path: Path, name: str, size: int) -> None:
    if size > _MOST_BYTES:
        raise bad_input(
            f"{path}: {name} has {size:,} bytes, and {_MOST_BYTES:,} are the most.",
            hint="give the file that the data set's publisher offers",
        )


def _once(table: Table, path: Path, name: str, count: int) -> None:
    if count > 1:
        raise bad_input(
            f"{path} holds {count} files named {name}, the file of {table.label}.",
            hint="each file of the data set has to be there, once",
        )


def _missing(tables: list[Table], path: Path) -> LabError:
    names = [f"{' or '.join(_editions(table))}, the file of {table.label}" for table in tables]
    return bad_input(
        f"{path} does not hold {'; nor '.join(names)}.",
        hint="give one zip with the files of the data set, or the folder that holds them",
    )


def bad_input(what: str, *, hint: str | None = None, line: str | None = None) -> LabError:
    """Return the error for input that cannot be loaded, with the start of the wrong line."""
    details = () if line is None else (line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…",)
    return LabError(what, hint=hint, details=details, exit_code=ExitCode.USAGE)


def typed(
    file: DataFile,
    fields: Mapping[str, AnyColumn],
    *,
    line: Callable[[int], int],
    special: Callable[[Column], Parser | None] = lambda _column: None,
) -> pa.Table:
    """Convert a file's fields, as bytes or text by column, to the table's types.

    An empty field or `\\N` is null. `line` tells in which line of the file the row of a position
    is; `special` the parser of a column that has one of its own. Raises `LabError` (usage) that
    names file, line and column of the first field that is wrong.
    """
    reading = _Reading(file.table, file.name, line)
    arrays = [
        reading.convert(column, fields[column.name], special(column) or _parser(column))
        for column in file.table.columns
    ]
    reading.check_key(arrays[0])
    return pa.Table.from_arrays(arrays, schema=file.table.arrow)


@dataclass(frozen=True)
class _Reading:
    table: Table
    file: str
    line: Callable[[int], int]

    def bad(self, position: int, column: str, what: str) -> LabError:
        return bad_input(f"{self.file}, line {self.line(position)}, column {column}: {what}.")

    def convert(self, column: Column, fields: AnyColumn, parse: Parser) -> AnyColumn:
        """Convert a column's fields, or return an error that names the first wrong line."""
        text = self.attempt(column, fields, lambda f: f.cast(pa.string()), "no valid UTF-8")
        is_null = pc.is_in(text, value_set=pa.array(_NULLS))
        if not column.nullable:
            position = pc.index(is_null, pa.scalar(True)).as_py()
            if position >= 0:
                raise self.bad(position, column.name, "must not be empty")
        text = pc.if_else(is_null, pa.scalar(None, pa.string()), text)
        return self.attempt(column, text, parse, f"no {column.declared}")

    def attempt(
        self, column: Column, values: AnyColumn, convert: Parser, complaint: str
    ) -> AnyColumn:
        try:
            return convert(values)
        except (pa.ArrowInvalid, ValueError):
            position = _first_failure(values, convert)
            shown = values[position].as_py()
            raise self.bad(position, column.name, f"{shown!r} is {complaint}") from None

    def check_key(self, key: AnyColumn) -> None:
        first: dict[object, int] = {}
        for position, value in enumerate(key.to_pylist()):
            before = first.setdefault(value, position)
            if before != position:
                what = f"{value} is the key of line {self.line(before)} already"
                raise self.bad(position, self.table.key, what)


def _first_failure(values: AnyColumn, convert: Parser) -> int:
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


def _parser(column: Column) -> Parser:
    """Return the parser of a column's declared type."""
    kind = column.arrow
    if pa.types.is_integer(kind):
        return lambda text: _integers(text, pa.int16() if column.declared == "smallint" else kind)
    if column.length is not None:
        return lambda text: _limited(text, column.length or 0)
    return lambda text: text.cast(kind)


def _integers(text: AnyColumn, kind: pa.DataType) -> AnyColumn:
    return text.cast(kind).cast(pa.int32())


def _limited(text: AnyColumn, length: int) -> AnyColumn:
    if (pc.max(pc.utf8_length(text)).as_py() or 0) > length:
        raise ValueError
    return text
