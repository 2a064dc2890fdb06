"""Data sets: rows that a lab's source databases can be filled with.

A data set is a package with a `DataSet`, which it offers under the entry point `labctl.data_sets`;
nothing here knows one.
"""

from __future__ import annotations

from labctl.datasets.data_set import DataSet, FollowedRow, SeedTable, TextColumn
from labctl.datasets.data_set_registry import data_set, data_sets
from labctl.datasets.loading import Action, SeededTable, SeedResult, prepare, seed

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
