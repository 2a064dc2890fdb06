"""TRUNCATE at a source: it removes every row that the table had before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from lakecontract.deletes import DELETED, MARK
from lakecontract.errors import UnusableSchemaError
from lakehouse.schema_changes import POSITION_COLUMNS

__all__ = [
    "Truncate",
    "UnorderedError",
    "emptied",
    "last_of",
]

_OPERATION, _TRUNCATE = "__op", "t"


class UnorderedError(UnusableSchemaError):
    """A TRUNCATE that cannot be applied."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"the table was truncated at its source ({place}), and silver cannot tell which rows "
            f"that removed: the topic has several partitions, or its records have no {DELETED}. "
            "Load the table again: labctl connectors snapshot NAME --start-over",
            hint="Nothing after it was taken in",
        )


@dataclass(frozen=True, slots=True)
class Truncate:
    """The record of a TRUNCATE, with its place in the topic."""

    partition: int
    offset: int
    timestamp_ms: int


def last_of(truncates: Sequence[Truncate], rows: StructType, partitions: int) -> Truncate | None:
    """Return the last of a topic's `truncates`: it has removed all that the others have, too.

    Raises UnorderedError if its order among `rows`, which have these columns, is not known.
    """
    if not truncates:
        return None
    last = max(truncates, key=lambda one: one.offset)
    is_empty = rows.names == POSITION_COLUMNS.names
    if partitions > 1 or not (is_empty or DELETED in rows.names):
        raise UnorderedError(f"partition {last.partition} offset {last.offset}")
    return last


def emptied(rows: DataFrame, at: Truncate, *, where: Column | None = None) -> DataFrame:
    """Return `rows`, one per key, as `at` leaves them: deleted, with its place as the last change.

    Rows that do not meet `where`, and those that are deleted already, stay as they are.
    """
    live = f.coalesce(f.col(DELETED), f.lit("false")) != MARK
    gone = live if where is None else live & where
    values: Mapping[str, object] = {
        DELETED: MARK,
        _OPERATION: _TRUNCATE,
        "__kafka_partition": at.partition,
        "__kafka_offset": at.offset,
        "__kafka_timestamp": at.timestamp_ms,
    }
    return rows.select(
        *(
            f.when(gone, f.lit(values[field.name]).cast(field.dataType))
            .otherwise(f.col(f"`{field.name}`"))
            .alias(field.name)
            if field.name in values
            else f.col(f"`{field.name}`")
            for field in rows.schema.fields
        )
    )
