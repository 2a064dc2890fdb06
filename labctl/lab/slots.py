"""PostgreSQL's replication slots: what they keep of the write-ahead log, and for which connector.

A slot keeps everything that its connector has not read. The server gives up a slot that would keep
more than `max_slot_wal_keep_size`. MySQL and SQL Server keep their logs for a fixed time, whether
or not they are read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from labctl.errors import LabError
from labctl.kafkaconnect.files import DEFAULT_SLOT, POSTGRES, ConnectorFile
from labctl.lab.lab import Lab
from labctl.lab.source_files import source_files
from labctl.sources import connect_server

__all__ = ["Slot", "drop_slot", "read_slots", "slot_of"]

LEAVE_SECONDS = 10.0
"""Seconds for which a stopped connector may still hold its slot."""
_SCARCE = 0.5
"""Ratio of bytes left to bytes retained below which a slot is in danger."""


@dataclass(frozen=True)
class Slot:
    """One logical replication slot of the lab's PostgreSQL."""

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

    def danger(self) -> tuple[str, str] | None:
        """Return the slot's problem and what to do about it; None if there is no problem."""
        mib = self.retained_bytes / 1024**2
        if self.connector is None:
            return (
                f"slot {self.name} keeps {mib:.0f} MiB of the log, and no connector of this lab "
                "uses it",
                "if nothing else does: labctl psql --admin -c "
                f"\"SELECT pg_drop_replication_slot('{self.name}')\"",
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


def slot_of(file: ConnectorFile) -> str | None:
    """Return the slot that a connector reads from; None for other engines."""
    if file.config["connector.class"] != POSTGRES:
        return None
    return file.config.get("slot.name", DEFAULT_SLOT)


def read_slots(lab: Lab) -> list[Slot]:
    """Return the logical slots, sorted by name; none if the lab captures no PostgreSQL.

    Raises LabError (NOT_READY) if the server does not answer.
    """
    here = next((n for n, s in lab.endpoints.sources.items() if s.engine == "postgres"), None)
    if here is None:
        return []
    owners = {slot_of(file): file.name for file in source_files(lab)}
    # Slots belong to the server: each of its databases lists all of them.
    with connect_server(lab.endpoints, here) as source:
        rows = source.execute(
            "SELECT slot_name, active,"
            " coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint,"
            " safe_wal_size, coalesce(wal_status, 'lost') = 'lost'"
            " FROM pg_replication_slots WHERE slot_type = 'logical' ORDER BY 1"
        )
    return [
        Slot(str(name), owners.get(str(name)), bool(active), int(kept), left, bool(lost))
        for name, active, kept, left, lost in rows
    ]


def drop_slot(lab: Lab, source_name: str, name: str) -> bool:
    """Drop a slot of a source once its connector has left it; return whether there was one.

    Raises LabError if a client still reads from it.
    """
    deadline = time.monotonic() + LEAVE_SECONDS
    with connect_server(lab.endpoints, source_name) as source:
        while True:
            rows = source.execute(
                "SELECT active FROM pg_replication_slots WHERE slot_name = %s", (name,)
            )
            if not rows:
                return False
            if not rows[0][0]:
                source.execute("SELECT pg_drop_replication_slot(%s)", (name,))
                return True
            if time.monotonic() > deadline:
                raise LabError(
                    f"Replication slot {name} is still read from {LEAVE_SECONDS:.0f} s after its "
                    "connector was stopped",
                    hint="labctl connectors status; then try again",
                )
            time.sleep(0.1)
