"""A silver table: its content, and how changes are committed to it."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from lakecontract.deletes import DELETED, MARK
from lakecontract.properties import TableConfig
from lakehouse.clock import InstantClock
from lakehouse.key_generator import KeyGenerator
from lakehouse.layout import Layout, check_layout
from lakehouse.placement import MOVED
from lakehouse.progress import moment
from lakehouse.schema_changes import has_elements, widened_columns
from lakehouse.small_commits import MOST_ROWS, SmallCommits
from lakehouse.storage import LakeFiles

__all__ = ["CHECKPOINT_KEY", "NOTE", "HudiTable", "TableState"]

CHECKPOINT_KEY = "deltastreamer.checkpoint.key"
"""Commit metadata with the offsets that a table has taken in, in HoodieStreamer's own key and
format (`topic,partition:next offset,…`): either can continue where the other stopped."""

NOTE = CHECKPOINT_KEY.rsplit(".", 1)[0] + "."
"""Prefix of the keys of all notes in a commit."""
_BUCKETS_KEY = NOTE + "buckets"
"""Commit metadata with the number of buckets. Hudi notes it nowhere: with another number it would
look for keys in the wrong buckets and write them a second time."""

_TOPIC_ID_KEY = NOTE + "topic.id"
"""Commit metadata with Kafka's id of the topic that the offsets are of."""

_TOPIC_PARTITIONS_KEY = NOTE + "topic.partitions"
"""Commit metadata with the topic's number of partitions when the table began."""

_TRUNCATED_KEY = NOTE + "truncated"
"""Commit metadata with the offset of the last TRUNCATE: Kafka may have dropped its record by the
time an earlier dead letter is replayed."""

_SPARED = {
    # Otherwise Hudi lists the timeline again, only to find that services are not allowed.
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    # Otherwise Hudi reads the table's schema again: rows have all of the table's columns.
    "hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true",
}
"""Options for work that Hudi skips in each commit."""


@dataclass(frozen=True, slots=True)
class TableState:
    """The state that a table's own files hold."""

    schema: StructType | None
    """Columns without Hudi's own; None before the first commit."""
    next_offsets: Mapping[int, int]
    """The next offset to take in, by partition."""
    commits_since_compaction: int = 0
    records_since_compaction: int = 0
    """Number by offsets; since the beginning, if there has been no compaction."""
    buckets: str = ""
    """Number of buckets that its rows are spread over; empty if no commit says."""
    commits_since_cleaning: int = 0
    """Commits since the last cleaning that found something to remove."""
    is_service_unfinished: bool = False
    """True if a compaction or a cleaning was started, or just planned, and is not completed."""
    topic_id: str = ""
    """Kafka's id of the topic that `next_offsets` belong to; empty if no commit says."""
    topic_partitions: int = 0
    """That topic's number of partitions when the table began; 0 if no commit says."""
    truncated: int = -1
    """Offset of the last TRUNCATE that it has taken in; -1 if there was none."""
    layout: Layout | None = None
    """The layout of its rows; None before the first commit."""
    last_commit_at: str | None = None
    """Time of its last completed write, see `progress.now`; None before the first commit."""


class HudiTable:
    """A silver table. It has one writer: `lock` is held while its timeline is being extended.

    `services` is held by code that needs its files to stay unchanged for longer than a commit: a
    table service, or a rebuild.
    """

    def __init__(self, spark: SparkSession, config: TableConfig, base_path: str) -> None:
        self.config = config
        self.path = f"{base_path.rstrip('/')}/{config.path}"
        self.lock = threading.Lock()
        self.services = threading.Lock()
        self._spark = spark
        self._jvm: Any = spark.sparkContext._jvm
        self._options = _write_options(config)
        self._clock = InstantClock(config.name, self._jvm)
        self.key_generator = KeyGenerator(self._jvm, config)
        self._small = SmallCommits(spark, self.path)

    def described_by(self, config: TableConfig) -> HudiTable:
        """Return the same table with other properties and the same locks: it has one writer."""
        other = copy.copy(self)
        other.config = config
        other._options = _write_options(config)
        other.key_generator = self.key_generator.described_by(config)
        return other

    @property
    def is_ahead_of_clock(self) -> bool:
        """True if its latest instant is in the future: nothing can be committed until then."""
        return self._clock.behind > 0

    def exists(self) -> bool:
        """Return whether there has been a first commit, or an attempt at one."""
        return LakeFiles(self._spark).exists(f"{self.path}/.hoodie/hoodie.properties")

    def remove(self) -> None:
        """Delete the table with all that its timeline remembers."""
        with self.services:
            self.clear()

    def clear(self) -> None:
        """Remove the table; the caller holds `services`."""
        with self.lock:
            self._small.forget()
            LakeFiles(self._spark).delete(self.path)
            self._clock.forget()
            self.key_generator.forget()

    def state(self) -> TableState:
        """Read the table's timeline: schema, offsets, and how far compaction lags behind."""
        if not self.exists():
            self.key_generator.forget()
            return TableState(None, {})
        meta = self.meta_client()
        self.key_generator.read(meta.getTableConfig())
        active = meta.getActiveTimeline()
        if (last := active.lastInstant()).isPresent():
            self._clock.has(last.get().requestedTime())
        timeline = active.getCommitsTimeline().filterCompletedInstants()
        if timeline.empty():
            return TableState(None, {})
        write = timeline.lastInstant().get()
        utils = self._jvm.org.apache.hudi.common.table.timeline.TimelineUtils
        newest: dict[int, int] = {}
        compacted: dict[int, int] = {}  # The offsets up to which log files are merged.
        buckets = topic_id = topic_partitions = truncated = ""
        commits = 0
        in_base_files = False
        instants = timeline.getReverseOrderedInstants().iterator()
        while instants.hasNext() and not (newest and compacted):
            instant = instants.next()
            in_base_files = in_base_files or instant.getAction() != "deltacommit"
            commits += not in_base_files
            if newest and not in_base_files:
                continue
            metadata = utils.getCommitMetadata(instant, timeline)
            offsets = _parse_checkpoint(metadata.getMetadata(CHECKPOINT_KEY))
            if in_base_files:
                compacted = offsets
            if not newest:
                newest, buckets = offsets, metadata.getMetadata(_BUCKETS_KEY) or ""
                topic_id = metadata.getMetadata(_TOPIC_ID_KEY) or ""
                topic_partitions = metadata.getMetadata(_TOPIC_PARTITIONS_KEY) or ""
                truncated = metadata.getMetadata(_TRUNCATED_KEY) or ""
        return TableState(
            schema=self._schema(),
            next_offsets=newest,
            commits_since_compaction=commits,
            records_since_compaction=sum(newest.values()) - sum(compacted.values()),
            buckets=buckets,
            commits_since_cleaning=self._commits_since_cleaning(active, timeline),
            is_service_unfinished=not (
                active.filterPendingCompactionTimeline().empty()
                and active.getCleanerTimeline().filterInflightsAndRequested().empty()
            ),
            topic_id=topic_id,
            topic_partitions=int(topic_partitions or 0),
            truncated=int(truncated or -1),
            layout=Layout.noted(meta.getTableConfig()),
            last_commit_at=moment(write.getCompletionTime() or write.requestedTime()),
        )

    def check_layout(self, state: TableState) -> None:
        """Raise ConfigurationError if its properties ask for another layout than it has."""
        check_layout(self.config, state.layout, state.buckets)

    @staticmethod
    def _commits_since_cleaning(active: Any, commits: Any) -> int:
        last = active.getCleanerTimeline().filterCompletedInstants().lastInstant()
        if not last.isPresent():
            return int(commits.countInstants())
        return int(commits.findInstantsAfter(last.get().requestedTime()).countInstants())

    def commit(
        self,
        rows: DataFrame,
        count: int,
        next_offsets: Mapping[int, int],
        topic_id: str,
        truncated: int = -1,
        topic_partitions: int = 0,
    ) -> None:
        """Upsert `rows` (`count` of them), and note the topic's next offsets in the same commit.

        Of several rows with one key, the one with the highest offset is kept.
        """
        notes = self._notes(next_offsets, topic_id, truncated, topic_partitions)
        if count >= MOST_ROWS or not self._write_small(rows, notes):
            self.upsert(rows, notes, once=not self._may_repeat(rows, count))

    def _may_repeat(self, rows: DataFrame, count: int) -> bool:
        """Return whether a key may occur twice.

        Combining rows shuffles whole records. In a large batch, such as a first load, checking the
        keys first costs less.
        """
        if self.config.partition_fields:
            return False  # `Placement` has combined the rows.
        if count < MOST_ROWS:
            return count > 1
        return rows.select(*self.config.key_fields).distinct().count() < count

    def overwrite(
        self,
        rows: DataFrame,
        next_offsets: Mapping[int, int],
        topic_id: str,
        truncated: int = -1,
        topic_partitions: int = 0,
    ) -> None:
        """Replace all rows by `rows`, one for each key, in one commit."""
        self.replace(rows, self._notes(next_offsets, topic_id, truncated, topic_partitions))

    def _notes(
        self, next_offsets: Mapping[int, int], topic_id: str, truncated: int, partitions: int
    ) -> dict[str, str]:
        checkpoint = ",".join(
            [self.config.topic, *(f"{p}:{offset}" for p, offset in sorted(next_offsets.items()))]
        )
        return {
            CHECKPOINT_KEY: checkpoint,
            _TOPIC_ID_KEY: topic_id,
            _TOPIC_PARTITIONS_KEY: str(partitions),
            _TRUNCATED_KEY: str(truncated),
        }

    def upsert(self, rows: DataFrame, notes: Mapping[str, str], *, once: bool) -> None:
        """Upsert `rows`, with `notes` in the commit. `once` says that no key occurs twice.

        The notes' keys begin with `NOTE`.
        """
        self._write(rows, notes, {"hoodie.combine.before.upsert": str(not once).lower()})

    def replace(self, rows: DataFrame, notes: Mapping[str, str]) -> None:
        """Replace all rows by `rows`, one for each key, with `notes` in the commit."""
        options = {
            "hoodie.datasource.write.operation": "insert_overwrite_table",
            "hoodie.combine.before.insert": "false",
        }
        self._write(rows, notes, options)

    def _write(
        self, rows: DataFrame, notes: Mapping[str, str], operation: Mapping[str, str]
    ) -> None:
        options = {
            **self._options,
            **operation,
            "hoodie.datasource.write.commitmeta.key.prefix": NOTE,
            **notes,
            _BUCKETS_KEY: self.config.buckets,
            **_SPARED,
        }
        with self.lock:
            self._small.forget()
            self._clock.take()
            options |= self._class_of_keys(rows.schema)
            rows.write.format("hudi").options(**options).mode("append").save(self.path)
            self._clock.made()
            self.key_generator.written(rows.schema)

    def _write_small(self, rows: DataFrame, notes: Mapping[str, str]) -> bool:
        """Upsert `rows` without Spark's writer. Return False if Spark's writer is needed."""
        with self.lock:
            if not self.key_generator.is_known:
                return False
            self._clock.take()
            options = {**self._options, **_SPARED, **self.key_generator.options(rows.schema)}
            noted = {**notes, _BUCKETS_KEY: self.config.buckets}
            if not self._small.try_commit(rows, self.config, options, noted):
                return False
            self._clock.made()
        return True

    def _class_of_keys(self, columns: StructType) -> dict[str, str]:
        if not self.key_generator.is_known and self.exists():
            self.key_generator.read(self.meta_client().getTableConfig())
        return self.key_generator.options(columns)

    def readable(self) -> list[str]:
        """Return the instants of the writes whose rows can still be read, the oldest first.

        They stay readable while `services` is held; otherwise until the next cleaning.
        """
        if not self.exists():
            return []
        meta = self.meta_client()
        active = meta.getActiveTimeline()
        completed = active.getCommitsTimeline().filterCompletedInstants()
        found = sorted(str(one.requestedTime()) for one in completed.getInstants())
        cleaning = active.getCleanerTimeline().filterCompletedInstants().lastInstant()
        if not cleaning.isPresent():
            return found
        utils = self._jvm.org.apache.hudi.common.util.CleanerUtils
        said = utils.getCleanerMetadata(meta, cleaning.get())
        kept = said.getEarliestCommitToRetain() or cleaning.get().requestedTime()
        return [instant for instant in found if instant >= kept]

    def note(self, key: str) -> str | None:
        """Return the key's note in the latest commit on the active timeline that has one."""
        if not self.exists():
            return None
        active = self.meta_client().getActiveTimeline()
        timeline = active.getCommitsTimeline().filterCompletedInstants()
        utils = self._jvm.org.apache.hudi.common.table.timeline.TimelineUtils
        instants = timeline.getReverseOrderedInstants().iterator()
        while instants.hasNext():
            said = utils.getCommitMetadata(instants.next(), timeline).getMetadata(key)
            if said is not None:
                return str(said)
        return None

    def rows_at(self, instant: str, *, spark: SparkSession) -> DataFrame:
        """Return the rows as the write begun at `instant` left them, read by another session."""
        return spark.read.format("hudi").option("as.of.instant", instant).load(self.path)

    def needs_rewrite(self, before: StructType | None, after: StructType) -> bool:
        """Return whether base files must be rewritten at once, for readers other than Spark.

        These readers do not widen columns. Besides, hudi-rs, which names an array's elements
        differently in log files, fails if it has to add a column to a row with an array.
        """
        if before is None or self.config.table_type != "MERGE_ON_READ":
            return False
        is_longer = len(after) > len(before) and any(map(has_elements, before.fields))
        return is_longer or bool(widened_columns(before, after))

    def meta_client(self) -> Any:
        """Return Hudi's `HoodieTableMetaClient`, freshly loaded."""
        configuration = self._spark.sparkContext._jsc.hadoopConfiguration()
        return (
            self._jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
            .setConf(
                self._jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(configuration)
            )
            .setBasePath(self.path)
            .build()
        )

    def write_client(self) -> Any:
        """Return Hudi's `SparkRDDWriteClient` with table services allowed. The caller closes it.

        The caller decides whether it is time for a compaction: the client always agrees.
        Raises ClockError when the clock is behind the table.
        """
        self._clock.take()
        meta = self.meta_client()
        resolver = self._jvm.org.apache.hudi.common.table.TableSchemaResolver(meta)
        # One more: the table's state at the beginning of these minutes is an older commit.
        kept = self._commits_since(meta, self.config.keep_minutes) + 1
        options = self._options | {
            **self.config.retaining(kept),
            "hoodie.table.services.enabled": "true",
            "hoodie.compact.inline.max.delta.commits": "1",
        }
        return self._jvm.org.apache.hudi.DataSourceUtils.createHoodieClient(
            self._spark.sparkContext._jsc,
            resolver.getTableSchema(False).toString(),
            self.path,
            self.config.table,
            options,
        )

    def _commits_since(self, meta: Any, minutes: int) -> int:
        """Return the number of commits that started in the last `minutes`."""
        since = self._jvm.java.util.Date(int((time.time() - 60 * minutes) * 1000))
        names = self._jvm.org.apache.hudi.common.table.timeline.HoodieInstantTimeGenerator
        commits = meta.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        return int(commits.findInstantsAfter(names.formatDate(since)).countInstants())

    def rows(self) -> DataFrame:
        """Return the current rows, with Hudi's own columns first."""
        return self._spark.read.format("hudi").load(self.path)

    def _schema(self) -> StructType:
        read = self.rows().schema
        return StructType(
            [
                StructField(field.name, field.dataType, nullable=True)
                for field in read.fields
                if not field.name.startswith("_hoodie_")
            ]
        )


def _write_options(config: TableConfig) -> dict[str, str]:
    return dict(config.hoodie) | _delete_options(config)


def _delete_options(config: TableConfig) -> dict[str, str]:
    marker = MARK if config.deletes == "hard" else MOVED if config.partition_fields else ""
    if not marker:
        return {}
    return {"hoodie.payload.delete.field": DELETED, "hoodie.payload.delete.marker": marker}


def _parse_checkpoint(text: str | None) -> dict[int, int]:
    _, *parts = (text or "").split(",")
    return {int(partition): int(offset) for partition, offset in (p.split(":") for p in parts)}
