"""Differences between two profiles, or between a rendered plan and the current files."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.promote.promoted_values import Setting, Settings

__all__ = ["Difference", "differences"]


@dataclass(frozen=True)
class Difference:
    """A setting that differs between the two sides; None on a side that lacks it."""

    name: str
    before: Setting | None
    after: Setting | None


def differences(before: Settings, after: Settings) -> list[Difference]:
    """Return the settings whose values differ, sorted by name. Their sources may differ."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if (one and one.value) != (other and other.value):
            found.append(Difference(name, one, other))
    return found
