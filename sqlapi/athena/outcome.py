"""The outcome of a statement of any kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlapi.athena.results import Output

__all__ = ["Outcome", "Work"]


@dataclass
class Outcome:
    """The contents of the result file, and the execution's statistics."""

    output: Output
    scanned: int = 0
    """Bytes read, counted in memory: the bytes read from files are not known."""
    manifest: str | None = None
    update_count: int | None = None
    input_rows: int = 0


@dataclass(frozen=True)
class Work:
    """The parts of an execution that statements need."""

    id: str
    location: str
    """Location of the result file."""
    database: str
    workgroup: str
    parameters: tuple[str, ...] = ()
    limit: int | None = None
    """Largest number of bytes that may be read."""
    made: list[str] = field(default_factory=list)
    """Files written so far, which are removed if the execution fails or is cancelled."""
