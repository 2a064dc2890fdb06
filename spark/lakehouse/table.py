"""Bringing changes into one silver table, whichever source they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from lakehouse.deadletter import DeadLetters
from lakehouse.decode import FLAG_BAD, UNEXPECTED, Undecodable
from lakehouse.errors import BadRecordError, ConfigurationError
from lakehouse.hudi import HudiTable
from lakehouse.maintenance import Maintenance
from lakehouse.progress import Progress, now
from lakehouse.properties import BUCKETS
from lakehouse.rebuild import Rebuilder
from lakehouse.schema import merge_schemas
from lakehouse.table_batch import BatchPart, next_offsets

__all__ = ["TableWriter"]


class TableWriter:
    """Keeps a table's schema and offsets, and commits rows to it."""

    def __init__(
        self,
        table: HudiTable,
        progress: Progress,
        maintenance: Maintenance,
        dead_letters: DeadLetters,
        rebuilder: Rebuilder,
    ) -> None:
        self.table = table
        self.progress = progress
        self._maintenance = maintenance
        self._dead_letters = dead_letters
        self._rebuilder = rebuilder
        self._schema: StructType | None = None
        self._next_offsets: dict[int, int] = {}

    @property
    def next_offsets(self) -> Mapping[int, int]:
        """By partition, the offset that follows the last one taken in."""
        return self._next_offsets

    def open(self) -> None:
        """Rebuild the table if that was asked for, then read schema and offsets from it.

        The table alone knows what was committed to it. Raises ConfigurationError when it has
        another number of buckets than its properties say.
        """
        if self._rebuilder.is_requested():
            self.progress.set(state="rebuilding")
            self._rebuilder.run()
        state = self.table.state()
        if state.buckets not in ("", self.table.buckets):
            name, was = self.table.config.name, f"{BUCKETS}={state.buckets}"
            raise ConfigurationError(
                f"Table {name} was written with {was}, and its properties say "
                f"{self.table.buckets or 'nothing'}: its rows would be there twice",
                hint=f"Put {was} back, or write the table anew: labctl rebuild {name}",
            )
        self._schema = state.schema
        self._next_offsets = dict(state.next_offsets)
        self._maintenance.opened(self.table, state)
        self.progress.set(offsets=self._shown_offsets())

    def schema_with(self, incoming: Iterable[StructType]) -> StructType:
        """The table's columns once rows of the `incoming` schemas are in it."""
        return merge_schemas(self.table.config.name, self._schema, incoming)

    def take_in(
        self,
        rows: DataFrame,
        parts: Sequence[BatchPart],
        explain: Callable[[DataFrame], list[Undecodable]],
    ) -> None:
        """Commit a batch: `rows` of the table's columns and `FLAG_BAD`, summarised in `parts`.

        What the table has taken in before is left out. For rows that are bad, `explain` says why;
        they are put aside, or raise BadRecordError before anything is committed, by setting.
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

    def try_unseen(self, rows: DataFrame, parts: Sequence[BatchPart]) -> bool:
        """Commit a batch that `none_that` makes end where there is a bad row in it.

        False when there was: then nothing is committed, and the batch must be looked through.
        """
        try:
            self.take_in(rows, parts, lambda _bad: [])
        except Exception as error:
            if UNEXPECTED not in str(error):
                raise
            return False
        return True

    def _put_aside(self, records: Sequence[Undecodable]) -> None:
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

        With no rows nothing is written: there is nothing to say a later commit will not say.
        """
        merged = dict(self._next_offsets)
        for partition, offset in end_offsets.items():
            merged[partition] = max(offset, merged.get(partition, 0))
        if count:
            before = self._schema
            self.table.commit(rows, count, merged)
            self._schema = StructType(
                [field for field in rows.schema.fields if not field.name.startswith("_hoodie_")]
            )
            self._next_offsets = merged
            rewrite = self.table.needs_rewrite(before, self._schema)
            self._maintenance.committed(self.table, count, rewrite=rewrite)
        self._next_offsets = merged
        self.progress.committed(
            count, last_commit_at=now(), offsets=self._shown_offsets(), error=None
        )

    def _shown_offsets(self) -> dict[str, int]:
        return {str(partition): offset for partition, offset in self._next_offsets.items()}
