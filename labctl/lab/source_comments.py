"""What the sources of a lab say of the columns of their tables."""

from __future__ import annotations

from collections import defaultdict

from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lake.column_comments import Comments
from labctl.sources import TableRef, connect
from labctl.tables import LabTable

__all__ = ["source_comments"]

_LONGEST = 255
"""Characters that Glue takes."""


def source_comments(lab: Lab) -> Comments:
    """By silver table; without those of a source that does not answer."""
    by_source: dict[str, list[LabTable]] = defaultdict(list)
    for table in lab.tables:
        by_source[table.source].append(table)
    found: dict[str, dict[str, str]] = {}
    for name, tables in by_source.items():
        try:
            with connect(lab.endpoints, name) as source:
                for table in tables:
                    said = source.comments(TableRef(table.db_schema, table.source_name))
                    found[table.name] = {c.lower(): _one_line(t) for c, t in said.items()}
        except LabError:
            continue
    return found


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
