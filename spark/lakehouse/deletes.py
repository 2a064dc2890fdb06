"""How a row that was deleted at its source is marked: in a topic, in bronze, in silver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["DELETED", "LIVE", "MARK", "is_deleted"]

DELETED = "__deleted"
"""The column."""
MARK = "true"
"""What it says of a deleted row: text, as Debezium writes it."""
LIVE = f"coalesce({DELETED}, 'false') <> '{MARK}'"
"""Condition on live rows, in SQL, for Spark and DuckDB alike."""


def is_deleted(row: Mapping[str, Any]) -> bool:
    """Whether a change, or a row, says that the row was deleted."""
    return row.get(DELETED) == MARK
