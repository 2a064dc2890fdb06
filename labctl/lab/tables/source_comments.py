"""Comments on the columns of a lab's tables, from its sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lake.column_comments import Comments
from labctl.sources import TableRef, connect
from labctl.tables import LabTable

__all__ = ["source_comments"]

_LONGEST = 255
"""Maximum length of a comment in Glue, in characters."""


def source_comments(lab: Lab) -> Comments:
    """Return column comments by silver table, without those of sources that do not answer."""
    by_source: dict[str, list[LabTable]] = defaultdict(list)
    for table in lab.tables:
        by_source[table.source].append(table)
    with ThreadPoolExecutor(max_workers=max(1, len(by_source))) as pool:
        asked = pool.map(lambda name: _of_source(lab, name, by_source[name]), by_source)
        return {table: comments for found in asked for table, comments in found.items()}


def _of_source(lab: Lab, name: str, tables: Iterable[LabTable]) -> Comments:
    try:
        with connect(lab.endpoints, name) as source:
            return {
                table.name: {
                    column.lower(): _one_line(text)
                    for column, text in source.comments(
                        TableRef(table.db_schema, table.source_name)
                    ).items()
                }
                for table in tables
            }
    except LabError:
        return {}


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
