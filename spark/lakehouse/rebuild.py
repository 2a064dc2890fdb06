"""Writing a silver table again from all its bronze files."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from lakecontract.deletes import LIVE
from lakecontract.errors import PermanentError, SchemaChangeError
from lakecontract.rebuild_request import ASKED, refusal, refused
from lakehouse.bronze.listing import BronzeListing
from lakehouse.bronze.reader import BronzeReader
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.decode import FLAG_BAD
from lakehouse.hudi import HudiTable
from lakehouse.layout import Layout
from lakehouse.placement import check_columns
from lakehouse.record_keys import RecordKeys
from lakehouse.schema_changes import merge_schemas
from lakehouse.storage import LakeFiles
from lakehouse.table_batch import next_offsets, summarize
from lakehouse.truncates import Truncate, UnorderedError, emptied, last_of

__all__ = ["Rebuilder"]

_log = logging.getLogger(__name__)


class Rebuilder:
    """A rebuild of a table's content from bronze.

    A request is kept in the lake until it is fulfilled: if the application dies during the rebuild,
    the next one continues it. A request that cannot be carried out is answered there, and dropped.
    """

    def __init__(
        self,
        spark: SparkSession,
        storage: LakeFiles,
        table: HudiTable,
        *,
        bronze_base_path: str,
        request_path: str,
        bronze_topics: BronzeTopics,
    ) -> None:
        config = table.config
        self._storage = storage
        self._table = table
        self._folder = f"{bronze_base_path.rstrip('/')}/{config.bronze_root}"
        self._listing = BronzeListing(storage, self._folder)
        keys = RecordKeys(config.key_fields, table.key_generator.can_be_distinct)
        self._reader = BronzeReader(spark, storage, keys)
        self._request_path = request_path
        self._bronze_topics = bronze_topics

    def request(self) -> None:
        """Request a rebuild of the table before the next write to it."""
        self._storage.write(self._request_path, ASKED)

    def is_requested(self) -> bool:
        """Return whether there is a request that has not been refused."""
        path = self._request_path
        return self._storage.exists(path) and refusal(self._storage.read(path)) is None

    def run(self) -> str | None:
        """Carry out the request. Return why it cannot be done; nothing has changed then."""
        try:
            with self._table.services, self._bronze_topics.in_use(self._table.config.topic):
                self._rebuild()
        except PermanentError as error:
            _log.error("%s: the request to rebuild is dropped: %s", self._table.config.name, error)
            self._storage.write(self._request_path, refused(str(error)))
            return str(error)
        self._storage.delete(self._request_path)
        return None

    def _rebuild(self) -> None:
        """Rebuild in one commit; time travel still reaches the rows from before.

        The table is removed first only in these cases: it cannot hold both the old and the new
        columns, its layout or the class that makes its keys has changed, or its last commits are
        from a clock that was ahead.
        """
        config = self._table.config
        self._bronze_topics.require_all_from(config.topic, {}, config.name)
        files = self._listing.files_before(self._bronze_topics.position_of(config.topic))
        if not files:
            raise PermanentError(
                f"Table {config.name} cannot be rebuilt: there is nothing in {self._folder}",
                hint="Nothing was changed. Ask again when bronze has been written",
            )
        self._reader.check_whole(files)
        groups = self._reader.by_schema(files)
        truncates = self._reader.truncates(groups)
        groups = [group for group in groups if not group.schema.is_truncate]
        columns = [self._reader.columns(group.schema) for group in groups]
        state = self._table.state()
        current = state.schema
        if not groups and current is None:
            raise PermanentError(
                f"Table {config.name} cannot be rebuilt: there is no row in {self._folder}",
                hint="Nothing was changed. Ask again when bronze has rows",
            )
        topic_id = self._bronze_topics.identity_of(config.topic).id or state.topic_id
        try:
            target = merge_schemas(config.name, current, columns)
        except SchemaChangeError:
            target = merge_schemas(config.name, None, columns, written_again=True)
            current = None
        fits = state.layout is not None and state.layout.allows(Layout.wanted(config))
        if self._table.is_ahead_of_clock or not fits:
            current = None
        try:
            check_columns(config, current, target)
        except SchemaChangeError:
            check_columns(config, None, target)
            current = None
        last = self._last_of(truncates, target, len({file.partition for file in files}))
        if not self._table.key_generator.is_as_new(target):
            current = None
        rows = self._reader.rows(groups, target).persist(StorageLevel.DISK_ONLY)
        try:
            try:
                parts = summarize(rows)
            except Exception:
                if damaged := self._reader.unreadable(files):
                    raise damaged from None
                raise
            if any(part.bad for part in parts):
                _log.warning("%s: bronze rows that no column can hold are left out", config.name)
            if current is None:
                self._table.clear()
            self._table.overwrite(
                self._latest(rows, last),
                next_offsets(parts),
                topic_id,
                -1 if last is None else last.offset,
                state.topic_partitions,
            )
        finally:
            rows.unpersist()
        _log.info("%s: rebuilt from %d bronze files", config.name, len(files))

    def _last_of(
        self, truncates: Sequence[Truncate], target: StructType, partitions: int
    ) -> Truncate | None:
        """Return the last of `truncates`; None if they are bad records that are left out."""
        try:
            return last_of(truncates, target, partitions)
        except UnorderedError as error:
            if self._table.config.on_bad_record != "deadletter":
                raise
            _log.warning("%s: left out: %s", self._table.config.name, error)
            return None

    def _latest(self, rows: DataFrame, truncate: Truncate | None) -> DataFrame:
        """Return every key's last row; with hard deletes, none for a key that was deleted.

        The `truncate` has deleted all keys that have no record after it.
        """
        config = self._table.config
        columns = [name for name in rows.columns if name != FLAG_BAD]
        latest = (
            rows.where(f"NOT {FLAG_BAD}")
            .groupBy(*config.key_fields)
            .agg(f.max_by(f.struct(*columns), config.ordering_field).alias("row"))
            .select("row.*")
        )
        if truncate is not None:
            latest = emptied(latest, truncate, where=f.col("__kafka_offset") < truncate.offset)
        if config.deletes == "hard":
            latest = latest.where(LIVE)
        return latest
