"""A table that is made of silver tables by a query, and kept up with them group by group.

What it has been computed from is in its own commits: by silver table, the write whose rows were
read. What was written since is found by comparing the rows as they were with the rows as they are;
the groups that a changed row was in, or is in now, are computed again. Where the rows as they were
can no longer be read, all groups are.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import DecimalType

from lakehouse.deletes import DELETED, MARK
from lakehouse.errors import ConfigurationError
from lakehouse.exact import exact_session, floating, shown
from lakehouse.gold_definition import GROUPS, INPUT, KEY, ROW_KEY, GoldDefinition
from lakehouse.hudi import NOTE, HudiTable

__all__ = ["GoldTable", "Refresh"]

_log = logging.getLogger(__name__)
_NOTE = f"{NOTE}gold"
_LARGEST = 38
_LEVEL = StorageLevel.MEMORY_AND_DISK_DESER


@dataclass(frozen=True, slots=True)
class Refresh:
    """What one look at the silver tables has led to."""

    rows: int
    """Written: groups that are there now, and groups that are gone."""
    whole: bool
    """Whether all of the table was computed."""


class GoldTable:
    """The table of one definition; it has one writer."""

    def __init__(
        self,
        spark: SparkSession,
        definition: GoldDefinition,
        table: HudiTable,
        silver: Mapping[str, HudiTable],
    ) -> None:
        """`silver` has the tables that the definition reads, by name."""
        self.table = table
        self.definition = definition
        self._spark = exact_session(spark)
        self._silver = {name: silver[name] for name in definition.inputs}
        self._read: dict[str, str] | None = None

    @property
    def read(self) -> Mapping[str, str]:
        """By silver table, the write that has been taken in; none before the first."""
        return self._read or {}

    def open(self) -> None:
        """Go on where the table's own commits say. Removes a table of another definition."""
        said = json.loads(self.table.note(_NOTE) or "null")
        if said and said["definition"] != self.definition.digest:
            _log.info(
                "%s: its definition has changed: removed, to be written from scratch",
                self.definition.name,
            )
            self.table.remove()
            said = None
        self._read = said and dict(said["read"])

    def refresh(self) -> Refresh | None:
        """Take in what silver has by now. None where there is nothing new, or a table is lacking.

        Raises ConfigurationError for a definition whose answer is not exact.
        """
        with ExitStack() as stack:
            for name in sorted(self._silver):
                # No cleaning meanwhile: it would take rows from what is read. Commits go on.
                stack.enter_context(self._silver[name].services)
            readable = {name: table.readable() for name, table in self._silver.items()}
            if not all(readable.values()):
                return None
            now = {name: instants[-1] for name, instants in readable.items()}
            before = self._read
            if before == now:
                return None
            if before and all(before[name] in readable[name] for name in now):
                try:
                    return self._by_groups(before, now)
                except AnalysisException as error:
                    # Of columns that the rows as they were do not have.
                    _log.info("%s is computed whole: %s", self.definition.name, error)
            return self._whole(now)

    def _whole(self, now: Mapping[str, str]) -> Refresh:
        self._name_inputs({name: self._rows(name, now[name]) for name in now})
        with _kept(self._output(self._spark.sql(self.definition.rows))) as rows:
            count = rows.count()
            if self.table.exists() and (not count or self._has_other_columns(rows)):
                self.table.remove()
            if count and self.table.exists():
                self.table.replace(rows, self._notes(now))
            elif count:
                self.table.upsert(rows, self._notes(now), once=True)
        self._read = dict(now)
        return Refresh(count, whole=True)

    def _by_groups(self, before: Mapping[str, str], now: Mapping[str, str]) -> Refresh:
        is_now = {name: self._rows(name, now[name]) for name in now}
        changed = [name for name in now if before[name] != now[name]]
        was = is_now | {name: self._rows(name, before[name]) for name in changed}
        with ExitStack() as stack:
            differing = {
                name: stack.enter_context(_kept(_differing(was[name], is_now[name])))
                for name in changed
            }
            groups = stack.enter_context(_kept(self._groups(was, is_now, differing)))
            written = groups.count()
            if written:
                groups.createOrReplaceTempView(GROUPS)
                self._name_inputs(is_now)
                rows = self._output(self._spark.sql(self.definition.rows_of_groups))
                rows = stack.enter_context(_kept(rows))
                if self._has_other_columns(rows):
                    return self._whole(now)
                all_rows = rows.unionByName(self._gone(groups, rows))
                self.table.upsert(all_rows, self._notes(now), once=True)
        self._read = dict(now)
        return Refresh(written, whole=False)

    def _rows(self, name: str, instant: str) -> DataFrame:
        return shown(self._silver[name].rows_at(instant, spark=self._spark))

    def _groups(
        self,
        was: Mapping[str, DataFrame],
        is_now: Mapping[str, DataFrame],
        differing: Mapping[str, DataFrame],
    ) -> DataFrame:
        """The groups with a joined row that was there and is not now, or the other way round.

        Such a row has a part that changed. It is found among the rows that the query joins when it
        sees, in one place where it reads a table, the changed rows of that table alone.
        """
        found: DataFrame | None = None
        for rows, side in ((was, "was"), (is_now, "is_now")):
            for place, name in enumerate(self.definition.inputs):
                if name not in differing:
                    continue
                other = differing[name].where(f"{side} IS NOT NULL").select(f"{side}.*")
                self._name_inputs(rows, place, other)
                groups = self._spark.sql(self.definition.groups)
                found = groups if found is None else found.union(groups)
        assert found is not None  # noqa: S101 - a table has changed
        return found.distinct()

    def _name_inputs(
        self, rows: Mapping[str, DataFrame], place: int = -1, other: DataFrame | None = None
    ) -> None:
        """Give the definition's tables their rows; `other` in one place."""
        for number, name in enumerate(self.definition.inputs):
            shown_there = other if other is not None and number == place else rows[name]
            shown_there.createOrReplaceTempView(f"{INPUT}{number}")

    def _output(self, rows: DataFrame) -> DataFrame:
        """The table's rows: with the column that Hudi knows them by, and wide decimals."""
        names = [name.lower() for name in rows.columns]
        rows = rows.toDF(*names)
        if inexact := floating(rows.schema):
            raise ConfigurationError(
                f"{self.definition.name} cannot be kept as a table: its column {inexact[0]} is of "
                "floating point, whose sum depends on the order of rows",
                hint="Make it a decimal at its source, or take the view out of gold.materialised",
            )
        columns = [
            # As Athena types a sum. The table keeps its type when a source's column gets wider.
            f.col(field.name).cast(DecimalType(_LARGEST, field.dataType.scale))
            if isinstance(field.dataType, DecimalType) and field.name not in self.definition.keys
            else f.col(field.name)
            for field in rows.schema.fields
        ]
        return rows.select(
            _row_key(self.definition.keys).alias(ROW_KEY),
            *(column.alias(name) for column, name in zip(columns, names, strict=True)),
            f.lit("false").alias(DELETED),
        )

    def _gone(self, groups: DataFrame, rows: DataFrame) -> DataFrame:
        """Of the groups those that are none of `rows`, as rows that Hudi removes."""
        keys = self.definition.keys
        named = groups.toDF(*keys)
        named = named.select(_row_key(keys).alias(ROW_KEY), *keys)
        gone = named.join(rows.select(ROW_KEY), ROW_KEY, "left_anti")
        return gone.select(
            *(
                f.lit(MARK).alias(DELETED)
                if field.name == DELETED
                else f.col(field.name)
                if field.name in (ROW_KEY, *keys)
                else f.lit(None).cast(field.dataType).alias(field.name)
                for field in rows.schema.fields
            )
        )

    def _has_other_columns(self, rows: DataFrame) -> bool:
        """Whether a source's column has another type than when the table was made."""
        if not self.table.exists():
            return False
        there = [
            (field.name, field.dataType)
            for field in self.table.rows().schema.fields
            if not field.name.startswith("_hoodie_")
        ]
        return there != [(field.name, field.dataType) for field in rows.schema.fields]

    def _notes(self, now: Mapping[str, str]) -> dict[str, str]:
        return {_NOTE: json.dumps({"definition": self.definition.digest, "read": dict(now)})}


def _row_key(keys: Sequence[str]) -> Column:
    """One text for each group: JSON, where a column that is null is left out."""
    return f.to_json(f.struct(*(f.col(name).alias(f"{KEY}{n}") for n, name in enumerate(keys))))


def _differing(was: DataFrame, is_now: DataFrame) -> DataFrame:
    """The rows written in between: `was` and `is_now`, either of them null."""
    sides = [
        rows.select(
            f.col("_hoodie_record_key").alias("key"),
            f.col("_hoodie_partition_path").alias("place"),
            f.col("_hoodie_commit_seqno").alias(f"{side}_write"),
            f.struct("*").alias(side),
        )
        for side, rows in (("was", was), ("is_now", is_now))
    ]
    joined = sides[0].join(sides[1], ["key", "place"], "full")
    return joined.where("NOT (was_write <=> is_now_write)").select("was", "is_now")


@contextmanager
def _kept(rows: DataFrame) -> Iterator[DataFrame]:
    """`rows`, computed once."""
    kept = rows.persist(_LEVEL)
    try:
        yield kept
    finally:
        kept.unpersist()
