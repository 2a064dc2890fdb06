"""Formats of printed results."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Format"]


class Format(StrEnum):
    """Values of `--output`."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    """Format for rows only: `labctl query`."""
