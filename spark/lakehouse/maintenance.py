"""Compaction, cleaning and archiving: beside the commits, so that a commit stays fast."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

from pyspark import InheritableThread
from pyspark.sql import SparkSession

from lakehouse.hudi import HudiTable, TableState

__all__ = ["Maintenance"]

_log = logging.getLogger(__name__)
_POOL = "maintenance"
_TIDY_AFTER_COMMITS = 20
"""Commits between two rounds of cleaning and archiving."""


@dataclass
class _Backlog:
    """What has happened to a table since its last service."""

    table: HudiTable
    uncompacted_commits: int = 0
    uncompacted_records: int = 0
    untidied: int = 0
    rewrite: bool = False
    """Base files are to be written anew, whether compaction is due or not."""

    def due(self) -> list[str]:
        """The services that the table wants by now."""
        config = self.table.config
        compaction = config.table_type == "MERGE_ON_READ" and (
            self.uncompacted_commits >= config.compact_after_commits
            or self.uncompacted_records >= config.compact_after_records
        )
        wanted = {
            "rewrite": self.rewrite,
            "compaction": compaction and not self.rewrite,
            "tidying": self.untidied >= _TIDY_AFTER_COMMITS,
        }
        return [service for service, wants in wanted.items() if wants]


class Maintenance:
    """One background thread that serves all tables, one after the other."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._backlogs: dict[str, _Backlog] = {}
        self._due: dict[str, None] = {}
        self._stopped = False
        self._lock = threading.Condition()
        self._thread = InheritableThread(target=self._work, name=_POOL, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 30.0) -> None:
        """Finish what is under way, at most `timeout` seconds."""
        with self._lock:
            self._stopped = True
            self._lock.notify()
        self._thread.join(timeout)

    def opened(self, table: HudiTable, state: TableState) -> None:
        """A table's feed begins: take over what an earlier run left undone."""
        with self._lock:
            self._backlogs[table.config.name] = _Backlog(
                table, state.commits_since_compaction, state.records_since_compaction
            )

    def committed(self, table: HudiTable, records: int, *, rewrite: bool) -> None:
        """A table has one more commit, of so many records.

        `rewrite` asks for base files to be written anew, whether compaction is due or not.
        """
        name = table.config.name
        with self._lock:
            backlog = self._backlogs.setdefault(name, _Backlog(table))
            backlog.uncompacted_commits += 1
            backlog.uncompacted_records += records
            backlog.untidied += 1
            backlog.rewrite = backlog.rewrite or rewrite
            if backlog.due():
                self._due[name] = None
                self._lock.notify()

    def _work(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", _POOL)
        while (backlog := self._next()) is not None:
            try:
                self._serve(backlog)
            except Exception:
                # The table itself is right either way: its next commit asks again.
                _log.exception("maintenance of %s failed", backlog.table.config.name)

    def _next(self) -> _Backlog | None:
        """The next table that wants a service; None when the application stops."""
        with self._lock:
            self._lock.wait_for(lambda: self._due or self._stopped)
            if self._stopped:
                return None
            name = next(iter(self._due))
            del self._due[name]
            return self._backlogs[name]

    def _serve(self, backlog: _Backlog) -> None:
        with self._lock:
            due = backlog.due()
        if not due:  # Commits asked for it while it was under way.
            return
        table = backlog.table
        started = time.monotonic()
        client = table.write_client()
        try:
            if "compaction" in due or "rewrite" in due:
                self._compact(client, backlog)
            if "tidying" in due:
                client.clean()
                client.archive()
                with self._lock:
                    backlog.untidied = 0
        finally:
            client.close()
        took = time.monotonic() - started
        _log.info("%s: %s took %.1f s", table.config.name, " and ".join(due), took)

    def _compact(self, client: Any, backlog: _Backlog) -> None:
        jvm: Any = self._spark.sparkContext._jvm
        nothing = jvm.org.apache.hudi.common.util.Option.empty()
        with self._lock:
            backlog.uncompacted_commits = backlog.uncompacted_records = 0
            backlog.rewrite = False
        with backlog.table.lock:
            instant = client.scheduleCompaction(nothing)
        if instant.isPresent():
            client.compact(instant.get(), True)
