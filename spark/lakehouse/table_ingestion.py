"""Ingestion of changes into one silver table, from any source."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from lakecontract.deletes import DELETED, LIVE
from lakecontract.errors import BadRecordError
from lakehouse.catalog_sync import CatalogSync
from lakehouse.clock import PutBackError
from lakehouse.deadletter import DeadLetters
from lakehouse.decode import FLAG_BAD, UNEXPECTED, Undecodable
from lakehouse.hudi import HudiTable, TableState
from lakehouse.maintenance import Maintenance
from lakehouse.placement import Placement, check_columns
from lakehouse.progress import WorkerProgress, now
from lakehouse.rebuild import Rebuilder
from lakehouse.schema_changes import merge_schemas
from lakehouse.storage import LakeFiles
from lakehouse.table_batch import BatchPart, next_offsets
from lakehouse.topic_identity import (
    GrownTopicError,
    RemadeTopicError,
    TopicState,
    has_records_before,
    why_not_ordered,
    why_not_to_go_on,
)
from lakehouse.truncates import Truncate, UnorderedError, emptied

__all__ = ["TableWriter"]

_log = logging.getLogger(__name__)


class TableWriter:
    """Writer of one table: it keeps the schema and the offsets, and commits rows."""

    def __init__(
        self,
        spark: SparkSession,
        table: HudiTable,
        progress: WorkerProgress,
        maintenance: Maintenance,
        dead_letters: DeadLetters,
        rebuilder: Rebuilder,
        catalog: CatalogSync | None,
        *,
        storage: LakeFiles,
        refill_request_path: str,
    ) -> None:
        """`refill_request_path` exists while the table is to be written from its source alone."""
        self.table = table
        self.progress = progress
        self._maintenance = maintenance
        self._dead_letters = dead_letters
        self._rebuilder = rebuilder
        self._catalog = catalog
        self._storage = storage
        self._refill_request_path = refill_request_path
        self._placement = Placement(spark, table.config) if table.config.partition_fields else None
        self._topic_id = ""
        self._topic_partitions = 0
        self._schema: StructType | None = None
        self._next_offsets: dict[int, int] = {}
        self._truncated = -1

    @property
    def truncated(self) -> int:
        """Offset of the last TRUNCATE that was taken in; -1 if there was none."""
        return self._truncated

    @property
    def next_offsets(self) -> Mapping[int, int]:
        """The offset that follows the last one taken in, by partition."""
        return self._next_offsets

    def is_to_refill(self) -> bool:
        """Return whether the table is to be removed, and written from its source again."""
        return self._storage.exists(self._refill_request_path)

    def open(self, topic: TopicState) -> None:
        """Rebuild the table if that is requested and possible; then read schema and offsets.

        The table alone knows what was committed to it. Raises ConfigurationError when its layout is
        not that of its properties, RemadeTopicError when `topic`, the source of its changes, is
        not the topic of its offsets, and GrownTopicError when it has other partitions.
        """
        if self.is_to_refill():
            self._require_ordered(self._state_before(), topic, written_again=True)
            self.table.remove()
            self._dead_letters.give_up(self.table.config.topic)
            self._storage.delete(self._refill_request_path)
        if self._rebuilder.is_requested():
            self.progress.set(state="rebuilding", rebuild_refused=None)
            refused = self._rebuilder.run()
            self.progress.set(rebuild_refused=refused)
            if refused is None:
                self._dead_letters.reopen(self.table.config.topic)
        state = self.table.state()
        self.progress.set(last_commit_at=state.last_commit_at)
        self.table.check_layout(state)
        self._topic_id = topic.id or state.topic_id
        if why := why_not_to_go_on(state.topic_id, state.next_offsets, topic):
            name = self.table.config.name
            raise RemadeTopicError(
                f"Table {name} cannot go on with the topic {self.table.config.topic}: {why}",
                hint="Nothing was taken in since. If bronze has what is missing: "
                f"labctl table rebuild {name}. Else, once the topic has every row (labctl "
                "connectors snapshot), write table and bronze again from it: "
                f"labctl table rebuild {name} --from-topic",
            )
        self._require_ordered(state, topic)
        self._topic_partitions = state.topic_partitions or topic.partitions
        self._schema = state.schema
        if self._placement:
            self._placement.load(None if state.schema is None else self.table.rows())
        self._next_offsets = dict(state.next_offsets)
        self._truncated = state.truncated
        self._maintenance.opened(self.table, state)
        if state.schema is not None:
            self._register()
        self._dead_letters.look(self.table.config.topic)
        self.progress.set(
            offsets=self._shown_offsets(),
            begins={str(partition): start for partition, start in topic.starts.items()},
        )

    def _state_before(self) -> TableState:
        """Return the state of a table that is to be removed; an empty one if it is damaged."""
        try:
            return self.table.state()
        except Exception as error:
            _log.warning("%s: its state cannot be read: %s", self.table.config.name, error)
            return TableState(None, {})

    def _require_ordered(
        self, state: TableState, topic: TopicState, *, written_again: bool = False
    ) -> None:
        """Raise GrownTopicError if offsets do not order the topic's changes.

        A table that is `written_again` needs the order only of those that are still there.
        """
        why = why_not_ordered(state.topic_partitions, topic)
        if why is None or (
            written_again
            and (state.topic_id != topic.id or not has_records_before(state.next_offsets, topic))
        ):
            return
        raise GrownTopicError(
            f"Table {self.table.config.name} cannot go on with the topic "
            f"{self.table.config.topic}: {why}",
            hint="Nothing was taken in since. Have its connector empty its topics and load its "
            "tables again: labctl connectors snapshot CONNECTOR --start-over",
        )

    def schema_with(self, incoming: Iterable[StructType]) -> StructType:
        """Return the table's columns once rows of the `incoming` schemas are in it."""
        schemas = list(incoming)
        merged = merge_schemas(self.table.config.name, self._schema, schemas)
        if schemas or self._schema is not None:
            # A TRUNCATE that comes before every row has none of the table's columns.
            check_columns(self.table.config, self._schema, merged)
        return merged

    def ingest(
        self,
        rows: DataFrame,
        parts: Sequence[BatchPart],
        explain: Callable[[DataFrame], list[Undecodable]],
    ) -> None:
        """Commit a batch: `rows` of the table's columns and `FLAG_BAD`, summarised in `parts`.

        Rows that the table already has are left out. `explain` says why rows are bad (nothing for
        null records that only repeat a delete). By setting, bad rows are put aside, or raise
        BadRecordError before anything is committed.
        """
        count = sum(part.rows for part in parts)
        good = rows
        if bad := sum(part.bad for part in parts):
            self._put_aside(explain(rows.where(FLAG_BAD)))
            good, count = rows.where(f"NOT {FLAG_BAD}"), count - bad
        if any(part.first < self._next_offsets.get(part.partition, 0) for part in parts):
            for partition, offset in self._next_offsets.items():
                good = good.where(f"__kafka_partition <> {partition} OR __kafka_offset >= {offset}")
            count = good.count()
        names = [name for name in good.columns if not name.startswith("__lab_")]
        if names != good.columns:
            good = good.select(*names)
        self._commit(good, count, next_offsets(parts))

    def truncate(self, at: Truncate) -> None:
        """Commit that all rows are gone, and that the table has everything up to `at`.

        With soft deletes, each row stays and is marked. A TRUNCATE that the table already has is
        left out. Raises UnorderedError if rows cannot be marked.
        """
        if at.offset < self._next_offsets.get(at.partition, 0):
            return
        if self._schema is not None and DELETED not in self._schema.names:
            raise UnorderedError(f"partition {at.partition} offset {at.offset}")
        self._truncated = at.offset
        if self._schema is None:
            self._has_taken({**self._next_offsets, at.partition: at.offset + 1}, 0)
            return
        rows = self.table.rows().select(*(f.col(f"`{name}`") for name in self._schema.names))
        gone = emptied(rows.where(LIVE), at)
        self._commit(gone, gone.count(), {at.partition: at.offset + 1})

    def take_back(self, rows: DataFrame, count: int) -> None:
        """Commit left-out rows from before `next_offsets`; later rows of a key win."""
        columns = [name for name in rows.columns if not name.startswith("__lab_")]
        rows = rows.select(*columns)
        if self._placement and count and self._schema is not None:
            # A later row may be in another partition, where Hudi does not compare the two.
            config = self.table.config
            later = self.table.rows().select(
                *config.key_fields, f.col(config.ordering_field).alias("__lab_later")
            )
            rows = rows.join(later, [*config.key_fields], "left")
            rows = rows.where(f"coalesce(__lab_later < {config.ordering_field}, true)")
            rows = rows.select(*columns)
            count = rows.count()
        self._commit(rows, count, {})

    def try_unchecked(self, rows: DataFrame, parts: Sequence[BatchPart]) -> bool:
        """Commit a batch that fails by `none_that` if there is a bad row in it.

        Return False if there was: then nothing is committed, and the batch must be inspected.
        """
        try:
            self.ingest(rows, parts, lambda _bad: [])
        except Exception as error:
            if UNEXPECTED not in str(error):
                raise
            return False
        return True

    def _put_aside(self, records: Sequence[Undecodable]) -> None:
        if not records:
            return
        if self.table.config.on_bad_record == "deadletter":
            self._dead_letters.write(records)
            return
        first = records[0]
        raise BadRecordError(
            f"The record at {first.topic} partition {first.partition} offset {first.offset} "
            f"cannot go into table {self.table.config.name}: {first.reason}",
            hint="Nothing after it was taken in. To put such records aside instead, set "
            "lab.on.bad.record=deadletter in the table's properties and start it again",
        )

    def _commit(self, rows: DataFrame, count: int, end_offsets: Mapping[int, int]) -> None:
        """Commit `rows` (`count` of them), and that the table has everything below `end_offsets`.

        Without rows nothing is written: a later commit will say the same.
        """
        merged = dict(self._next_offsets)
        for partition, offset in end_offsets.items():
            merged[partition] = max(offset, merged.get(partition, 0))
        if count:
            before, partitions = self._schema, self._partitions()
            try:
                self._write(rows, count, merged)
            except PutBackError:
                self._rebuilder.request()
                raise
            self._schema = StructType(
                [field for field in rows.schema.fields if not field.name.startswith("_hoodie_")]
            )
            self._next_offsets = merged
            rewrite = self.table.needs_rewrite(before, self._schema)
            self._maintenance.committed(self.table, count, rewrite=rewrite)
            if before != self._schema or partitions != self._partitions():
                self._register()
            self.progress.set(last_commit_at=now())
        self._has_taken(merged, count)

    def _has_taken(self, next_offsets: dict[int, int], count: int) -> None:
        self._next_offsets = next_offsets
        self.progress.committed(count, offsets=self._shown_offsets(), error=None)

    def _write(self, rows: DataFrame, count: int, offsets: Mapping[int, int]) -> None:
        if self._placement is None:
            self._commit_to_table(rows, count, offsets)
            return
        with self._placement.arranged(rows) as arranged:
            if arranged.count:
                self._commit_to_table(arranged.rows, arranged.count, offsets)
                self._placement.written(arranged)

    def _commit_to_table(self, rows: DataFrame, count: int, offsets: Mapping[int, int]) -> None:
        self.table.commit(
            rows, count, offsets, self._topic_id, self._truncated, self._topic_partitions
        )

    def _partitions(self) -> int:
        return self._placement.partitions if self._placement else 0

    def _register(self) -> None:
        if self._catalog:
            self._catalog.ask(self.table)

    def _shown_offsets(self) -> dict[str, int]:
        return {str(partition): offset for partition, offset in self._next_offsets.items()}
