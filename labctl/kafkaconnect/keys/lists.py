"""Lists in a connector's file."""

from __future__ import annotations

__all__ = ["names"]


def names(listed: str | None) -> list[str]:
    """Return the names in a comma-separated list of Kafka Connect."""
    return [name.strip() for name in (listed or "").split(",") if name.strip()]
