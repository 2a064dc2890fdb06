"""The result of a comparison, as plain data that can be turned into JSON."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal

__all__ = ["Cell", "RowChange", "TableDiff", "cell"]

Cell = str | int | float | bool | None
"""A value as JSON has it: decimals, times and dates as text, bytes as hex digits."""


def cell(value: object) -> Cell:
    """Convert a value to the form in which it is shown and written; nothing is rounded."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return value.hex()
        case Decimal():
            return f"{value:f}"
        case dt.datetime():
            return value.isoformat(sep=" ", timespec="microseconds")
        case _:
            return str(value)


@dataclass(frozen=True)
class RowChange:
    """A row that both sides have, with different contents."""

    key: Mapping[str, Cell]
    columns: Mapping[str, tuple[Cell, Cell]]
    """Only the columns that differ: source value, silver value."""


@dataclass(frozen=True)
class TableDiff:
    """The differences between a source table and its silver table.

    Counts are complete; of the rows, only the first are listed.
    """

    source_rows: int
    silver_rows: int
    """Live rows: those not marked deleted."""
    missing: int = 0
    """Rows of the source that silver lacks."""
    extra: int = 0
    """Rows of silver that the source lacks."""
    different: int = 0
    """Rows with the same key and other contents."""
    duplicated: int = 0
    """Keys that silver has more than once."""
    missing_keys: tuple[Mapping[str, Cell], ...] = ()
    extra_keys: tuple[Mapping[str, Cell], ...] = ()
    changes: tuple[RowChange, ...] = ()
    duplicated_keys: tuple[Mapping[str, Cell], ...] = ()
    columns_missing: tuple[str, ...] = ()
    """Columns of the source that silver lacks, and that have a value in one of its rows."""
    columns_awaited: tuple[str, ...] = ()
    """Columns of the source that silver lacks, and that are NULL in every row: the next change adds
    them. They are reported, but are no difference."""
    columns_extra: tuple[str, ...] = ()
    """Columns of silver that the source lacks, as after a column was dropped at the source. They
    are reported, but are no difference: silver keeps what it was given."""
    columns_uncaptured: tuple[str, ...] = ()
    """Columns of the source that its connector leaves out. They are reported, but are no
    difference."""
    columns_incomparable: tuple[str, ...] = ()
    """Columns whose types cannot hold the same values, as `name: source type, silver type`, and
    columns of the source without a known exact form, as `name: type`. Also columns that were
    compared and have values that silver has no form for, as `name: how many`."""

    @property
    def equal(self) -> bool:
        """True if silver has every row of the source, as it is, once, and no other."""
        return self.rows_equal and not self.columns_incomparable

    @property
    def rows_equal(self) -> bool:
        """True if silver's rows are equal as far as the columns can be compared."""
        return not (self.rows or self.columns_missing)

    @property
    def rows(self) -> int:
        """Number of rows that are missing, extra, different or duplicated."""
        return self.missing + self.extra + self.different + self.duplicated

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON, `equal` included."""
        return {"equal": self.equal, **asdict(self)}
