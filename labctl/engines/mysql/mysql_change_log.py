"""MySQL's binary log, as `ChangeLog` asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labctl.errors import LabError
from labctl.sources.base import Source, TableRef
from labctl.sources.change_log import Position

__all__ = ["MySqlLog"]


class MySqlLog:
    """The binary log. https://dev.mysql.com/doc/refman/8.4/en/replication-threads-monitor-main.html"""

    def __init__(self, source: Source) -> None:
        self._source = source

    def end(self, _ref: TableRef) -> Position | None:
        return self._end()

    def _end(self) -> Position | None:
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

    def is_ahead(self, offset: Mapping[str, Any]) -> bool:
        if gtids := offset.get("gtids"):
            # Another server of the same data has other files, but the same transactions.
            ((executed,),) = self._source.execute(
                "SELECT GTID_SUBSET(%s, @@GLOBAL.gtid_executed)", (gtids,)
            )
            return not executed
        stored, end = self.stored(offset), self._end()
        return stored is not None and end is not None and stored > end

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        # A first load's offsets keep the position where it began until after its end.
        if "snapshot" in offset or "file" not in offset:
            return None
        return _binlog_position(offset["file"], offset["pos"])


def _binlog_position(file: str, position: int) -> Position:
    """Return the position of a byte in a file such as `binlog.000012`."""
    return (int(file.rpartition(".")[2]), int(position))
