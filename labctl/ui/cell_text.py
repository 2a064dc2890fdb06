"""Values as the pages write them."""

from __future__ import annotations

__all__ = ["cell_text"]

_LONGEST = 500
"""Characters of a value that a page shows."""


def cell_text(value: object) -> str | None:
    """Return a value as text, its end left out if it is long; None for null."""
    if value is None:
        return None
    text = bytes(value).hex() if isinstance(value, bytes | memoryview) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
