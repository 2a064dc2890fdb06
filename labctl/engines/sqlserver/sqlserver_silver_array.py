"""Conversion of database values to a silver array, with an error that names an invalid value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from labctl.errors import LabError
from labctl.sources.base import Declared, SourceColumn, TableRef

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["silver_array"]


def silver_array(
    ref: TableRef,
    column: SourceColumn,
    values: Sequence[Any],
    arrive: Callable[[Any, Declared], Any],
) -> pa.Array[Any]:
    """Return a column's values as silver stores them; `arrive` converts one value.

    Raises LabError for a value that silver's type cannot hold, such as the year 1 in nanoseconds.
    """
    import pyarrow as pa

    def array(some: Sequence[Any]) -> pa.Array[Any]:
        return pa.array([arrive(value, column.declared) for value in some], column.arrow)

    try:
        return array(values)
    except (OverflowError, ValueError):
        for value in values:
            try:
                array([value])
            except (OverflowError, ValueError):
                raise LabError(
                    f"The column {column.name} of {ref} holds {value}, which silver's type "
                    f"{column.arrow} does not hold: Debezium sends another value",
                    hint="change the value or the column's type, or leave the column out of "
                    "capture; `labctl table check` says how",
                ) from None
        raise
