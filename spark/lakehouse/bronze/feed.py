"""Feed of a table's changes from its topic's bronze files as they appear."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from pyspark import InheritableThread, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from lakecontract.bronze_position import MOST_OFFSETS
from lakecontract.errors import PermanentError
from lakehouse.bronze.listing import BronzeListing, ListedFile
from lakehouse.bronze.reader import BronzeReader, parts_in
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.decode import FLAG_BAD, Undecodable, none_that
from lakehouse.storage import LakeFiles
from lakehouse.table_batch import BatchPart, summarize, with_bad
from lakehouse.table_ingestion import TableWriter
from lakehouse.topic_identity import TopicIdentity, TopicState
from lakehouse.truncates import Truncate, UnorderedError, last_of

__all__ = ["BronzeFeed"]

_OFFSET = "__kafka_offset"
_POLL_SECONDS = 1.0
"""Seconds between two polls for new files, if no writer reports them."""
_SURVEY_SECONDS = 30.0
"""Seconds between full listings, for partitions and days that polling does not expect."""
_MAX_FILES_PER_BATCH = 200
_MAX_BYTES_PER_BATCH = 64 * 1024 * 1024


class BronzeFeed:
    """A feed that takes in files in offset order. A batch is committed whole or not at all.

    If partitions have several files open at a time, the offsets of these files interleave. One
    batch is then all files that are complete according to the note of bronze's position.
    """

    def __init__(
        self,
        spark: SparkSession,
        storage: LakeFiles,
        writer: TableWriter,
        *,
        base_path: str,
        arrived: threading.Event,
        bronze_topics: BronzeTopics,
        written: Callable[[], Mapping[str, int]],
        once: bool,
    ) -> None:
        """`arrived` is the event that a writer sets after it has written a file of this topic.

        `written` returns the offset, by partition, before which the writer of bronze has written
        what the topic had.
        """
        config = writer.table.config
        self.name = config.name
        self.progress = writer.progress
        self._spark = spark
        self._config = config
        self._writer = writer
        self._folder = f"{base_path.rstrip('/')}/{config.bronze_root}"
        self._listing = BronzeListing(storage, self._folder)
        self._reader = BronzeReader(spark, storage, writer.table.key_generator.keys)
        self._arrived = arrived
        self._bronze_topics = bronze_topics
        self._written = written
        self._once = once
        self._backlog: list[ListedFile] = []
        self._taken: dict[int, int] = {}
        self._position: Mapping[int, int] | None = None
        self._topic = TopicIdentity("", 0)
        self._surveyed_at = 0.0
        self._failure: Exception | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def has_source(self) -> bool:
        """Return whether there are files to read."""
        return self._listing.has_files()

    def waiting_for(self) -> str | None:
        """Return what the feed still waits for before it can start; None when it can start."""
        if self._bronze_topics.is_to_retire(self._config.topic):
            return f"the old bronze files in {self._folder} to be put aside"
        written = self._written()
        if self.has_source() or self._writer.is_to_refill():
            return None
        self.progress.set(begins=dict(written))
        return f"bronze files in {self._folder}"

    def start(self) -> None:
        """Start the feed at the table's position."""
        self._failure = None
        self._stop.clear()
        self._taken = {}
        self._position = None
        self._topic = self._bronze_topics.identity_of(self._config.topic)
        self._writer.open(TopicState(self._topic.id, {}, {}, self._topic.partitions))
        taken = self._writer.next_offsets
        self._bronze_topics.require_all_from(self._config.topic, taken, self.name)
        self.progress.set(begins=self._begins())
        self._survey()
        self._thread = InheritableThread(target=self._run, name=f"bronze-{self.name}", daemon=True)
        self._thread.start()

    def _begins(self) -> dict[str, int]:
        """Return the next offset of each partition without a file: the records before it are gone.

        The writer's offsets are read before the files are listed, which then have all before them.
        """
        written = self._written()
        with_files = {str(file.partition) for file in self._listing.every_file()}
        return {name: offset for name, offset in written.items() if name not in with_files}

    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def error(self) -> Exception | None:
        """Return the error that ended the feed; None when it ended normally."""
        return self._failure

    def stop(self) -> None:
        """Stop the feed after the current batch."""
        self._stop.set()
        self._arrived.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.name)
        try:
            while not self._stop.is_set():
                if self._backlog:
                    self._ingest(self._next_batch())
                elif self._once:
                    return
                elif not self._look():
                    self._arrived.wait(_POLL_SECONDS)
        except PermanentError as error:
            self._failure = error
        except Exception as error:
            # Spark does not say which file it could not read.
            batch = self._next_batch()
            self._failure = (self._reader.unreadable(batch) if batch else None) or error

    def _look(self) -> bool:
        """Look for new files. Return whether there are any."""
        self._arrived.clear()
        if (
            # Polling expects files in the folders of known partitions alone.
            not self._writer.next_offsets
            or time.monotonic() - self._surveyed_at >= _SURVEY_SECONDS
            or (self._position is not None and self._position_now() != self._position)
        ):
            self._survey()
        elif self._position is None:
            self._backlog = self._listing.newer(self._writer.next_offsets)
        return bool(self._backlog)

    def _position_now(self) -> Mapping[int, int] | None:
        return self._bronze_topics.position_of(self._config.topic)

    def _survey(self) -> None:
        """List all files. A noted position is read before the files are listed."""
        is_first = self._position is None
        self._position = self._position_now()
        taken = self._writer.next_offsets
        if self._position is None:
            files = self._listing.from_offsets(taken)
            self._backlog = [
                file for file in files if file.start_offset > self._taken.get(file.partition, -1)
            ]
        else:
            # If the table was fed from elsewhere, its position may lie between two files that were
            # closed together. The older file may then have records for the table as well.
            margin = MOST_OFFSETS if is_first else 0
            self._backlog = [
                file
                for file in self._listing.files_before(self._position)
                if file.start_offset >= taken.get(file.partition, 0) - margin
            ]
        self._surveyed_at = time.monotonic()

    def _next_batch(self) -> list[ListedFile]:
        """Return the first files of the backlog, as many as one commit may bring in."""
        if self._position is not None:
            return self._backlog
        batch: list[ListedFile] = []
        size = 0
        for file in islice(self._backlog, _MAX_FILES_PER_BATCH):
            size += file.size
            if batch and size > _MAX_BYTES_PER_BATCH:
                break
            batch.append(file)
        return batch

    def _ingest(self, batch: Sequence[ListedFile]) -> None:
        if self._bronze_topics.identity_of(self._config.topic) != self._topic:
            raise OSError(f"{self._config.topic} was recreated, or has got more partitions")
        contents = self._reader.small(batch)
        groups = self._reader.by_schema(batch, contents)
        of_rows = [group for group in groups if not group.schema.is_truncate]
        target = self._writer.schema_with(self._reader.columns(group.schema) for group in of_rows)
        rows = self._reader.rows(of_rows, target)
        if truncates := self._reader.truncates(groups):
            partitions = {file.partition for file in self._listing.every_file()}
            last, bad = None, list[Undecodable]()
            try:
                last = last_of(truncates, target, len(partitions))
            except UnorderedError as error:
                bad = self._letters(truncates, error.what)
            taken = self._try(batch, rows, last, bad)
        else:
            parts = parts_in(contents.values())
            taken = bool(parts and self._try_unchecked(rows, parts)) or self._try(batch, rows)
        if not taken:
            return
        self._backlog = self._backlog[len(batch) :]
        self._taken |= {file.partition: file.start_offset for file in batch}

    def _try_unchecked(self, rows: DataFrame, parts: Sequence[BatchPart]) -> bool:
        """Ingest a small batch without inspecting it first, if it directly follows the last one.

        As in `KafkaFeed`, a bad row shows while the rows are written, before the commit.
        """
        known = self._writer.next_offsets
        if any(known.get(part.partition) != part.first for part in parts):
            return False
        return self._writer.try_unchecked(none_that(f.col(FLAG_BAD), rows), parts)

    def _try(
        self,
        batch: Sequence[ListedFile],
        rows: DataFrame,
        truncate: Truncate | None = None,
        bad: Sequence[Undecodable] = (),
    ) -> bool:
        """Inspect a batch and ingest it. Return False if earlier files were overlooked.

        `truncate` is the last TRUNCATE in it; only rows after that one stay. `bad` are records in
        it that are not rows.
        """
        rows = rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            parts = summarize(rows)
            if overlooked := self._overlooked(batch, parts):
                self._backlog = sorted(
                    {*overlooked, *self._backlog}, key=lambda x: (x.partition, x.start_offset)
                )
                return False
            if truncate is not None:
                before = rows.where(f.col(_OFFSET) < truncate.offset)
                self._writer.ingest(before, summarize(before), self._explain)
                self._writer.truncate(truncate)
                rows = rows.where(f.col(_OFFSET) > truncate.offset)
                parts = summarize(rows)
            self._writer.ingest(
                rows, with_bad(parts, bad), lambda found: [*self._explain(found), *bad]
            )
            return True
        finally:
            rows.unpersist()

    def _overlooked(
        self, batch: Sequence[ListedFile], parts: Sequence[BatchPart]
    ) -> list[ListedFile]:
        """Return the files that belong before the last ones of `batch`, if it has gaps."""
        known = self._writer.next_offsets
        if self._position is not None or all(
            part.last - part.first + 1 == part.rows
            and part.first <= known.get(part.partition, part.first)
            for part in parts
        ):
            return []
        last = {file.partition: file.start_offset for file in batch}
        return [
            file
            for file in self._listing.from_offsets(known)
            if file.start_offset < last.get(file.partition, 0) and file not in batch
        ]

    def _letters(self, truncates: Sequence[Truncate], reason: str) -> list[Undecodable]:
        """Return TRUNCATE records as bad ones: their place among the rows is not known."""
        return [
            Undecodable(
                topic=self._config.topic,
                partition=one.partition,
                offset=one.offset,
                timestamp_ms=one.timestamp_ms,
                reason=reason,
                key=None,
                value=b"{}",
                headers=(),
            )
            for one in truncates
        ]

    def _explain(self, bad: DataFrame) -> list[Undecodable]:
        """Return bad rows as JSON; bronze files hold no undecodable values."""
        found = bad.selectExpr("*", "to_json(struct(*)) AS __lab_json").collect()
        return [
            Undecodable(
                topic=self._config.topic,
                partition=row["__kafka_partition"],
                offset=row["__kafka_offset"],
                timestamp_ms=row["__kafka_timestamp"],
                reason="a column's type cannot hold its value exactly, or its record key is null",
                key=None,
                value=row["__lab_json"].encode(),
                headers=(),
            )
            for row in found
        ]
