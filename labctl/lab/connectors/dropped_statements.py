"""Statements that a database logged as text instead of rows, and that a connector dropped.

A connector says so in Kafka Connect's log alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from labctl.sources import TableRef

__all__ = ["LINES", "dropped_statements"]

LINES = 10_000
"""Number of Kafka Connect's last log lines that are searched."""
_SHOWN = 80
"""Characters of a statement that a problem shows."""
_LOADED = re.compile(
    r"incremental snapshotting of table '(?P<part>[^']+)' finished"
    r"|Finished exporting \d+ records for table '(?P<whole>[^']+)'"
)

_QUALIFIER = re.compile(r"([\w$]+)`?\s*\.\s*`?$")


def dropped_statements(
    log: Sequence[str], dropped: re.Pattern[str], refs: Collection[TableRef]
) -> dict[TableRef, str]:
    """Return the last dropped statement of each table in `refs` that was not loaded again since.

    A backfill does not undo a DELETE that was dropped.
    `dropped` is the expression for the log's text about a statement, which is its group `sql`.
    A statement is a table's if it has the table's name, and no other schema before it.
    """
    text = "\n".join(log)
    names = {str(ref): ref for ref in refs}
    found: dict[TableRef, str] = {}
    events = [*dropped.finditer(text), *_LOADED.finditer(text)]
    for event in sorted(events, key=lambda one: one.start()):
        if event.re is _LOADED:
            loaded = names.get(event["part"] or event["whole"])
            if loaded is not None and (event["whole"] or not _deletes(found.get(loaded, ""))):
                found.pop(loaded, None)
            continue
        sql = " ".join(event["sql"].split())
        shown = sql if len(sql) <= _SHOWN else f"{sql[: _SHOWN - 1]}…"
        found |= {ref: shown for ref in refs if _names(sql, ref)}
    return found


def _deletes(sql: str) -> bool:
    return sql[:6].upper() == "DELETE"


def _names(sql: str, ref: TableRef) -> bool:
    for match in re.finditer(rf"(?<![\w$]){re.escape(ref.name)}(?![\w$])", sql, re.IGNORECASE):
        before = _QUALIFIER.search(sql[: match.start()])
        if before is None or before[1].lower() == ref.schema.lower():
            return True
    return False
