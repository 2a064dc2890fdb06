"""What an apply is about to do, as it is shown before anything is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Action", "Change"]

Action = Literal["add", "change", "replace", "remove"]


@dataclass(frozen=True)
class Change:
    """One thing that will be another afterwards."""

    where: str
    """The stack, or the service."""
    action: Action
    what: str
    kind: str
    """Its type."""
