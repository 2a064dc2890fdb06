"""Registration of tables in a catalog by Hudi's own sync, which never delays a commit.

Hudi's sync makes the same definitions as any Hudi writer: `t`, and for MERGE_ON_READ also `t_ro`
and `t_rt`. The catalog is Hive's metastore or AWS Glue.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark import InheritableThread
from pyspark.sql import SparkSession

from lakecontract.errors import in_one_line
from lakecontract.options import GLUE, GLUE_SYNC_TOOL, THRIFT
from lakehouse.hudi import HudiTable
from lakehouse.progress import now

__all__ = ["CatalogSync", "sync_properties"]

_log = logging.getLogger(__name__)
_HIVE_SYNC_TOOL = "org.apache.hudi.hive.HiveSyncTool"
_THREAD = "catalog-sync"
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
"""Longest pause between two tries at a catalog that fails."""
_SYNC = "hoodie.datasource.hive_sync."


def sync_properties(table: HudiTable, catalog: str) -> dict[str, str]:
    """Return the settings of Hudi's sync for a table. The table's properties override defaults."""
    config = table.config
    extractor = "MultiPartKeysValue" if config.partition_fields else "NonPartitioned"
    return {
        f"{_SYNC}table": config.table,
        # Otherwise readers other than Spark see timestamps as whole numbers.
        f"{_SYNC}support_timestamp": "true",
        # Hudi cannot remove a partition whose name is escaped with `%`: it recreates the table.
        f"{_SYNC}recreate_table_on_error": "true",
        f"{_SYNC}partition_extractor_class": f"org.apache.hudi.hive.{extractor}Extractor",
        **config.hoodie,
        f"{_SYNC}database": config.database,
        f"{_SYNC}partition_fields": ",".join(config.partition_fields),
        f"{_SYNC}mode": "hms",
        **({f"{_SYNC}metastore.uris": catalog} if catalog.startswith(THRIFT) else {}),
        "hoodie.datasource.meta.sync.base.path": table.path,
    }


@dataclass
class _Asked:
    """A table that is to be registered."""

    table: HudiTable
    failures: int = 0
    """Number of failed tries in a row."""
    not_before: float = 0.0
    """Earliest time of the next try, by the monotonic clock."""


@dataclass
class _Told:
    """Result of a table's last try."""

    at: str | None = None
    error: str | None = None


class CatalogSync:
    """A background thread that registers all tables, one after another."""

    def __init__(self, spark: SparkSession, catalog: str) -> None:
        """`catalog` is the address of a Hive metastore (`thrift://host:port`), GLUE or HIVE."""
        self._spark = spark
        self._catalog = catalog
        self._tool = GLUE_SYNC_TOOL if catalog == GLUE else _HIVE_SYNC_TOOL
        self._title = "Glue" if catalog == GLUE else "Hive's metastore"
        self._asked: dict[str, _Asked] = {}
        self._told: dict[str, _Told] = {}
        self._stopped = False
        self._lock = threading.Condition()
        self._thread = InheritableThread(target=self._work, name=_THREAD, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """Finish the current try within `timeout` seconds. The next start registers all tables."""
        with self._lock:
            self._stopped = True
            self._lock.notify()
        self._thread.join(timeout)

    def ask(self, table: HudiTable) -> None:
        """Request registration of a table, and return at once."""
        with self._lock:
            self._asked[table.config.name] = _Asked(table)
            self._lock.notify()

    def status(self, name: str) -> Mapping[str, Any]:
        """Return when a table was registered (`told_at`), whether it is `due`, and the error."""
        with self._lock:
            told = self._told.get(name, _Told())
            return {"told_at": told.at, "due": name in self._asked, "error": told.error}

    def _work(self) -> None:
        while (asked := self._next()) is not None:
            name = asked.table.config.name
            try:
                self._tell(asked.table)
            except Exception as error:
                self._failed(name, asked, error)
            else:
                with self._lock:
                    self._told[name] = _Told(at=now())
                    # A commit may have asked again in the meantime.
                    if self._asked.get(name) is asked:
                        del self._asked[name]

    def _next(self) -> _Asked | None:
        """Return the next table to register; None when the application stops."""
        with self._lock:
            while not self._stopped:
                at = time.monotonic()
                soonest = min(self._asked.values(), key=lambda a: a.not_before, default=None)
                if soonest is not None and soonest.not_before <= at:
                    return soonest
                self._lock.wait(None if soonest is None else soonest.not_before - at)
        return None

    def _failed(self, name: str, asked: _Asked, error: Exception) -> None:
        message = in_one_line(error)
        with self._lock:
            pause = min(_FIRST_PAUSE_SECONDS * 2**asked.failures, _LONGEST_PAUSE_SECONDS)
            asked.failures += 1
            asked.not_before = time.monotonic() + pause
            self._told[name] = _Told(self._told.get(name, _Told()).at, message)
        stack = error if asked.failures == 1 else None
        _log.warning(
            "%s was not registered in %s, again in %.0f s: %s",
            *(name, self._title, pause, message),
            exc_info=stack,
        )

    def _tell(self, table: HudiTable) -> None:
        started = time.monotonic()
        jvm: Any = self._spark.sparkContext._jvm
        properties = jvm.java.util.Properties()
        for key, value in sync_properties(table, self._catalog).items():
            properties.setProperty(key, value)
        hadoop = self._spark.sparkContext._jsc.hadoopConfiguration()
        tool = getattr(jvm, self._tool)(properties, hadoop)
        try:
            tool.syncHoodieTable()
        finally:
            tool.close()
        took = time.monotonic() - started
        _log.info("%s was registered in %s in %.1f s", table.config.name, self._title, took)
