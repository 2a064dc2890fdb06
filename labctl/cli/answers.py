"""Parts shared by the commands that run statements by Athena's API."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType

from labctl.cli.format import Format
from labctl.cli.output import print_result
from labctl.cli.rows import rows_table
from labctl.lab.catalog.athena_client import Answer
from labctl.lake.answer_rows import records_of, rows_csv

__all__ = ["DatabaseOption", "WideOption", "one_line", "print_answer"]

DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", help="Of names without one [default: the first table's]."),
]
WideOption = Annotated[bool, typer.Option("--wide", help="One line per row, however long it gets.")]
_SQL_LENGTH = 60
"""Characters of a statement that a line shows."""


def one_line(sql: str) -> str:
    """Return the beginning of a statement, for a list of statements."""
    text = " ".join(sql.split())
    return text if len(text) <= _SQL_LENGTH else f"{text[: _SQL_LENGTH - 1]}…"


def print_answer(
    format_: Format, answer: Answer, *, wide: bool = False, expanded: bool = False
) -> None:
    """`wide` and `expanded` are of `rows_table`."""
    rows = answer.table()
    data = {
        "execution": answer.execution,
        "columns": [
            {"name": name, "type": type_}
            for name, type_ in zip(answer.columns, answer.types, strict=True)
        ],
        "rows": records_of(rows),
    }

    def render() -> RenderableType:
        return rows_table(rows, wide=wide, expanded=expanded) if answer.columns else "done"

    print_result(format_, data, render, csv=lambda: rows_csv(rows))
