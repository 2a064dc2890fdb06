"""Places in a database's log that the server keeps for its readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labctl.sources.base import Source

__all__ = ["Slot", "Slots"]

_SCARCE = 0.5
"""Ratio of bytes left to bytes retained below which a slot is in danger."""


@dataclass(frozen=True)
class Slot:
    """A replication slot of a lab's server."""

    name: str
    connector: str | None
    """Connector that uses it; None if no connector of the lab does."""
    active: bool
    """True if a client reads from it now."""
    retained_bytes: int
    """Bytes of the log that are kept for it."""
    left_bytes: int | None
    """Bytes that may still be written before it is given up; None if there is no limit."""
    lost: bool
    """True if the server has given it up: changes that were not read are gone."""
    drop_command: str = ""
    """Command that drops it."""

    def danger(self) -> tuple[str, str] | None:
        """Return the slot's problem and what to do about it; None if there is no problem."""
        mib = self.retained_bytes / 1024**2
        if self.connector is None:
            return (
                f"slot {self.name} keeps {mib:.0f} MiB of the log, and no connector of this lab "
                "uses it",
                f"if nothing else does: {self.drop_command}",
            )
        if self.lost:
            return (
                f"slot {self.name} was given up, because it kept too much of the log: "
                f"{self.connector} has missed changes",
                f"load every table again: labctl connectors snapshot {self.connector}",
            )
        if self.left_bytes is not None and self.retained_bytes * _SCARCE > self.left_bytes:
            return (
                f"slot {self.name} keeps {mib:.0f} MiB of the log and is given up after "
                f"{self.left_bytes / 1024**2:.0f} MiB more",
                f"labctl connectors restart {self.connector}; without it changes will be missed",
            )
        return None


@dataclass(frozen=True)
class Slots:
    """The slots of an engine whose server keeps its log for each reader."""

    of_connector: Callable[[Mapping[str, str]], str]
    """Function that returns the slot of a connector's configuration."""
    read: Callable[[Source], list[Slot]]
    """Function that returns the server's slots, sorted by name, without their connectors."""
    drop: Callable[[Source, str], bool]
    """Function that drops a slot once its connector has left it, and returns whether there was one.
    It raises LabError if a client still reads from it."""
