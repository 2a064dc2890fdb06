"""Writing a soak run's changes: one thread per table, which survives every lost connection."""

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
from labctl.soak.soak_plan import Kind, Operation, Transaction
from labctl.sources import Source, connect

__all__ = ["Acknowledged", "SoakWriter"]

_RECONNECT_SECONDS = 0.2
_GIVE_UP_SECONDS = 600.0
"""Seconds after which a refused transaction counts as a defect of the lab, not as an injected
fault."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A transaction whose commit the database acknowledged."""

    table: str
    """Name of the silver table."""
    operations: tuple[Operation, ...]
    begun: float
    """Time when it was sent for the first time, in seconds since the epoch."""
    at: float
    """Time when the commit was acknowledged."""


class SoakWriter(Background):
    """A thread that commits one table's transactions at a steady rate."""

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
        """Prepare the thread; `rate` is in changes per second."""
        super().__init__(f"soak {target.ref}")
        self._endpoints = endpoints
        self._target = target
        self._plan = plan
        self._rate = rate
        self._history = history
        self._done = done
        self._abandoned = False

    def stop(self) -> None:
        """Stop once the transaction in progress is acknowledged, so that none stays unknown."""
        super().stop()

    def abandon(self) -> None:
        """Stop for an aborted run, without repeating a transaction that fails."""
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
            # After a lost connection, the outcome is unknown; an answer means that it failed.
            outcome = "unknown" if source.closed else "failed"
            self._history.transaction(outcome, **note, why=error.what)  # type: ignore[arg-type]
            raise
        self._history.transaction("ok", **note)
        self._done.put(
            Acknowledged(self._target.silver, transaction.operations, begun, time.time())
        )


def apply_operation(source: Source, target: Target, operation: Operation) -> None:
    """Make one change. Making it a second time changes nothing."""
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
