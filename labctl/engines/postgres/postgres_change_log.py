"""PostgreSQL's write-ahead log, as `ChangeLog` asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labctl.sources.base import Source, TableRef
from labctl.sources.change_log import Position, is_loading

__all__ = ["PostgresLog"]


class PostgresLog:
    """PostgreSQL's write-ahead log, read through a replication slot.

    https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-VIEW
    """

    def __init__(self, source: Source, slot: str) -> None:
        self._source = source
        self._slot = slot

    def end(self, _ref: TableRef) -> Position:
        return self._end()

    def _end(self) -> Position:
        ((lsn,),) = self._source.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        return (int(lsn),)

    def handed_over(self, end: Position, _readers: int) -> bool:
        # write_lsn is what the connector reported as received, at most ten seconds ago. For what
        # others write to this server it receives only the position.
        rows = self._source.execute(
            "SELECT r.write_lsn - '0/0'::pg_lsn FROM pg_stat_replication r"
            " JOIN pg_replication_slots s ON s.active_pid = r.pid"
            " WHERE s.slot_name = %s AND r.write_lsn IS NOT NULL",
            (self._slot,),
        )
        return any((int(lsn),) >= end for (lsn,) in rows)

    def is_ahead(self, offset: Mapping[str, Any]) -> bool:
        stored = self.stored(offset)
        return stored is not None and stored > self._end()

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        if is_loading(offset) or "lsn" not in offset:
            return None
        # Until the first commit after the first load there is only the load's own position.
        return (int(offset.get("lsn_commit", offset["lsn"])),)
