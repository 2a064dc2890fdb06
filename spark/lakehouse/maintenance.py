"""Compaction, cleaning and archiving in the background, so that commits stay fast."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

from pyspark import InheritableThread
from pyspark.sql import SparkSession

from lakecontract.errors import in_one_line
from lakehouse.hudi import HudiTable, TableState

__all__ = ["Maintenance"]

_log = logging.getLogger(__name__)
_POOL = "maintenance"
_TIDY_AFTER_COMMITS = 20
"""Commits between two rounds of cleaning and archiving."""
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
"""Longest pause between two tries at a service that fails."""


@dataclass
class _Backlog:
    """The work on a table that has come up since its last service."""

    table: HudiTable
    uncompacted_commits: int = 0
    uncompacted_records: int = 0
    untidied: int = 0
    rewrite: bool = False
    """True if base files must be written again, even if no compaction is due."""
    unfinished: bool = False
    """True if a service was started, or just planned, and has not ended."""
    failures: int = 0
    """Number of failed tries in a row."""
    error: str | None = None
    """Error of the last failed try."""
    not_before: float = 0.0
    """Earliest time of the next try, by the monotonic clock."""

    def due(self) -> list[str]:
        """Return the services that are due for the table."""
        config = self.table.config
        compaction = config.table_type == "MERGE_ON_READ" and (
            self.uncompacted_commits >= config.compact_after_commits
            or self.uncompacted_records >= config.compact_after_records
        )
        wanted = {
            "what was left unfinished": self.unfinished,
            "rewrite": self.rewrite,
            "compaction": compaction and not self.rewrite,
            "tidying": self.untidied >= _TIDY_AFTER_COMMITS,
        }
        return [service for service, wants in wanted.items() if wants]

    def failed(self, error: Exception) -> float:
        """Postpone the next try. Return the seconds until then."""
        self.error = in_one_line(error)
        pause: float = min(_FIRST_PAUSE_SECONDS * 2**self.failures, _LONGEST_PAUSE_SECONDS)
        self.failures += 1
        self.not_before = time.monotonic() + pause
        return pause


class Maintenance:
    """A background thread that serves all tables, one after the other."""

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
        """Stop after the current service; wait at most `timeout` seconds for it."""
        with self._lock:
            self._stopped = True
            self._lock.notify()
        self._thread.join(timeout)

    def opened(self, table: HudiTable, state: TableState) -> None:
        """Take over the work that an earlier run left unfinished, when a table's feed begins."""
        backlog = _Backlog(
            table,
            state.commits_since_compaction,
            state.records_since_compaction,
            state.commits_since_cleaning,
            unfinished=state.is_service_unfinished,
        )
        with self._lock:
            self._backlogs[table.config.name] = backlog
            self._ask(backlog)

    def committed(self, table: HudiTable, records: int, *, rewrite: bool) -> None:
        """Note one more commit of a table, with this number of records.

        `rewrite` asks for base files to be written again, whether compaction is due or not.
        """
        with self._lock:
            backlog = self._backlogs.setdefault(table.config.name, _Backlog(table))
            backlog.uncompacted_commits += 1
            backlog.uncompacted_records += records
            backlog.untidied += 1
            backlog.rewrite = backlog.rewrite or rewrite
            self._ask(backlog)

    def error(self, name: str) -> str | None:
        """Return why a table's services fail; None while they do not."""
        with self._lock:
            backlog = self._backlogs.get(name)
            return None if backlog is None else backlog.error

    def _ask(self, backlog: _Backlog) -> None:
        """Queue a table if a service is due. The caller holds the lock."""
        if backlog.due():
            self._due[backlog.table.config.name] = None
            self._lock.notify()

    def _work(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", _POOL)
        while (backlog := self._next()) is not None:
            try:
                self._serve(backlog)
                with self._lock:
                    backlog.failures, backlog.error = 0, None
            except Exception as error:
                # The table itself is right either way; but it grows until this succeeds.
                with self._lock:
                    pause = backlog.failed(error)
                    self._ask(backlog)
                name = backlog.table.config.name
                _log.exception("maintenance of %s failed; again in %.0f s", name, pause)

    def _next(self) -> _Backlog | None:
        """Return the next table with a service that is due; None when the application stops."""
        with self._lock:
            while not self._stopped:
                waiting = [self._backlogs[name] for name in self._due]
                now = time.monotonic()
                for backlog in waiting:
                    if backlog.not_before <= now:
                        del self._due[backlog.table.config.name]
                        return backlog
                soonest = min((backlog.not_before for backlog in waiting), default=None)
                self._lock.wait(None if soonest is None else soonest - now)
        return None

    def _serve(self, backlog: _Backlog) -> None:
        table = backlog.table
        with table.services:
            with self._lock:
                due = backlog.due()
            if not due:  # Commits asked for it while it was under way.
                return
            started = time.monotonic()
            client = table.write_client()
            try:
                self._finish(client, backlog)
                if "compaction" in due or "rewrite" in due:
                    self._compact(client, backlog)
                if "tidying" in due:
                    self._tidy(client, backlog)
            finally:
                client.close()
        took = time.monotonic() - started
        _log.info("%s: %s took %.1f s", table.config.name, " and ".join(due), took)

    def _finish(self, client: Any, backlog: _Backlog) -> None:
        """Complete planned services first: Hudi leaves the files of a plan out of later plans.

        Only services need this: a write that was interrupted is rolled back by the next write.
        """
        client.runAnyPendingCompactions()
        if backlog.unfinished:
            client.clean(False)
        with self._lock:
            backlog.unfinished = False

    def _compact(self, client: Any, backlog: _Backlog) -> None:
        jvm: Any = self._spark.sparkContext._jvm
        nothing = jvm.org.apache.hudi.common.util.Option.empty()
        with backlog.table.lock:
            instant = client.scheduleCompaction(nothing)
            with self._lock:
                backlog.uncompacted_commits = backlog.uncompacted_records = 0
                backlog.rewrite = False
                backlog.unfinished = instant.isPresent()
        if instant.isPresent():
            client.compact(instant.get(), True)
            with self._lock:
                backlog.unfinished = False

    def _tidy(self, client: Any, backlog: _Backlog) -> None:
        client.clean()
        client.archive()
        with self._lock:
            backlog.untidied = 0
