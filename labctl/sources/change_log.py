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

from labctl.errors import LabError
from labctl.sources.base import Source, TableRef

__all__ = ["ChangeLog", "MySqlLog", "Position", "PostgresLog", "SqlServerLog"]

Position = tuple[int | str, ...]
"""A place in one database's log. Positions of the same database sort in the log's order."""

_LSN_DIGITS = (8, 8, 4)
_WHOLE_TRANSACTION = "~"
"""A mark that sorts after every LSN: the whole transaction was read."""


class ChangeLog(Protocol):
    """The log of one source database. Every method raises LabError if the server refuses it."""

    def end(self, ref: TableRef) -> Position | None:
        """Return where the log ends now, after all the table's changes; None if it has none."""

    def handed_over(self, end: Position, readers: int) -> bool | None:
        """Return whether the server has sent everything before `end` to a connected connector.

        `readers` is the number of running connectors of the engine. None: the server cannot tell.
        """

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        """Return the position of an offset stored in Connect; None before the first load ends."""


class PostgresLog:
    """PostgreSQL's write-ahead log, read through a replication slot.

    https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-VIEW
    """

    def __init__(self, source: Source, slot: str) -> None:
        self._source = source
        self._slot = slot

    def end(self, _ref: TableRef) -> Position:
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

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        if _is_loading(offset) or "lsn" not in offset:
            return None
        # Until the first commit after the first load there is only the load's own position.
        return (int(offset.get("lsn_commit", offset["lsn"])),)


class MySqlLog:
    """The binary log. https://dev.mysql.com/doc/refman/8.4/en/replication-threads-monitor-main.html"""

    def __init__(self, source: Source) -> None:
        self._source = source

    def end(self, _ref: TableRef) -> Position | None:
        try:
            rows = self._source.execute("SHOW BINARY LOG STATUS")
        except LabError:
            # Its name before MySQL 8.2.
            rows = self._source.execute("SHOW MASTER STATUS")
        return _binlog_position(rows[0][0], rows[0][1]) if rows else None

    def handed_over(self, _end: Position, readers: int) -> bool:
        # Each reader has one thread once its first load is over; nothing tells which is whose.
        # A thread shows no position, but its state shows when it has sent everything.
        dumps = [
            str(row[6])
            for row in self._source.execute("SHOW FULL PROCESSLIST")
            if str(row[4]).startswith("Binlog Dump")
        ]
        return len(dumps) >= max(readers, 1) and all(
            "has sent all binlog" in state for state in dumps
        )

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        # A first load's offsets keep the position where it began until after its end.
        if "snapshot" in offset or "file" not in offset:
            return None
        return _binlog_position(offset["file"], offset["pos"])


class SqlServerLog:
    """The change tables, which the connector polls: the server knows nothing of its readers."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def end(self, ref: TableRef) -> Position | None:
        instances = self._source.execute(
            "SELECT capture_instance FROM cdc.change_tables WHERE source_object_id = OBJECT_ID(%s)"
            " ORDER BY create_date DESC",
            (self._source.qualified(ref),),
        )
        # A change has a different position in each instance; the connector reads the newest one.
        ends = (self._last_change(str(name)) for (name,) in instances)
        return next((end for end in ends if end is not None), None)

    def _last_change(self, instance: str) -> Position | None:
        table = self._source.qualified(TableRef("cdc", f"{instance}_CT"))
        rows = self._source.execute(
            f"SELECT TOP 1 [__$start_lsn], [__$seqval] FROM {table}"  # noqa: S608 - quoted
            " ORDER BY [__$start_lsn] DESC, [__$seqval] DESC"
        )
        return tuple(_lsn(value) for value in rows[0]) if rows else None

    def handed_over(self, _end: Position, _readers: int) -> None:
        return None

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        if _is_loading(offset) or "commit_lsn" not in offset:
            return None
        change = str(offset.get("change_lsn") or "")
        # Without a position within the transaction, everything up to its commit was read.
        return (offset["commit_lsn"], change if ":" in change else _WHOLE_TRANSACTION)


def _is_loading(offset: Mapping[str, Any]) -> bool:
    """Return whether the offset belongs to a first load that is not over."""
    return bool(offset.get("snapshot")) and not offset.get("snapshot_completed")


def _binlog_position(file: str, position: int) -> Position:
    """Return the position of a byte in a file such as `binlog.000012`."""
    return (int(file.rpartition(".")[2]), int(position))


def _lsn(value: bytes) -> str:
    """Return an LSN as Debezium writes it: `0000002a:00000a30:0003`."""
    digits, parts = value.hex(), []
    for count in _LSN_DIGITS:
        parts.append(digits[:count])
        digits = digits[count:]
    return ":".join(parts)
