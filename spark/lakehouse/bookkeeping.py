"""Columns of a silver table that its source does not have."""

from __future__ import annotations

__all__ = ["BOOKKEEPING"]

BOOKKEEPING = ("__", "_hoodie_")
"""How their names begin: those of Debezium and of the application, and Hudi's own."""
