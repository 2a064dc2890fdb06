"""What differs between two profiles, or between a plan that was rendered and the files now."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.promote.values import Setting, Settings

__all__ = ["Difference", "differences"]


@dataclass(frozen=True)
class Difference:
    """One setting that is not the same on both sides. None: it is not there."""

    name: str
    before: Setting | None
    after: Setting | None


def differences(before: Settings, after: Settings) -> list[Difference]:
    """Settings whose values differ, by name. Where a value comes from is no difference."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if (one and one.value) != (other and other.value):
            found.append(Difference(name, one, other))
    return found
