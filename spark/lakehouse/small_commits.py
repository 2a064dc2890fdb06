"""Commits of few rows by Hudi's writer without an engine, in a third of the time of Spark's.

Both write the same files, and may take turns on one table. See java/SmallCommits.java.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import DataFrame, SparkSession

from lakecontract.properties import TABLE_TYPE, TableConfig
from lakehouse.batch_limit import is_too_large
from lakehouse.decode import UNEXPECTED

__all__ = ["MOST_ROWS", "SmallCommits", "java_map", "open_writer"]

MOST_ROWS = 10_000
"""Number of rows from which on Spark's writer is as fast (docs/benchmarks)."""
_INDEX = {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": "SIMPLE"}
"""The index that finds a row's place without a look into the table."""

_log = logging.getLogger(__name__)


class SmallCommits:
    """Small commits of one table. The caller holds the table's lock.

    Hudi's knowledge of the table is kept between commits, until `forget`. Code that changes the
    table's columns, or replaces its files, by another writer must call `forget`.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._path = path
        self._writer: Any = None
        self._opened_with: Mapping[str, str] = {}
        self._is_available: bool | None = None

    def try_commit(
        self,
        rows: DataFrame,
        config: TableConfig,
        options: Mapping[str, str],
        notes: Mapping[str, str],
    ) -> bool:
        """Commit `rows` with `notes`; of several rows with one key, commit the last in order.

        Return False if Spark's writer must do it, with the same `options`: the table has no commit
        yet or other columns, a row goes into a bucket without a file, rows are large, or this
        writer has failed. A batch with bad rows, or too large for memory, raises an error as with
        Spark's writer; nothing is written.
        """
        if not self._is_meant_for(config):
            return False
        try:
            writer = self._opened(config, options)
            if not writer.takes(rows._jdf.schema()):
                return False
            records = writer.records(rows._jdf)
            if records is None:
                return False
            writer.commit(records, java_map(self._spark, notes))
        except Exception as error:
            if UNEXPECTED in str(error):
                raise
            self.forget()
            if is_too_large(error):
                raise
            _log.warning("%s: Spark makes a commit that failed", config.name, exc_info=True)
            return False
        return True

    def forget(self) -> None:
        """Close the writer: the table may differ from what the last small commit has left."""
        writer, self._writer = self._writer, None
        if writer is not None:
            try:
                writer.close()
            except Exception:
                _log.warning("%s: its small commits did not end", self._path, exc_info=True)

    def _is_meant_for(self, config: TableConfig) -> bool:
        if config.commit != "direct" or any(config.hoodie.get(k) != v for k, v in _INDEX.items()):
            return False
        if self._is_available is None:
            self._is_available = self._is_there()
        return self._is_available

    def _is_there(self) -> bool:
        jvm: Any = self._spark.sparkContext._jvm
        try:
            jvm.java.lang.Class.forName("org.apache.hudi.client.HoodieJavaWriteClient")
            return isinstance(jvm.lakehouse.SmallCommits, JavaClass)
        except Exception:
            _log.info("Spark commits small batches: Hudi's Java client is not on its class path")
            return False

    def _opened(self, config: TableConfig, options: Mapping[str, str]) -> Any:
        if self._writer is not None and self._opened_with != options:
            self.forget()
        if self._writer is None:
            self._writer = open_writer(self._spark, self._path, config, options)
            self._opened_with = dict(options)
        return self._writer


def open_writer(
    spark: SparkSession, path: str, config: TableConfig, options: Mapping[str, str]
) -> Any:
    """Open the table at `path`, which has had a commit, with the options of Spark's writer.

    Return a `lakehouse.SmallCommits` of java/SmallCommits.java. The caller closes it.
    """
    jvm: Any = spark.sparkContext._jvm
    return jvm.lakehouse.SmallCommits(
        spark.sparkContext._jsc.hadoopConfiguration(),
        path,
        config.table,
        java_map(spark, {**options, "hoodie.table.type": options[TABLE_TYPE]}),
        config.ordering_field,
    )


def java_map(spark: SparkSession, values: Mapping[str, str]) -> Any:
    """Return `values` as a map of the JVM."""
    jvm: Any = spark.sparkContext._jvm
    made = jvm.java.util.HashMap()
    for key, value in values.items():
        made.put(key, value)
    return made
