"""PostgreSQL's replication slots: what they keep of the write-ahead log.

A slot keeps everything that its connector has not read. The server gives up a slot that would keep
more than `max_slot_wal_keep_size`.
"""

from __future__ import annotations

import time

from labctl.errors import LabError
from labctl.sources.base import Source
from labctl.sources.log_slots import Slot, Slots

__all__ = ["DEFAULT_SLOT", "LEAVE_SECONDS", "SLOTS"]

DEFAULT_SLOT = "debezium"
"""Debezium's default slot, for a connector's file that names none."""
LEAVE_SECONDS = 10.0
"""Seconds for which a stopped connector may still hold its slot."""


def _read(source: Source) -> list[Slot]:
    # Slots belong to the server: each of its databases lists all of them.
    rows = source.execute(
        "SELECT slot_name, active,"
        " coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint,"
        " safe_wal_size, coalesce(wal_status, 'lost') = 'lost'"
        " FROM pg_replication_slots WHERE slot_type = 'logical' ORDER BY 1"
    )
    return [
        Slot(
            str(name),
            None,
            bool(active),
            int(kept),
            left,
            bool(lost),
            f"labctl client psql --admin -c \"SELECT pg_drop_replication_slot('{name}')\"",
        )
        for name, active, kept, left, lost in rows
    ]


def _drop(source: Source, name: str) -> bool:
    deadline = time.monotonic() + LEAVE_SECONDS
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


SLOTS = Slots(
    of_connector=lambda config: config.get("slot.name", DEFAULT_SLOT), read=_read, drop=_drop
)
