"""Warm-up commits, made while there is nothing to take in.

The first commit of a JVM takes seconds: Hudi's classes are loaded, Spark's plans compiled. If it is
made before the first change is there, the change does not wait for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.avro.functions import from_avro, to_avro

from lakecontract.properties import TableConfig
from lakehouse.decode import FLAG_BAD
from lakehouse.hudi import HudiTable
from lakehouse.schema_changes import POSITION_COLUMNS
from lakehouse.storage import LakeFiles
from lakehouse.table_batch import summarize

__all__ = ["WarmUp"]

_log = logging.getLogger(__name__)
_POOL = "warm-up"
_ROWS = 500
_COMMITS = 4
_AVRO = (
    '{"type": "record", "name": "Row", "fields": ['
    '{"name": "key", "type": "int"}, {"name": "name", "type": ["null", "string"]},'
    '{"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]}]}'
)


class WarmUp:
    """Commits to one table of each type, in a folder that is removed afterwards."""

    def __init__(self, spark: SparkSession, tables: Iterable[TableConfig], folder: str) -> None:
        self._spark = spark
        self._tables = {table.table_type: table.in_one_piece() for table in tables}.values()
        self._folder = folder.rstrip("/")
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, is_needed: Callable[[], bool]) -> None:
        """Begin on a thread of its own; end early once `is_needed` returns False."""
        self._thread = threading.Thread(
            target=self._run, args=(is_needed,), name=_POOL, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end after the current commit."""
        self._stopped.set()

    def wait(self) -> None:
        """Wait until the thread has ended."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, is_needed: Callable[[], bool]) -> None:
        storage = LakeFiles(self._spark)
        begun, commits = time.monotonic(), 0
        try:
            storage.delete(self._folder)
            self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", _POOL)
            for number in range(_COMMITS):
                for config in self._tables:
                    if self._stopped.is_set() or not is_needed():
                        return
                    self._commit(HudiTable(self._spark, config, self._folder), number)
                    commits += 1
        except Exception:
            # Nothing depends on it, and an error is expected while the application ends.
            _log.info("warming up ended early", exc_info=True)
        finally:
            storage.delete(self._folder)
            _log.info("warmed up by %d commits in %.1f s", commits, time.monotonic() - begun)

    def _commit(self, table: HudiTable, number: int) -> None:
        rows = self._rows(table.config.key_fields[0]).persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            count = sum(part.rows for part in summarize(rows))
            table.commit(rows.drop(FLAG_BAD), count, {0: number}, topic_id="")
            table.state()
        finally:
            rows.unpersist()

    def _rows(self, key: str) -> DataFrame:
        """Return rows that came through Avro, as a topic's do."""
        made = self._spark.range(_ROWS).selectExpr(
            "named_struct('key', CAST(id AS INT), 'name', CAST(id AS STRING), "
            "'at', timestamp_micros(id)) AS row"
        )
        encoded = made.select(to_avro("row", _AVRO).alias("value"))
        row = from_avro("value", _AVRO).alias("row")
        positions = [f.lit(0).cast(c.dataType).alias(c.name) for c in POSITION_COLUMNS.fields]
        return encoded.select(row, *positions, f.lit(False).alias(FLAG_BAD)).select(
            f.col("row.key").alias(key), "row.name", "row.at", *POSITION_COLUMNS.names, FLAG_BAD
        )
