"""Progress reports of a fetch to its caller."""

from __future__ import annotations

from typing import Literal, Protocol

__all__ = ["Progress", "SilentProgress", "Unit"]

Unit = Literal["bytes", "packages", "statements"]


class Progress(Protocol):
    """Receiver of each artefact's progress. Several threads call it concurrently."""

    def begin(self, artifact: str, phase: str, total: int | None, unit: Unit) -> None:
        """Start a phase ("downloading", "building", …); `total` is None if it is unknown."""

    def advance(self, artifact: str, amount: int) -> None:
        """Report that `amount` more units of the current phase are done."""

    def finish(self, artifact: str) -> None:
        """Report that the artefact is installed."""


class SilentProgress:
    """A `Progress` that reports nothing."""

    def begin(self, artifact: str, phase: str, total: int | None, unit: Unit) -> None: ...

    def advance(self, artifact: str, amount: int) -> None: ...

    def finish(self, artifact: str) -> None: ...
