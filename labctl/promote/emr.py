"""The Spark and Hudi versions of EMR's releases."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Release", "known_releases", "release_of"]


@dataclass(frozen=True)
class Release:
    """The versions in an EMR release."""

    spark: str
    hudi: tuple[int, ...]


_SEVEN = re.compile(r"emr-7\.(\d+)\.\d+")
_SPARK_8 = {
    "emr-spark-8.0.0": Release("4.0", (1, 1, 0)),
    "emr-spark-8.1.0": Release("4.1", (1, 1, 1)),
}
_LAST_SEVEN = 13
"""Last known minor version of 7.x. Later ones are refused, since their versions are not known."""


def release_of(label: str) -> Release | None:
    """Return the versions in the release `label`, or None if they are not known."""
    if label in _SPARK_8:
        return _SPARK_8[label]
    match = _SEVEN.fullmatch(label)
    if not match:
        return None
    minor = int(match[1])
    if 3 <= minor <= 10:
        return Release("3.5", (0, 15, 0))
    return Release("3.5", (1, 0, 2)) if 11 <= minor <= _LAST_SEVEN else None


def known_releases() -> str:
    """Return the known releases as text for messages."""
    return f"emr-7.3.0 to emr-7.{_LAST_SEVEN}.0, {', '.join(_SPARK_8)}"
