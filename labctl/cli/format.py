"""How results are printed."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Format"]


class Format(StrEnum):
    """What `--output` takes."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    """Of rows only: `labctl query`."""
