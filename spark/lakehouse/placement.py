"""The partition of every row of a table, so that a row that changes partitions is there once.

The bucket index looks for a key only in the row's own partition: if the row were written to another
one, it would be in both. So the application knows where each key is, and writes a delete into the
old partition together with the row for the new one, in the same commit.
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

from lakecontract.deletes import DELETED, LIVE, MARK
from lakecontract.errors import PermanentError, SchemaChangeError
from lakecontract.partitions import FIELDS
from lakecontract.properties import TableConfig
from lakehouse.schema_changes import POSITION_COLUMNS

__all__ = ["MOVED", "Arranged", "Placement", "check_columns"]

MOVED = "moved"
"""Value of the column `__deleted`: the row is to be removed from its old partition."""
_NO_VALUE = ("", "__HIVE_DEFAULT_PARTITION__")
"""Values that Hudi keeps in the same partition as null."""
_LONGEST_NAME = 255
"""Most bytes of a folder's name. Some object stores keep objects as files."""
_TYPES = (StringType, IntegerType, LongType, ShortType, BooleanType, DateType)
"""Types whose values have one form as text. Different values of other types may look alike."""

_Key = Any
"""A row's key: the value of its column, or a tuple if there are several columns."""
_Place = tuple[Any, ...]
"""The values of the partition columns."""


def check_columns(config: TableConfig, before: StructType | None, after: StructType) -> None:
    """Raise SchemaChangeError if a table with columns `after` cannot have its partitions.

    `before` are the columns that it has by now. Records without columns, such as that of a
    TRUNCATE, tell nothing yet.
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
                f"labctl table rebuild {config.name}",
            )
    if config.partition_fields and DELETED not in after.names:
        raise SchemaChangeError(
            f"Table {config.name} is in partitions, and its records have no column {DELETED}",
            hint="The connector is to write it: transforms.unwrap.delete.tombstone.handling.mode="
            "rewrite",
        )


@dataclass(frozen=True, slots=True)
class Arranged:
    """Rows that are ready to be written, each key once in each partition."""

    rows: DataFrame
    count: int
    places: Mapping[_Key, _Place | None]
    """Partition of each key after the write; None: the key is in none."""


class Placement:
    """The partition of every key of one table; each takes some 100 bytes of memory."""

    def __init__(self, spark: SparkSession, config: TableConfig) -> None:
        self._spark = spark
        self._config = config
        self._is_hard = config.deletes == "hard"
        self._places: dict[_Key, _Place] = {}
        self._known: dict[_Place, _Place] = {}

    def load(self, rows: DataFrame | None) -> None:
        """Load the keys and partitions of the table's rows; None: it has none yet."""
        self._places, self._known = {}, {}
        if rows is not None:
            columns = [*self._config.key_fields, *self._config.partition_fields]
            for row in rows.select(*columns).toLocalIterator(prefetchPartitions=True):
                self._places[self._key(row)] = self._place(row)

    @property
    def partitions(self) -> int:
        """Number of partitions in which rows have been seen. It only grows."""
        return len(self._known)

    @contextmanager
    def arranged(self, rows: DataFrame) -> Iterator[Arranged]:
        """Yield what to write for `rows`, valid while the block runs. See `written`."""
        rows = rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            yield self._arrange(rows)
        finally:
            rows.unpersist()

    def written(self, arranged: Arranged) -> None:
        """Note the partitions of the keys, once the rows have been committed."""
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
        """Return rows of `schema` by which Hudi removes keys from the partition they name."""
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
        # Spark returns bytes in a form that can change.
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
            # Hudi writes each special character in a name as three characters.
            longest = len(text.encode()) + 2 * sum(not c.isalnum() for c in text)
            if longest > _LONGEST_NAME:
                raise PermanentError(
                    f"Table {self._config.name} is partitioned by {name}: {str(value)[:40]!r}…, "
                    f"{len(str(value))} characters, is too long for the name of a folder",
                    hint="Partition it by a column with shorter values",
                )
