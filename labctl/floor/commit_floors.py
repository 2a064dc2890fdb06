"""Floors of a Hudi commit: each writer commits one row into its own copy of one table.

One JVM writes all copies, with the options of the table itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from labctl.artifacts import ArtifactStore
from labctl.lake import Lake
from labctl.lake.spark_queries import SparkEngine
from labctl.lake.spark_session import SparkLake
from labctl.tables import LabTable
from lakecontract.properties import TableConfig
from lakehouse.hudi import HudiTable
from lakehouse.small_commits import java_map, open_writer
from lakehouse.storage import LakeFiles
from sqlapi.hudi.names import META_PREFIX

__all__ = ["Writers", "writers_of"]

_ROWS = 200
"""Number of rows that are changed in turn."""
_MEMORY = "1g"


class Writers:
    """Copies of one table, one copy for each of `names`."""

    names = ("writer", "direct", "spark")

    def __init__(self, spark: SparkSession, table: LabTable, rows: DataFrame, base: str) -> None:
        """Write the copies below `base`."""
        self._spark = spark
        config = table.properties
        self._config = config
        self._columns = rows.schema
        self.count = rows.count()
        self._sample = rows.orderBy(f.rand(seed=1)).limit(_ROWS).collect()
        top = rows.agg(f.max(config.ordering_field)).first()
        self._next = int(top[0] if top else 0) + 1
        self._tables = {
            name: HudiTable(spark, _as_committed_by(config, name), f"{base}/{name}")
            for name in self.names
        }
        for copy in self._tables.values():
            copy.commit(rows, self.count, {0: self._next}, topic_id="floor")
            copy.state()
        self._bare: Any = None

    def prepare(self, name: str, number: int) -> Callable[[], None]:
        """Prepare one more changed row, and return a function that commits it to a copy."""
        row = self._row(number)
        if name == "writer":
            writer = self._writer()
            records = writer.records(row._jdf)
            return lambda: writer.commit(records, java_map(self._spark, {}))
        copy = self._tables[name]
        return lambda: copy.commit(row, 1, {0: self._next}, topic_id="floor")

    def _row(self, number: int) -> DataFrame:
        self._next += 1
        values = self._sample[number % len(self._sample)].asDict()
        changed = Row(**{**values, self._config.ordering_field: self._next})
        return self._spark.createDataFrame([changed], self._columns)

    def _writer(self) -> Any:
        """Return Hudi's writer for the copy `writer`; open it if needed."""
        if self._bare is None:
            path = self._tables["writer"].path
            self._bare = open_writer(self._spark, path, self._config, self._config.hoodie)
        return self._bare


def _as_committed_by(config: TableConfig, name: str) -> TableConfig:
    return replace(config, commit="spark" if name == "spark" else "direct")


@contextmanager
def writers_of(
    lake: Lake, artifacts: ArtifactStore, table: LabTable, folder: str
) -> Iterator[Writers]:
    """Start a Spark session, copy a silver table into a folder, and remove the folder at the end.

    `folder` is relative to the bucket.
    """
    engine = SparkEngine(artifacts.spark_jars(), artifacts.java(), memory=_MEMORY)
    base = f"{lake.storage.spark_uri}/{folder.rstrip('/')}"
    with _printing_beside():
        session = SparkLake(lake, engine)
    with session as opened:
        rows = opened.table(table.name)
        kept = rows.select(*(c for c in rows.columns if not c.startswith(META_PREFIX))).cache()
        try:
            yield Writers(opened.session, table, kept, base)
        finally:
            LakeFiles(opened.session).delete(base)


@contextmanager
def _printing_beside() -> Iterator[None]:
    """Redirect stdout to stderr for processes started meanwhile: Hudi's libraries print to it."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
