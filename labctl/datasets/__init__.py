"""Data sets: rows that a lab's source databases can be filled with.

A data set is a package with a `DataSet`, which it offers under the entry point `labctl.data_sets`;
nothing here knows one.
"""

from __future__ import annotations

from labctl.datasets.loading import Action, SeededTable, SeedResult, prepare, seed
from labctl.datasets.model import DataSet, FollowedRow, SeedTable, TextColumn
from labctl.datasets.registry import data_set, data_sets

__all__ = [
    "Action",
    "DataSet",
    "FollowedRow",
    "SeedResult",
    "SeedTable",
    "SeededTable",
    "TextColumn",
    "data_set",
    "data_sets",
    "prepare",
    "seed",
]
