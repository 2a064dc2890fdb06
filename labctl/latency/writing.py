"""Making the planned changes, with one writer per table, each on its own connection."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from labctl.config.endpoints import Endpoints
from labctl.latency.latency_plan import Change, Kind, Transaction
from labctl.latency.targets import Target
from labctl.sources import Source, connect

__all__ = ["Committed", "Writer", "prepare_rows", "remove_rows"]

_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class Committed:
    """A transaction whose commit the database acknowledged. Times are seconds since the epoch."""

    table: str
    changes: tuple[Change, ...]
    begun: float
    committed: float


def prepare_rows(source: Source, target: Target, first_key: int, count: int) -> None:
    """Create the rows for updates and deletes, with the number 0."""
    for begin in range(0, count, _ROWS_AT_ONCE):
        keys = range(first_key + begin, first_key + min(begin + _ROWS_AT_ONCE, count))
        source.upsert(target.ref, target.rows(dict.fromkeys(keys, 0)))


def remove_rows(source: Source, target: Target, first_key: int) -> None:
    """Remove all rows from `first_key` on, which are those of a run, from the source."""
    source.affect(
        f"DELETE FROM {source.qualified(target.ref)} "  # noqa: S608
        f"WHERE {source.quote(target.key)} >= %s",
        (first_key,),
    )


class Writer:
    """A thread that commits one table's transactions when they are due."""

    def __init__(
        self,
        endpoints: Endpoints,
        target: Target,
        plan: Iterable[Transaction],
        done: queue.SimpleQueue[Committed],
    ) -> None:
        self._endpoints = endpoints
        self._target = target
        self._plan = plan
        self._done = done
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"write {target.ref}", daemon=True)

    def start(self, begin: float) -> None:
        """Start the thread; due times count from `begin` (seconds, monotonic)."""
        self._begin = begin
        self._thread.start()

    def stop(self) -> None:
        """Stop after the transaction in progress."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def is_done(self) -> bool:
        """Return whether everything is written. Raises the error that ended the thread early."""
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            with connect(self._endpoints, self._target.source) as source:
                commit = _committer(source, self._target)
                for transaction in self._plan:
                    if transaction.due is not None:
                        self._stop.wait(max(0.0, self._begin + transaction.due - time.monotonic()))
                    if self._stop.is_set():
                        return
                    begun = time.time()
                    commit(transaction.changes)
                    committed = time.time()
                    self._done.put(
                        Committed(self._target.silver, transaction.changes, begun, committed)
                    )
        except Exception as error:
            self._error = error


def _committer(source: Source, target: Target) -> Callable[[Sequence[Change]], None]:
    update = target.update_statement(source)

    def commit(changes: Sequence[Change]) -> None:
        if len(changes) > 1:
            _commit_many(source, target, changes)
        elif changes[0].kind is Kind.UPDATE:
            source.execute(update, (changes[0].number, changes[0].key))
        else:
            _apply(source, target, changes[0].kind, changes)

    return commit


def _commit_many(source: Source, target: Target, changes: Sequence[Change]) -> None:
    with source.transaction():
        for kind, alike in groupby(changes, key=lambda change: change.kind):
            _apply(source, target, kind, list(alike))


def _apply(source: Source, target: Target, kind: Kind, changes: Sequence[Change]) -> None:
    if kind is Kind.DELETE:
        source.delete(target.ref, target.keys([change.key for change in changes]))
    else:
        source.upsert(target.ref, target.rows({change.key: change.number for change in changes}))
