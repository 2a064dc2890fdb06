"""A table that a query makes from silver tables, and that follows them group by group.

The table's own commits note what it was computed from: for each silver table, the write whose rows
were read. Later changes are found by comparing the rows at that write with the current rows. The
groups that a changed row was in, or is in now, are computed again. If the rows at that write can
no longer be read, all groups are computed again.
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

from lakecontract.deletes import DELETED, MARK
from lakecontract.errors import ConfigurationError
from lakecontract.exact import exact_session, floating, shown
from lakecontract.gold_definition import GROUPS, INPUT, KEY, ROW_KEY, GoldDefinition
from lakehouse.hudi import NOTE, HudiTable

__all__ = ["GoldTable", "Refresh"]

_log = logging.getLogger(__name__)
_NOTE = f"{NOTE}gold"
_LARGEST = 38
_LEVEL = StorageLevel.MEMORY_AND_DISK_DESER


@dataclass(frozen=True, slots=True)
class Refresh:
    """The result of one look at the silver tables."""

    rows: int
    """Number of rows written, for groups that are there now and groups that are gone."""
    whole: bool
    """True if all of the table was computed."""


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
        """The write that has been taken in, by silver table; empty before the first one."""
        return self._read or {}

    def open(self) -> None:
        """Continue from the table's own commits. Remove a table of another definition."""
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
        """Take in silver's changes. Return None if there are none, or a silver table is missing.

        Raises ConfigurationError for a definition whose answer is not exact.
        """
        with ExitStack() as stack:
            for name in sorted(self._silver):
                # No cleaning runs meanwhile: it would remove rows that are read. Commits continue.
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
                    # The rows at the earlier write lack a column.
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
        """Return the groups with a joined row that has been added or removed.

        Such a row has a part that changed. The query finds it if it sees, in one place where it
        reads a table, only the changed rows of that table.
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
        """Register the rows of the definition's tables as views, with `other` in one place."""
        for number, name in enumerate(self.definition.inputs):
            shown_there = other if other is not None and number == place else rows[name]
            shown_there.createOrReplaceTempView(f"{INPUT}{number}")

    def _output(self, rows: DataFrame) -> DataFrame:
        """Return the table's rows, with Hudi's key column and with wide decimals."""
        names = [name.lower() for name in rows.columns]
        rows = rows.toDF(*names)
        if inexact := floating(rows.schema):
            raise ConfigurationError(
                f"{self.definition.name} cannot be kept as a table: its column {inexact[0]} is of "
                "floating point, whose sum depends on the order of rows",
                hint="Make it a decimal at its source, or take the view out of gold.materialised",
            )
        columns = [
            # Athena gives a sum this type. The table keeps it when a source's column gets wider.
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
        """Return the groups that are in none of `rows`, as rows that Hudi removes."""
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
        """Return whether the table's columns differ: a source's column has changed its type."""
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
    """Return one text per group: JSON without the columns that are null."""
    return f.to_json(f.struct(*(f.col(name).alias(f"{KEY}{n}") for n, name in enumerate(keys))))


def _differing(was: DataFrame, is_now: DataFrame) -> DataFrame:
    """Return the rows written in between as `was` and `is_now`, of which one may be null."""
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
    """Yield `rows`, which are computed once and kept for the block."""
    kept = rows.persist(_LEVEL)
    try:
        yield kept
    finally:
        kept.unpersist()
