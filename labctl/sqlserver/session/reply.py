"""The reply to one request. A DONE is held back until it is known whether more tokens follow."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.sqlserver.client_errors import SqlError
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
        """Send encoded rows of the open result set."""
        await self._writer.stream(data)

    def statement_done(self, rows: int | None) -> None:
        """End a successful statement; `rows` is None if it has no row count."""
        status = DoneStatus.FINAL if rows is None else DoneStatus.COUNT
        self._hold(Done.IN_PROCEDURE if self._procedures else Done.BATCH, status, rows or 0)

    def _hold(self, kind: Done, status: DoneStatus, rows: int) -> None:
        self._release(DoneStatus.MORE)
        self._held = _Held(kind, status, rows)

    def failed(self, problem: SqlError) -> None:
        """Report an error and end its statement."""
        self.message(problem)
        kind = Done.IN_PROCEDURE if self._procedures else Done.BATCH
        self._hold(kind, DoneStatus.ERROR, 0)

    def refused(self) -> None:
        """End a reply whose error was already sent as a message."""
        self._hold(Done.BATCH, DoneStatus.ERROR, 0)

    def message(self, problem: SqlError) -> None:
        """Send an error or, below severity 11, an informational message."""
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
        """Leave a failed procedure; its error ends it without further tokens."""
        self._procedures -= 1

    def leave_procedure(
        self, status: int, outputs: list[tuple[int, str, SqlType, bytes]] | None = None
    ) -> None:
        """End a procedure; send its return status, its output parameters and DONEPROC."""
        self._procedures -= 1
        self.token(return_status(status))
        for ordinal, name, kind, value in outputs or []:
            self.token(return_value(ordinal, name, kind, value))
        self._hold(Done.PROCEDURE, DoneStatus.FINAL, 0)

    async def finish(self) -> None:
        """End the reply; acknowledge an attention with the DONE that the client waits for."""
        if self.cancelled:
            self._release(DoneStatus.MORE)
            self._writer.write(done(Done.BATCH, DoneStatus.ATTENTION))
        elif self._held is None:
            self._writer.write(done(Done.BATCH, DoneStatus.FINAL))
        else:
            self._release(DoneStatus.FINAL)
        await self._writer.finish()
