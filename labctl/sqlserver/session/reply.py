"""Building the reply to one request: a DONE is held back until it is known whether more follows."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.sqlserver.errors import SqlError
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.wire.packet import MessageWriter
from labctl.sqlserver.wire.tokens import (
    Done,
    DoneStatus,
    column_metadata,
    done,
    error,
    return_status,
    return_value,
)

__all__ = ["Column", "Reply"]

Column = tuple[str, SqlType, bool, bool]
"""A result column: name, type, nullable, identity."""


@dataclass(slots=True)
class _Held:
    kind: Done
    status: DoneStatus
    rows: int


class Reply:
    """The tokens of one reply, in order."""

    def __init__(self, writer: MessageWriter, server: str) -> None:
        self._writer = writer
        self._server = server
        self._held: _Held | None = None
        self._procedures = 0
        self.cancelled = False

    def token(self, data: bytes) -> None:
        """Write any token."""
        self._release(DoneStatus.MORE)
        self._writer.write(data)

    def _release(self, extra: DoneStatus) -> None:
        if self._held is not None:
            held, self._held = self._held, None
            self._writer.write(done(held.kind, held.status | extra, held.rows))

    def columns(self, columns: list[Column]) -> None:
        """Begin a result set."""
        self.token(column_metadata(columns))

    async def rows(self, data: bytes) -> None:
        """Encoded rows of the open result set."""
        await self._writer.stream(data)

    def statement_done(self, rows: int | None) -> None:
        """End a statement that worked; `rows` is None when none are counted."""
        status = DoneStatus.FINAL if rows is None else DoneStatus.COUNT
        self._hold(Done.IN_PROCEDURE if self._procedures else Done.BATCH, status, rows or 0)

    def _hold(self, kind: Done, status: DoneStatus, rows: int) -> None:
        self._release(DoneStatus.MORE)
        self._held = _Held(kind, status, rows)

    def failed(self, problem: SqlError) -> None:
        """Report an error and end the statement that had it."""
        self.message(problem)
        kind = Done.IN_PROCEDURE if self._procedures else Done.BATCH
        self._hold(kind, DoneStatus.ERROR, 0)

    def refused(self) -> None:
        """End a reply whose error was sent as a message."""
        self._hold(Done.BATCH, DoneStatus.ERROR, 0)

    def message(self, problem: SqlError) -> None:
        """An error or, below severity 11, an informational message."""
        self.token(
            error(
                problem.number,
                problem.message,
                severity=problem.severity,
                state=problem.state,
                server=self._server,
                procedure=problem.procedure,
                line=problem.line,
            )
        )

    def enter_procedure(self) -> None:
        self._procedures += 1

    def abandon_procedure(self) -> None:
        """Leave a procedure that failed: its error says the rest."""
        self._procedures -= 1

    def leave_procedure(
        self, status: int, outputs: list[tuple[int, str, SqlType, bytes]] | None = None
    ) -> None:
        """End a procedure: its return status, its output parameters, DONEPROC."""
        self._procedures -= 1
        self.token(return_status(status))
        for ordinal, name, kind, value in outputs or []:
            self.token(return_value(ordinal, name, kind, value))
        self._hold(Done.PROCEDURE, DoneStatus.FINAL, 0)

    async def finish(self) -> None:
        """End the reply; after an attention the client is waiting for its own DONE."""
        if self.cancelled:
            self._release(DoneStatus.MORE)
            self._writer.write(done(Done.BATCH, DoneStatus.ATTENTION))
        elif self._held is None:
            self._writer.write(done(Done.BATCH, DoneStatus.FINAL))
        else:
            self._release(DoneStatus.FINAL)
        await self._writer.finish()
