"""Rows of a query as text: a table where it fits the line, else one column per line, or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.output import stdout
from labctl.counted import counted
from labctl.lake.answer_rows import values_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["rows_table"]

SHOWN_ROWS = 50
_BETWEEN = 2
"""Characters between two columns."""


def rows_table(answer: pa.Table, *, wide: bool = False, expanded: bool = False) -> RenderableType:
    """Show the first rows: as a table if it fits the line or if `wide`; else row by row.

    `expanded`: row by row even if it fits.
    """
    rows = [[_cell(value) for value in row] for row in values_of(answer.slice(0, SHOWN_ROWS))]
    names = answer.column_names
    widths = [max(cell_len(text) for text in column) for column in zip(names, *rows, strict=True)]
    if wide:
        body: RenderableType = Text("\n".join(_line(row, widths) for row in [names, *rows]))
    elif not expanded and sum(widths) + _BETWEEN * len(widths) <= stdout.width:
        table = Table(box=None, pad_edge=False)
        for name in names:
            table.add_column(name)
        for row in rows:
            table.add_row(*map(Text, row))
        body = table
    else:
        body = _records(names, rows)
    if not wide and answer.num_rows == 1 and not isinstance(body, Table):
        return body
    more = answer.num_rows - SHOWN_ROWS
    count = counted(answer.num_rows, "row")
    count += f", {more:,} not shown" if more > 0 else ""
    return Group(body, count)


def _records(names: list[str], rows: list[list[str]]) -> RenderableType:
    """Show each row as lines of a name and a value."""
    parts: list[RenderableType] = []
    for number, row in enumerate(rows, start=1):
        if len(rows) > 1:
            parts.append(Text(f"row {number}", style="bold"))
        record = Table(box=None, pad_edge=False, show_header=False)
        record.add_column(no_wrap=True)
        record.add_column(overflow="fold")
        for name, value in zip(names, row, strict=True):
            record.add_row(name, Text(value))
        parts.append(record)
    return Group(*parts)


def _line(row: list[str], widths: list[int]) -> str:
    padded = (
        text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)
    )
    return (" " * _BETWEEN).join(padded).rstrip()


def _cell(value: object) -> str:
    return "null" if value is None else str(value)
