"""Writing a soak run's changes: one thread per source, which survives every lost connection."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from dataclasses import dataclass

from labctl.background import Background
from labctl.config.endpoints import Endpoints
from labctl.errors import LabError
from labctl.latency.targets import Target
from labctl.soak.history import History
from labctl.soak.plan import Kind, Operation, Transaction
from labctl.sources import Source, connect

__all__ = ["Acknowledged", "SoakWriter"]

_RECONNECT_SECONDS = 0.2
_GIVE_UP_SECONDS = 600.0
"""A transaction that is refused for so long is a fault of the lab, not one that was injected."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A transaction that the database said is committed."""

    table: str
    """In silver."""
    operations: tuple[Operation, ...]
    begun: float
    """When it was sent for the first time, seconds since the epoch."""
    at: float
    """When it was said to be committed."""


class SoakWriter(Background):
    """Commits one table's transactions at a steady rate."""

    def __init__(
        self,
        endpoints: Endpoints,
        target: Target,
        plan: Iterator[Transaction],
        *,
        rate: float,
        history: History,
        done: queue.SimpleQueue[Acknowledged],
    ) -> None:
        """`rate` is in changes per second."""
        super().__init__(f"soak {target.ref}")
        self._endpoints = endpoints
        self._target = target
        self._plan = plan
        self._rate = rate
        self._history = history
        self._done = done
        self._abandoned = False

    def stop(self) -> None:
        """End once the transaction under way is acknowledged, so that none stays unknown."""
        super().stop()

    def abandon(self) -> None:
        """End, for a run that is given up: a transaction that fails is not repeated any more."""
        self._abandoned = True
        super().stop()

    def _run(self) -> None:
        pending: Transaction | None = None
        since, begun = time.monotonic(), time.time()
        while self._goes_on(pending):
            try:
                with connect(self._endpoints, self._target.source) as source:
                    due = time.monotonic()
                    while self._goes_on(pending):
                        if pending is None:
                            pending = next(self._plan)
                            since, begun = time.monotonic(), time.time()
                        self._commit(source, pending, begun)
                        due = max(due + len(pending.operations) / self._rate, time.monotonic() - 1)
                        pending = None
                        self._stop.wait(max(0.0, due - time.monotonic()))
            except LabError as error:
                if time.monotonic() - since > _GIVE_UP_SECONDS:
                    raise LabError(
                        f"{self._target.ref} took no transaction for {_GIVE_UP_SECONDS:.0f} s: "
                        f"{error.what}",
                        hint="labctl status",
                    ) from error
                time.sleep(_RECONNECT_SECONDS)

    def _goes_on(self, pending: Transaction | None) -> bool:
        return not self._stop.is_set() or (pending is not None and not self._abandoned)

    def _commit(self, source: Source, transaction: Transaction, begun: float) -> None:
        numbers = [operation.number for operation in transaction.operations]
        note = {"table": self._target.silver, "first": numbers[0], "count": len(numbers)}
        if len(numbers) == 1:
            (operation,) = transaction.operations
            note |= {"kind": operation.kind, "key": operation.key, "new_key": operation.new_key}
        self._history.transaction("invoked", **note)
        try:
            with source.transaction():
                for operation in transaction.operations:
                    apply_operation(source, self._target, operation)
        except LabError as error:
            # A connection that is gone says nothing of the commit; an answer says that it failed.
            outcome = "unknown" if source.closed else "failed"
            self._history.transaction(outcome, **note, why=error.what)  # type: ignore[arg-type]
            raise
        self._history.transaction("ok", **note)
        self._done.put(
            Acknowledged(self._target.silver, transaction.operations, begun, time.time())
        )


def apply_operation(source: Source, target: Target, operation: Operation) -> None:
    """Make one change. Made a second time, it changes nothing."""
    if operation.kind is Kind.INSERT:
        source.upsert(target.ref, target.rows({operation.key: operation.number}))
    elif operation.kind is Kind.UPDATE:
        source.execute(target.update_statement(source), (operation.number, operation.key))
    elif operation.kind is Kind.DELETE:
        source.delete(target.ref, target.keys([operation.key]))
    else:
        source.execute(
            target.move_statement(source), (operation.new_key, operation.number, operation.key)
        )
