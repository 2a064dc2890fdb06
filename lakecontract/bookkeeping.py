"""Columns of a silver table that its source does not have."""

from __future__ import annotations

__all__ = ["BOOKKEEPING"]

BOOKKEEPING = ("__", "_hoodie_")
"""Prefixes of their names: that of Debezium and the application, and that of Hudi."""
