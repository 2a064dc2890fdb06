"""Comparison of every source table with its silver table, by key and content.

`verify_table` compares two tables in memory. `verify` reads all pairs, and reads them again while
changes are still on their way, until they are equal or nothing is on its way any more.
"""

from __future__ import annotations

from labctl.verify.compare import changes_between, verify_table
from labctl.verify.diff import RowChange, TableDiff
from labctl.verify.pairs import Captured, SourceCapture, open_pairs
from labctl.verify.verify_run import (
    CaptureState,
    Pair,
    Rows,
    State,
    TableCapture,
    TableVerdict,
    UnavailableError,
    VerifyReport,
    verify,
)

__all__ = [
    "CaptureState",
    "Captured",
    "Pair",
    "RowChange",
    "Rows",
    "SourceCapture",
    "State",
    "TableCapture",
    "TableDiff",
    "TableVerdict",
    "UnavailableError",
    "VerifyReport",
    "changes_between",
    "open_pairs",
    "verify",
    "verify_table",
]
