"""Columns that change records of a table would lack, read from the database before capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["NO_LIMITS", "UNLOGGED", "Lack", "Limits"]

UNLOGGED = (
    "generated, of which the database's log has no value: it would be NULL after the first change"
)
"""Reason of generated columns that only the first load would have."""


@dataclass(frozen=True)
class Lack:
    """Columns that a change record would not contain, or contain with another value."""

    columns: tuple[str, ...]
    why: str
    """The reason, and what to do."""


@dataclass(frozen=True)
class Limits:
    """The limits of capturing one table."""

    refused: str | None = None
    """Why the table cannot be captured at all, and what to do; None if it can."""
    lacks: tuple[Lack, ...] = ()
    """Columns that a change would not contain, one item for each reason."""
    unlogged_rows: str | None = None
    """Way in which rows change without a change record, and what to do; None if none do."""
    needs_reselect: bool = False
    """True if large values that an update does not change must be read from the table."""

    def by_reason(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the columns that a change would not contain, grouped by reason, with the reason."""
        yield from ((lack.columns, lack.why) for lack in self.lacks if lack.columns)

    def columns(self) -> dict[str, str]:
        """Return each column that a change would not contain, with the first reason."""
        reasons: dict[str, str] = {}
        for names, why in self.by_reason():
            for name in names:
                reasons.setdefault(name, why)
        return reasons


NO_LIMITS = Limits()
"""The limits of a table whose changes contain every column."""
