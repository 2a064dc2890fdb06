"""Athena's column `$path` of Hudi tables: the file that each row is read from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.hudi.names import FILE_NAME, PARTITION_PATH
from sqlapi.source import PATH, SourceError, SourceTable
from sqlapi.sql.arrow import of_texts
from sqlapi.table_format import Slice

__all__ = ["rows_with_paths"]

_SEPARATOR = "\n"
_ATTEMPTS = 5
_LOG = re.compile(r"_([0-9]+)\.log\.([0-9]+)")
"""The instant and the version in the name of a log file."""
_Files = Mapping[tuple[str, str], str]
"""The file that names Athena's split, by partition and file group."""


def rows_with_paths(
    table: SourceTable,
    columns: Sequence[str],
    slices: Callable[[], Iterable[Slice]],
    read: Callable[[Sequence[str]], pa.Table],
) -> pa.Table:
    """Return rows with `columns`, one of which is PATH.

    A row that changed after the last compaction is in a log file. Its path is that of its file
    group's base file, or of the last log file if there is no base file. Hudi's input format, which
    Athena uses, names splits like this. Raises SourceError.
    """
    plain = [column for column in columns if column != PATH]
    for _ in range(_ATTEMPTS):
        before = _files(slices())
        rows = read(list(dict.fromkeys([*plain, PARTITION_PATH, FILE_NAME])))
        paths = _paths(table, rows, before, _files(slices()))
        if paths is not None:
            return rows.append_column(PATH, paths).select(list(columns))
    raise SourceError(f"{table.full_name} changes while it is read; ask for $path again")


def _files(slices: Iterable[Slice]) -> _Files:
    return {
        (one.partition_path or "", one.file_id): one.base_file_name
        or max(one.log_file_names, key=_order)
        for one in slices
    }


def _order(name: str) -> tuple[str, int]:
    found = _LOG.search(name)
    return (found[1], int(found[2])) if found else ("", 0)


def _paths(
    table: SourceTable, rows: pa.Table, before: _Files, after: _Files
) -> pa.ChunkedArray[Any] | None:
    """Return the path of each row, or None if the table changed while it was read."""
    if rows[FILE_NAME].null_count or rows[PARTITION_PATH].null_count:
        raise SourceError(f"{table.full_name} has rows without {FILE_NAME}: it has no $path")
    join: Any = pc.binary_join_element_wise
    places = join(
        rows[PARTITION_PATH].cast(pa.string()), rows[FILE_NAME].cast(pa.string()), _SEPARATOR
    )
    paths = of_texts(places, lambda place: _path(table.location, place, before, after), pa.string())
    return None if paths.null_count else paths


def _path(location: str, place: str, before: _Files, after: _Files) -> str | None:
    """Return a row's path. `place` is its partition and its base file or, for a log, file group."""
    partition, _, name = place.partition(_SEPARATOR)
    group = partition, name.partition("_")[0]
    file = name
    if name not in (before.get(group), after.get(group)):
        if group not in before or before[group] != after.get(group):
            return None
        file = before[group]
    return "/".join(part for part in (location, partition, file) if part)
