"""How far a database's change log has been written, and how far a connector has read it.

Three facts tell whether a change has been captured: where the log ended when the change was there
(`end`), whether the server has handed everything before that to whoever reads the log
(`handed_over`), and the position the connector has stored with Kafka Connect (`stored`). The
stored position alone would not do: it stands still while nothing is captured, however much of the
log others fill, and it stops before the last commit until something follows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from labctl.errors import LabError
from labctl.sources.base import Source, TableRef

__all__ = ["ChangeLog", "MySqlLog", "Position", "PostgresLog", "SqlServerLog"]

Position = tuple[int | str, ...]
"""A place in one database's log. Those of one database are ordered as the log is."""

_LSN_DIGITS = (8, 8, 4)
_WHOLE_TRANSACTION = "~"
"""Sorts behind every LSN: all of the transaction was read."""


class ChangeLog(Protocol):
    """The log of one source database. Every method raises LabError when it is refused."""

    def end(self, ref: TableRef) -> Position | None:
        """Where the log ends now: all changes of the table lie before. None: it has none."""

    def handed_over(self, end: Position, readers: int) -> bool | None:
        """Whether the server has sent all that lies before `end` to a connector that is connected.

        `readers` is how many connectors of the engine run. None of a server that cannot tell.
        """

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        """The place of an offset stored with Kafka Connect; None before the first load is over."""


class PostgresLog:
    """The write-ahead log, read through a replication slot.

    https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-VIEW
    """

    def __init__(self, source: Source, slot: str) -> None:
        self._source = source
        self._slot = slot

    def end(self, _ref: TableRef) -> Position:
        ((lsn,),) = self._source.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        return (int(lsn),)

    def handed_over(self, end: Position, _readers: int) -> bool:
        # write_lsn is what the connector says it has taken in, at most ten seconds ago. Of what
        # others write to this server it gets the position alone.
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
        # Until the first commit after the first load only the load's own place is there.
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
        # One thread for each reader, from the end of its first load on; nothing tells which is
        # whose. It has no position; it says when it has sent everything.
        dumps = [
            str(row[6])
            for row in self._source.execute("SHOW FULL PROCESSLIST")
            if str(row[4]).startswith("Binlog Dump")
        ]
        return len(dumps) >= max(readers, 1) and all(
            "has sent all binlog" in state for state in dumps
        )

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        # A first load's offsets have the place where it began, to its end and beyond.
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
        # A change has a place of its own in each instance, and the connector reads the newest.
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
        # Without a place within the transaction, everything up to its commit was read.
        return (offset["commit_lsn"], change if ":" in change else _WHOLE_TRANSACTION)


def _is_loading(offset: Mapping[str, Any]) -> bool:
    """Whether the offset is one of a first load that is not over."""
    return bool(offset.get("snapshot")) and not offset.get("snapshot_completed")


def _binlog_position(file: str, position: int) -> Position:
    """`binlog.000012` and a byte in it."""
    return (int(file.rpartition(".")[2]), int(position))


def _lsn(value: bytes) -> str:
    """An LSN as Debezium writes it: `0000002a:00000a30:0003`."""
    digits, parts = value.hex(), []
    for count in _LSN_DIGITS:
        parts.append(digits[:count])
        digits = digits[count:]
    return ":".join(parts)
