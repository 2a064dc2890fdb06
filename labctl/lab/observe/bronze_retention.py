"""Files that the Spark application has removed from bronze after the lake's retention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["BronzeRetention"]


@dataclass(frozen=True)
class BronzeRetention:
    """Removal of old bronze files, and of old files in `retired`."""

    seconds: int
    files: int
    """Number of files that were removed since the application's start."""
    bytes: int
    """Their size."""
    since: dict[str, str]
    """A time in ISO 8601 for each topic with removed files: all records since then are there."""
    error: str | None
    """Reason why the last pass has left old files."""

    @classmethod
    def of(cls, status: Mapping[str, Any]) -> BronzeRetention | None:
        """Return it from the application's status; None if nothing is removed."""
        said = status.get("retention")
        if said is None:
            return None
        return cls(
            said["seconds"],
            sum(said["files"].values()),
            sum(said["bytes"].values()),
            {topic: begin["since"] for topic, begin in said["begins"].items()},
            said["error"],
        )
