"""The changes that an apply shows before it makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Action", "Change"]

Action = Literal["add", "change", "replace", "remove"]


@dataclass(frozen=True)
class Change:
    """A resource that an apply will change."""

    where: str
    """The stack or the service."""
    action: Action
    what: str
    kind: str
    """The resource's type."""
