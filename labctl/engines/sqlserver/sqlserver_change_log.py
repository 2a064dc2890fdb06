"""SQL Server's change tables, as `ChangeLog` asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labctl.sources.base import Source, TableRef
from labctl.sources.change_log import Position, is_loading

__all__ = ["SqlServerLog"]

_LSN_DIGITS = (8, 8, 4)
_WHOLE_TRANSACTION = "~"
"""A mark that sorts after every LSN: the whole transaction was read."""


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

    def is_ahead(self, offset: Mapping[str, Any]) -> bool:
        stored = self.stored(offset)
        ((newest,),) = self._source.execute("SELECT sys.fn_cdc_get_max_lsn()")
        return (
            stored is not None
            and newest is not None
            and stored > (_lsn(newest), _WHOLE_TRANSACTION)
        )

    def stored(self, offset: Mapping[str, Any]) -> Position | None:
        if is_loading(offset) or "commit_lsn" not in offset:
            return None
        change = str(offset.get("change_lsn") or "")
        # Without a position within the transaction, everything up to its commit was read.
        return (offset["commit_lsn"], change if ":" in change else _WHOLE_TRANSACTION)


def _lsn(value: bytes) -> str:
    """Return an LSN as Debezium writes it: `0000002a:00000a30:0003`."""
    digits, parts = value.hex(), []
    for count in _LSN_DIGITS:
        parts.append(digits[:count])
        digits = digits[count:]
    return ":".join(parts)
