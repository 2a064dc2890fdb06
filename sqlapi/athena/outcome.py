"""What a statement did, whatever it was."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlapi.athena.results import Output

__all__ = ["Outcome", "Work"]


@dataclass
class Outcome:
    """What goes into the result file, and into the execution's statistics."""

    output: Output
    scanned: int = 0
    """Bytes read, in memory: what was read of files is not known."""
    manifest: str | None = None
    update_count: int | None = None
    input_rows: int = 0


@dataclass(frozen=True)
class Work:
    """One execution, as the statements need it."""

    id: str
    location: str
    """Of the result file."""
    database: str
    workgroup: str
    parameters: tuple[str, ...] = ()
    limit: int | None = None
    """Bytes that may be read."""
    made: list[str] = field(default_factory=list)
    """Files written so far, to be removed when it is cancelled."""
