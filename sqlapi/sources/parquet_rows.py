"""Rows of Parquet files, with the file that each row is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.source import PATH
from sqlapi.storage import Storage

if TYPE_CHECKING:
    from pyarrow import dataset

__all__ = ["parquet_rows"]

_FILE = "__filename"
"""Arrow's name of the column with the file."""


def parquet_rows(
    found: dataset.Dataset, columns: Sequence[str], *, with_path: bool = False
) -> pa.Table:
    """Return columns of a dataset in an object store; PATH comes last if it is wanted."""
    if not with_path:
        return found.to_table(columns=list(columns))
    rows = found.to_table(columns=[*columns, _FILE])
    join: Any = pc.binary_join_element_wise
    places = join(Storage.uri(""), rows.column(len(columns)), "")
    return rows.select(range(len(columns))).append_column(PATH, places)
