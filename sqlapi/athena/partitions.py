"""Folders of partitions, with Hive's and Trino's names: `day=2024-03-01/kind=a%2Fb`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.text import as_text
from sqlapi.sql.types import Type

__all__ = ["check_keys", "escaped", "partitions"]

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The folder name of NULL and of the empty string; both are NULL when they are read."""
_ESCAPED = re.compile(r"[\x01-\x1f\x7f\"#%'*/:=?\\{}\[\]^]")
"""Characters that Hive escapes in the name of a folder."""
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_TYPES = ("boolean", "date", "timestamp", "decimal", "varchar", "char")
"""Types of partition keys, besides integers."""
_MOST = 100
"""Largest number of partitions that one statement writes, as in Athena."""
_equal: Any = pc.equal
_fill_null: Any = pc.fill_null
_if_else: Any = pc.if_else
_join: Any = pc.binary_join_element_wise


def escaped(name: str) -> str:
    """Escape a key or value: the folder `key=value` then has no `/` and is not `.` or `..`."""
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", name) if name else NO_VALUE


def check_keys(columns: Sequence[tuple[str, Type]], keys: Sequence[str]) -> None:
    """Raise SqlError unless rows with these columns can be partitioned by `keys`."""
    labels = [label for label, _ in columns]
    if not keys:
        return
    if labels[-len(keys) :] != list(keys):
        raise SqlError(
            "HIVE_COLUMN_ORDER_MISMATCH",
            "Partition keys must be the last columns in the table and in the same order as "
            "the table properties",
        )
    if len(keys) == len(labels):
        raise SqlError("INVALID_TABLE_PROPERTY", "Table contains only partition columns")
    for label, kind in columns[-len(keys) :]:
        if not (kind.is_integer or kind.name in _TYPES):
            raise SqlError("NOT_SUPPORTED", f"Unsupported type [{kind}] for partition: {label}")


def partitions(
    table: pa.Table, keys: Sequence[str], kinds: Mapping[str, Type]
) -> Iterator[tuple[str, list[str], pa.Table]]:
    """Yield the folder, values and rows of each partition; the rows are without the keys.

    Raises SqlError for values that Athena does not write, before it yields the first partition.
    """
    names: list[dict[str, str]] = []
    codes: list[Any] = []
    for key in keys:
        texts = _fill_null(as_text(table[key], kinds[key]), "").combine_chunks()
        # A string that equals the folder name of NULL is NULL when it is read.
        texts = _if_else(_equal(texts, NO_VALUE), "", texts)
        encoded = texts.dictionary_encode()
        values = encoded.dictionary.to_pylist()
        names.append({str(number): _checked(value) for number, value in enumerate(values)})
        codes.append(encoded.indices.cast(pa.string()))
    rows = _join(*codes, "/").dictionary_encode()
    chosen = rows.dictionary.to_pylist()
    if len(chosen) > _MOST:
        raise SqlError(
            "HIVE_TOO_MANY_OPEN_PARTITIONS",
            f"Exceeded limit of {_MOST} open writers for partitions/buckets",
        )
    plain = table.drop_columns(list(keys))
    for number, code in enumerate(chosen):
        values = [known[at] for known, at in zip(names, code.split("/"), strict=True)]
        folder = "/".join(
            f"{escaped(key)}={escaped(value)}" for key, value in zip(keys, values, strict=True)
        )
        yield (
            folder,
            [value or NO_VALUE for value in values],
            plain.filter(_equal(rows.indices, number)),
        )


def _checked(value: str) -> str:
    if not _PRINTABLE.fullmatch(value):
        raise SqlError(
            "HIVE_INVALID_PARTITION_VALUE",
            "Hive partition keys can only contain printable ASCII characters (0x20 - 0x7E). "
            f"Invalid value: {value.encode(errors='replace').hex(' ').upper()}",
        )
    return value
