"""Answers to SQL as the query page shows and hands them out.

The functions run in a process of `lake_workers`, and so answer with classes of this module.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labctl.ui.cell_text import cell_text

if TYPE_CHECKING:
    import pyarrow as pa

    from labctl.lab.lab import Lab

__all__ = ["MOST_ROWS", "Answer", "Question", "answer", "download", "names"]

MOST_ROWS = 500


@dataclass(frozen=True)
class Question:
    """SQL, and the part of the tables' history that it sees."""

    sql: str
    as_of: str | None = None
    begin: str | None = None
    end: str | None = None
    is_for_spark: bool = False


@dataclass(frozen=True)
class Answer:
    """The first rows of an answer."""

    columns: tuple[tuple[str, str], ...]
    """Name and type of each."""
    rows: tuple[tuple[str | None, ...], ...]
    count: int
    """Rows in all."""
    seconds: float


def answer(lab: Lab, question: Question) -> Answer:
    """Answer SQL as `labctl query` does. Raises LabError (USAGE) for SQL that cannot be run."""
    from labctl.lake.answer_rows import values_of

    begun = time.monotonic()
    found = _rows(lab, question)
    seconds = time.monotonic() - begun
    rows = values_of(found.slice(0, MOST_ROWS))
    return Answer(
        tuple((field.name, str(field.type)) for field in found.schema),
        tuple(tuple(map(cell_text, row)) for row in rows),
        found.num_rows,
        seconds,
    )


def download(lab: Lab, question: Question, form: str, path: Path) -> None:
    """Write all rows of an answer to a file: `csv` or `parquet`."""
    import pyarrow.parquet as pq

    from labctl.lake.answer_rows import rows_csv

    found = _rows(lab, question)
    if form == "csv":
        path.write_text(rows_csv(found), "utf-8")
    else:
        pq.write_table(found, path)


def names(lab: Lab) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of each table of the lake that has rows, for completion."""
    from labctl.errors import LabError
    from labctl.lake import Lake
    from lakecontract.bookkeeping import BOOKKEEPING

    lake = Lake(lab.require_running().endpoints.objectstore)
    found: dict[str, tuple[str, ...]] = {}
    known = lake.table_names()
    for name in known:
        try:
            columns = lake.table(name, known).schema().names
        except LabError:
            columns = []  # without a commit
        found[name] = tuple(one for one in columns if not one.startswith(BOOKKEEPING))
    return found


def _rows(lab: Lab, question: Question) -> pa.Table:
    from labctl.lab.catalog.query_views import LabViews
    from labctl.lake import Lake, View
    from labctl.lake.answer_rows import own_columns

    lab.require_running()
    spark = None
    if question.is_for_spark:
        from labctl.lake.spark_queries import SparkEngine

        spark = SparkEngine(lab.artifacts.spark_jars(), lab.artifacts.java())
    view = View.parse(as_of=question.as_of, begin=question.begin, end=question.end)
    lake = Lake(lab.endpoints.objectstore)
    found = lake.query(question.sql, view, engine=spark, views=LabViews(lab))
    return own_columns(found, question.sql)
