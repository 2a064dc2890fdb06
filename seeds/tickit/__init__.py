"""The TICKIT sample data set: a fictional ticket marketplace, spread over three databases.

`seed(endpoints)` creates and fills the tables; `generate(scale)` gives the rows themselves.
"""

from __future__ import annotations

from seeds.tickit.generate import generate, row_counts
from seeds.tickit.load import Action, SeededTable, SeedResult, ddl, prepare, seed
from seeds.tickit.schema import TABLES, Column, Table

__all__ = [
    "TABLES",
    "Action",
    "Column",
    "SeedResult",
    "SeededTable",
    "Table",
    "ddl",
    "generate",
    "prepare",
    "row_counts",
    "seed",
]
