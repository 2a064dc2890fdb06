"""Positions in a database's change log: its end, and how far a connector has read it.

Three facts tell whether a change has been captured: where the log ended after the change (`end`),
whether the server has sent everything before that to the connector (`handed_over`), and the
position the connector has stored with Kafka Connect (`stored`). The stored position alone is not
enough: it does not move while nothing is captured, however much others write to the log, and it
stays before the last commit until another change follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from labctl.sources.base import TableRef

__all__ = ["ChangeLog", "Position", "is_loading"]

Position = tuple[int | str, ...]
"""A place in one database's log. Positions of the same database sort in the log's order."""


class ChangeLog(Protocol):
    """The log of one source database. Every method raises LabError if the server refuses it."""

    def end(self, ref: TableRef) -> Position | None:
        """Return where the log ends now, after all the table's changes; None if it has none."""

    def handed_over(self, end: Position, readers: int) -> bool | None:
        """Return whether the server has sent everything before `end` to a connected connector.

        `readers` is the number of running connectors of the engine. None: the server cannot tell.
        """

    def is_ahead(self, offset: Mapping[str, Any]) -> bool:
        """Return whether an offset stored in Connect lies after the log's end.

        The database was put back to an earlier state, or its log was emptied: the connector skips
        what is written until the log has passed the offset.
        """

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        """Return the position of an offset stored in Connect; None before the first load ends."""


def is_loading(offset: Mapping[str, Any]) -> bool:
    """Return whether the offset belongs to a first load that is not over."""
    return bool(offset.get("snapshot")) and not offset.get("snapshot_completed")
