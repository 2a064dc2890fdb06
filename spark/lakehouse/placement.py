"""Which partition of a table every row is in, so that a row that changes it is there once.

The bucket index looks for a key in the row's own partition alone: written to another one, the row
would be in both. So the application knows where each key is, and writes a delete into the old
partition with the row that goes into the new one, in the same commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import (
    BooleanType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from lakehouse.deletes import DELETED, LIVE, MARK
from lakehouse.errors import PermanentError, SchemaChangeError
from lakehouse.partitions import FIELDS
from lakehouse.properties import TableConfig
from lakehouse.schema import POSITION_COLUMNS

__all__ = ["MOVED", "Arranged", "Placement", "check_columns"]

MOVED = "moved"
"""In the column `__deleted`: the row is to be removed from the partition that it was in."""
_NO_VALUE = ("", "__HIVE_DEFAULT_PARTITION__")
"""Values that Hudi keeps in the same partition as null."""
_LONGEST_NAME = 255
"""Bytes of a folder's name. Some object stores keep objects as files."""
_TYPES = (StringType, IntegerType, LongType, ShortType, BooleanType, DateType)
"""Types whose values have one form as text. Of others, several values may look alike."""

_Key = Any
"""A row's key: its column's value, of several columns a tuple."""
_Place = tuple[Any, ...]
"""The values of the partition columns."""


def check_columns(config: TableConfig, before: StructType | None, after: StructType) -> None:
    """Raise SchemaChangeError when a table with columns `after` cannot be partitioned as it says.

    `before` are the columns that it has by now. Where no record has columns, such as that of a
    TRUNCATE, nothing is known yet.
    """
    if after.names == POSITION_COLUMNS.names:
        return
    for name in config.partition_fields:
        partitioned = f"Table {config.name} is partitioned by {name}"
        if name not in after.names:
            raise SchemaChangeError(
                f"{config.place_of(FIELDS)}: {partitioned}, a column that its records do not have",
                hint=f"They have {', '.join(after.names)}. Correct it and restart silver",
            )
        now = after[name].dataType
        if not isinstance(now, _TYPES):
            raise SchemaChangeError(
                f"{config.place_of(FIELDS)}: {partitioned}, which is {now.simpleString()}",
                hint="Partition it by a column of text, whole numbers, dates or true and false",
            )
        if before is not None and name in before.names and before[name].dataType != now:
            raise SchemaChangeError(
                f"{partitioned}, which was {before[name].dataType.simpleString()} and now arrives "
                f"as {now.simpleString()}",
                hint="Change the column back at the source, or write the table again: "
                f"labctl rebuild {config.name}",
            )
    if config.partition_fields and DELETED not in after.names:
        raise SchemaChangeError(
            f"Table {config.name} is in partitions, and its records have no column {DELETED}",
            hint="The connector is to write it: transforms.unwrap.delete.tombstone.handling.mode="
            "rewrite",
        )


@dataclass(frozen=True, slots=True)
class Arranged:
    """Rows as they can be written, each key once in each partition."""

    rows: DataFrame
    count: int
    places: Mapping[_Key, _Place | None]
    """Where keys are once they have been written; None: nowhere."""


class Placement:
    """Knows the partition of every key of one table; some 100 bytes of memory for each."""

    def __init__(self, spark: SparkSession, config: TableConfig) -> None:
        self._spark = spark
        self._config = config
        self._is_hard = config.deletes == "hard"
        self._places: dict[_Key, _Place] = {}
        self._known: dict[_Place, _Place] = {}

    def load(self, rows: DataFrame | None) -> None:
        """Take over what the table has; None: it has nothing yet."""
        self._places, self._known = {}, {}
        if rows is not None:
            columns = [*self._config.key_fields, *self._config.partition_fields]
            for row in rows.select(*columns).toLocalIterator(prefetchPartitions=True):
                self._places[self._key(row)] = self._place(row)

    @property
    def partitions(self) -> int:
        """How many partitions rows have been in, as far as it has seen. It only grows."""
        return len(self._known)

    @contextmanager
    def arranged(self, rows: DataFrame) -> Iterator[Arranged]:
        """What is to be written for `rows`, as long as the block runs. See `written`."""
        rows = rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            yield self._arrange(rows)
        finally:
            rows.unpersist()

    def written(self, arranged: Arranged) -> None:
        """The rows have been committed."""
        for key, place in arranged.places.items():
            if place is None:
                self._places.pop(key, None)
            else:
                self._places[key] = place

    def _arrange(self, rows: DataFrame) -> Arranged:
        config = self._config
        asked = [
            *config.key_fields,
            *config.partition_fields,
            config.ordering_field,
            "__kafka_partition",
            DELETED,
        ]
        found = rows.select(*asked).collect()
        last: dict[_Key, Any] = {}
        for row in found:
            key = self._key(row)
            if key not in last or row[config.ordering_field] > last[key][config.ordering_field]:
                last[key] = row
        places: dict[_Key, _Place | None] = {}
        removed = []
        for key, row in last.items():
            place = None if self._is_hard and row[DELETED] == MARK else self._place(row)
            known = self._places.get(key)
            places[key] = place
            if known is not None and known != place:
                removed.append(self._removal(row, known))
        gone = sum(place is None for place in places.values())
        if len(last) < len(found):
            rows = (
                rows.groupBy(*config.key_fields)
                .agg(f.max_by(f.struct(*rows.columns), config.ordering_field).alias("row"))
                .select("row.*")
            )
        if gone:
            rows = rows.where(LIVE)
        if removed:
            rows = rows.unionByName(self._removals(removed, rows.schema))
        return Arranged(rows, len(last) - gone + len(removed), places)

    def _removal(self, row: Any, place: _Place) -> dict[str, Any]:
        return {
            **row.asDict(),
            **dict(zip(self._config.partition_fields, place, strict=True)),
            DELETED: MARK if self._is_hard else MOVED,
        }

    def _removals(self, removed: list[dict[str, Any]], schema: StructType) -> DataFrame:
        """Rows of `schema` by which Hudi removes what is in the partition they name."""
        given = StructType(
            [StructField(c.name, c.dataType) for c in schema.fields if c.name in removed[0]]
        )
        values = [tuple(row[name] for name in given.names) for row in removed]
        made = self._spark.createDataFrame(values, given)
        columns = {name: f.col(name) for name in given.names}
        return made.select(
            *(columns.get(c.name, f.lit(None).cast(c.dataType)).alias(c.name) for c in schema)
        )

    def _key(self, row: Any) -> _Key:
        values = (row[name] for name in self._config.key_fields)
        # Spark has bytes in a form that can change.
        key = tuple(bytes(value) if isinstance(value, bytearray) else value for value in values)
        return key[0] if len(key) == 1 else key

    def _place(self, row: Any) -> _Place:
        values = (row[name] for name in self._config.partition_fields)
        place = tuple(None if value in _NO_VALUE else value for value in values)
        if (known := self._known.get(place)) is None:
            self._check_length(place)
            known = self._known[place] = place
        return known

    def _check_length(self, place: _Place) -> None:
        for name, value in zip(self._config.partition_fields, place, strict=True):
            text = f"{name}={value}"
            # Hudi writes what is odd in a name as three characters.
            longest = len(text.encode()) + 2 * sum(not c.isalnum() for c in text)
            if longest > _LONGEST_NAME:
                raise PermanentError(
                    f"Table {self._config.name} is partitioned by {name}: {str(value)[:40]!r}…, "
                    f"{len(str(value))} characters, is too long for the name of a folder",
                    hint="Partition it by a column with shorter values",
                )
