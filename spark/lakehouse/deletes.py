"""How rows that were deleted at their source are marked: in a topic, in bronze, in silver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["DELETED", "LIVE", "MARK", "TRUNCATED", "is_deleted"]

DELETED = "__deleted"
"""The column."""
MARK = "true"
"""What it says of a deleted row: text, as Debezium writes it."""
TRUNCATED = "__truncated"
"""The column that only the record of a TRUNCATE has: it removes all rows that came before it."""
LIVE = f"coalesce({DELETED}, 'false') <> '{MARK}'"
"""Condition on live rows, in SQL, for Spark and DuckDB alike."""


def is_deleted(row: Mapping[str, Any]) -> bool:
    """Whether a change, or a row, says that the row was deleted."""
    return row.get(DELETED) == MARK
