"""The hidden columns of every table of files, which describe the file that a row is in."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
from pyarrow import fs

from sqlapi.source import PATH
from sqlapi.sql.arrow import of_texts
from sqlapi.sql.types import BIGINT, VARCHAR, Type, timestamp_tz
from sqlapi.storage import Storage

__all__ = ["FILE_COLUMNS", "with_file_columns"]

_SIZE, _MODIFIED = "$file_size", "$file_modified_time"
FILE_COLUMNS: Mapping[str, Type] = {
    PATH: VARCHAR,
    _SIZE: BIGINT,
    _MODIFIED: timestamp_tz("UTC"),
}
"""The hidden columns, with the types of Trino's Hive and Hudi connectors."""


def with_file_columns(rows: pa.Table, wanted: Collection[str], storage: Storage) -> pa.Table:
    """Add the wanted columns of FILE_COLUMNS to rows that have PATH. Raises OSError."""
    if not {_SIZE, _MODIFIED} & set(wanted):
        return rows
    infos = _infos([str(uri) for uri in rows[PATH].unique().to_pylist()], storage)
    if _SIZE in wanted:
        sizes = of_texts(rows[PATH], lambda uri: infos[uri].size, pa.int64())
        rows = rows.append_column(_SIZE, sizes)
    if _MODIFIED in wanted:
        times = of_texts(rows[PATH], lambda uri: _modified(infos[uri]), pa.timestamp("us"))
        rows = rows.append_column(_MODIFIED, times)
    return rows


def _infos(uris: list[str], storage: Storage) -> dict[str, fs.FileInfo]:
    """Return the object store's information on each file, from one listing per folder."""
    found: dict[str, fs.FileInfo] = {}
    for folder in {uri.rpartition("/")[0] for uri in uris}:
        for info in storage.filesystem.get_file_info(fs.FileSelector(storage.path(folder))):
            found[f"{folder}/{info.base_name}"] = info
    for uri in uris:
        if uri not in found:
            raise FileNotFoundError(f"{uri} was read, and is gone")
    return found


def _modified(info: fs.FileInfo) -> int:
    """Return the time of change in microseconds, cut to Trino's milliseconds."""
    return (info.mtime_ns or 0) // 10**6 * 1000
