"""Spark SQL over silver in a session that stays open, for notebooks and scripts.

`labctl.lake.spark_queries` answers one query in a session that then ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession

from labctl.lake.lake import Lake
from labctl.lake.spark_job import shown
from labctl.lake.spark_queries import SparkEngine, described
from labctl.lake.view import LATEST, View

__all__ = ["SparkLake"]


class SparkLake:
    """A lake's silver tables in one Spark session of this process. Close it, or use `with`.

    Each call reads the tables as they are then, so a repeated query shows what was written in the
    meantime.
    """

    def __init__(self, lake: Lake, engine: SparkEngine) -> None:
        """Start the session's JVM, which takes seconds."""
        self.lake = lake
        self._engine = engine
        self._folder = TemporaryDirectory(prefix="labctl-spark-")
        storage = lake.storage
        conf = {
            **engine.conf(self._path),
            **storage.spark_conf,
            "spark.app.name": "labctl client notebook",
        }
        builder = SparkSession.builder
        for key, value in conf.items():
            builder = builder.config(key, value)
        variables = dict(storage.spark_env)
        if engine.java:
            variables["JAVA_HOME"] = str(engine.java.resolve().parent.parent)
        # The JVM inherits them when it starts. Nothing else of this process is to have the keys.
        with _environment(variables):
            self.session: SparkSession = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def __enter__(self) -> SparkLake:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session and remove its files."""
        self.session.stop()
        self._folder.cleanup()

    def sql(self, query: str, view: View = LATEST) -> DataFrame:
        """Return the answer to SQL over tables `database.table`, or `table` while that is unique.

        All tables are shown as `view` says. Raise LabError (USAGE) for a moment whose files are
        gone, and Spark's own AnalysisException or ParseException for bad SQL.
        """
        tables = [self.lake.table(name) for name in self.lake.table_names()]
        request = self._engine.request(query, tables, view, self._path)
        for table in request["tables"]:
            shown(self.session, table, view).createOrReplaceTempView(f"`{table['name']}`")
        return self.session.sql(request["sql"])

    def table(self, name: str, view: View = LATEST) -> DataFrame:
        """Return a table's rows that `view` shows. Raise LabError (USAGE) for an unknown table."""
        return shown(self.session, described(self.lake.table(name), view), view)

    @property
    def _path(self) -> Path:
        return Path(self._folder.name)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Add `variables` to this process's environment for as long as the block lasts."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
