"""How a fetch tells its caller how far it is."""

from __future__ import annotations

from typing import Literal, Protocol

__all__ = ["Progress", "SilentProgress", "Unit"]

Unit = Literal["bytes", "packages", "statements"]


class Progress(Protocol):
    """Follows each artefact through its phases. Called from several threads at once."""

    def begin(self, artifact: str, phase: str, total: int | None, unit: Unit) -> None:
        """A phase ("downloading", "building", …) starts; `total` is None where it is not known."""

    def advance(self, artifact: str, amount: int) -> None:
        """`amount` more units of the current phase are done."""

    def finish(self, artifact: str) -> None:
        """The artefact is in place."""


class SilentProgress:
    """Says nothing."""

    def begin(self, artifact: str, phase: str, total: int | None, unit: Unit) -> None: ...

    def advance(self, artifact: str, amount: int) -> None: ...

    def finish(self, artifact: str) -> None: ...
