"""Faults and snapshots as the pages show them.

The functions run in a process of `lake_workers`, as those of `table_reading` do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labctl.lab.lab import Lab

__all__ = ["FaultChoices", "SnapshotLine", "choices", "kept_snapshots"]


@dataclass(frozen=True)
class FaultChoices:
    """The faults that can be caused in a lab."""

    kinds: tuple[tuple[str, str], ...]
    """Each kind and what happens."""
    services: tuple[str, ...]


@dataclass(frozen=True)
class SnapshotLine:
    """A snapshot on this machine."""

    name: str
    lab: str
    """Name of the lab that it is of."""
    made_at: float
    """Seconds since the epoch."""
    mib: int


def choices(lab: Lab) -> FaultChoices:
    """Return the faults that the lab's runtime can cause, and the services that it runs."""
    from labctl.soak.faulting import FaultKind, fitting_kinds

    lab.require_running()
    kinds = fitting_kinds(lab, list(FaultKind))
    return FaultChoices(
        tuple((str(kind), kind.explanation) for kind in kinds),
        tuple(service.name for service in lab.services),
    )


def kept_snapshots(_lab: Lab) -> list[SnapshotLine]:
    """Return the snapshots on this machine, of all labs, newest first."""
    from labctl.lab.snapshots import snapshots

    return [
        SnapshotLine(
            one.name,
            one.manifest.lab,
            one.manifest.made_at.timestamp(),
            round(one.size_bytes / 1024**2),
        )
        for one in reversed(snapshots())
    ]
