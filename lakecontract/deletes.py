"""Marks of rows that were deleted at their source, in a topic, in bronze and in silver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["DELETED", "LIVE", "MARK", "TRUNCATED", "is_deleted"]

DELETED = "__deleted"
"""The column that marks deleted rows."""
MARK = "true"
"""The column's value for a deleted row: text, as Debezium writes it."""
TRUNCATED = "__truncated"
"""The column that only the record of a TRUNCATE has, which removes all rows before it."""
LIVE = f"coalesce({DELETED}, 'false') <> '{MARK}'"
"""SQL condition on live rows, for Spark and DuckDB alike."""


def is_deleted(row: Mapping[str, Any]) -> bool:
    """Return whether a change or a row is marked as deleted."""
    return row.get(DELETED) == MARK
