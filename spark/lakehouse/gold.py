"""Keeps a view of silver as a table, without delaying the commits of silver."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable

from pyspark import InheritableThread
from pyspark.sql import SparkSession

from lakehouse.catalog_sync import CatalogSync
from lakehouse.gold_table import GoldTable
from lakehouse.maintenance import Maintenance
from lakehouse.progress import WorkerProgress, now

__all__ = ["GoldWorker"]

_log = logging.getLogger(__name__)
_POOL = "gold"
_LOOK_SECONDS = 0.5
"""Seconds between two checks of silver's workers, which ask nothing of the object store."""
_REST = 3.0
"""Multiple of its working time that it rests, so that silver has the cores."""


class GoldWorker:
    """A `supervisor.Worker` that holds no lock for which a commit of silver waits."""

    def __init__(
        self,
        spark: SparkSession,
        gold: GoldTable,
        progress: WorkerProgress,
        maintenance: Maintenance,
        catalog: CatalogSync | None,
        marks: Callable[[], Hashable],
        lacking: Callable[[], str | None],
    ) -> None:
        """`marks` returns another value once silver's workers have done something.

        `lacking` returns a silver table that has no first commit yet.
        """
        self.name = gold.definition.name
        self.progress = progress
        self._spark = spark
        self._gold = gold
        self._maintenance = maintenance
        self._catalog = catalog
        self._marks = marks
        self._lacking = lacking
        self._stopped = threading.Event()
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def waiting_for(self) -> str | None:
        lacking = self._lacking()
        return None if lacking is None else f"the first commit of {lacking}"

    def start(self) -> None:
        self._stopped.clear()
        self._error = None
        self._thread = InheritableThread(target=self._run, name=f"gold-{self.name}", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def error(self) -> Exception | None:
        return self._error

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", _POOL)
            table = self._gold.table
            self._gold.open()
            self._maintenance.opened(table, table.state())
            self.progress.set(read=dict(self._gold.read))
            seen: Hashable = None
            rest = 0.0
            while not self._stopped.wait(max(rest, _LOOK_SECONDS)):
                rest = 0.0
                if (marks := self._marks()) != seen:
                    started = time.monotonic()
                    self._refresh()
                    seen, rest = marks, _REST * (time.monotonic() - started)
        except Exception as error:
            self._error = error

    def _refresh(self) -> None:
        started = time.monotonic()
        refresh = self._gold.refresh()
        if refresh is None:
            return
        if refresh.rows:
            self._maintenance.committed(self._gold.table, refresh.rows, rewrite=False)
        if refresh.whole and refresh.rows and self._catalog:
            self._catalog.ask(self._gold.table)
        self.progress.committed(
            refresh.rows, last_commit_at=now(), read=dict(self._gold.read), error=None
        )
        what = "all groups" if refresh.whole else "groups that changed"
        took = time.monotonic() - started
        _log.info("%s: %d rows of %s in %.1f s", self.name, refresh.rows, what, took)
