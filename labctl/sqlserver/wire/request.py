"""Requests of a client: SQL batch, RPC and transaction request."""

from __future__ import annotations

from dataclasses import dataclass, field

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.limits import MOST_CALLS, MOST_PARAMETERS
from labctl.sqlserver.sqltypes import SqlType
from labctl.sqlserver.wire.parameter_values import read_value
from labctl.sqlserver.wire.reader import ProtocolError, Reader, decode_utf16

__all__ = [
    "Call",
    "Parameter",
    "TransactionRequest",
    "parse_batch",
    "parse_calls",
    "parse_transaction",
]

_BY_ID = {
    1: "sp_cursor",
    2: "sp_cursoropen",
    3: "sp_cursorprepare",
    4: "sp_cursorexecute",
    5: "sp_cursorprepexec",
    6: "sp_cursorunprepare",
    7: "sp_cursorfetch",
    8: "sp_cursoroption",
    9: "sp_cursorclose",
    10: "sp_executesql",
    11: "sp_prepare",
    12: "sp_execute",
    13: "sp_prepexec",
    14: "sp_prepexecrpc",
    15: "sp_unprepare",
}
_BATCH_SEPARATORS = {0x80, 0xFF}
_OUTPUT = 0x01


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a call; `value` is PostgreSQL's text for the type, None for NULL."""

    name: str
    type: SqlType
    value: str | None
    output: bool = False


@dataclass(slots=True)
class Call:
    """A remote procedure call."""

    name: str
    parameters: list[Parameter] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TransactionRequest:
    """A transaction-manager request; `kind` is 5 begin, 7 commit, 8 roll back or 9 save."""

    kind: int
    name: str
    isolation: int
    begin_again: bool


def _skip_headers(reader: Reader) -> None:
    total = reader.u32()
    if total < 4:
        raise ProtocolError(f"ALL_HEADERS of {total} bytes")
    reader.take(total - 4)


def parse_batch(data: bytes) -> str:
    """Return the text of a SQL batch."""
    reader = Reader(data)
    _skip_headers(reader)
    rest = data[reader.position :]
    if len(rest) % 2:
        raise ProtocolError("a batch of half a character")
    return decode_utf16(rest)


def parse_calls(data: bytes) -> list[Call]:
    """Return an RPC message's calls in order. Raise `SqlError` 8003 for too many parameters."""
    reader = Reader(data)
    _skip_headers(reader)
    calls: list[Call] = []
    while reader:
        if len(calls) >= MOST_CALLS:
            raise ProtocolError(f"more than {MOST_CALLS} calls in a message")
        length = reader.u16()
        if length == 0xFFFF:
            number = reader.u16()
            if number not in _BY_ID:
                raise ProtocolError(f"no procedure has the number {number}")
            call = Call(_BY_ID[number])
        else:
            call = Call(reader.text(length))
        reader.u16()
        while reader and reader.data[reader.position] not in _BATCH_SEPARATORS:
            if len(call.parameters) >= MOST_PARAMETERS:
                raise SqlError(
                    8003, "The incoming request has too many parameters. The server supports a "
                    f"maximum of {MOST_PARAMETERS} parameters. Reduce the number of parameters and "
                    "resend the request.",
                )  # fmt: skip
            call.parameters.append(_parameter(reader))
        if reader:
            reader.u8()
        calls.append(call)
    return calls


def _parameter(reader: Reader) -> Parameter:
    name = reader.b_varchar()
    status = reader.u8()
    if reader.data[reader.position : reader.position + 1] == b"\xf3":
        raise ProtocolError("table-valued parameters are not supported")
    kind, value = read_value(reader)
    return Parameter(name, kind, value, output=bool(status & _OUTPUT))


def parse_transaction(data: bytes) -> TransactionRequest:
    """Parse a transaction-manager request. Raise `ProtocolError` for distributed transactions."""
    reader = Reader(data)
    _skip_headers(reader)
    kind = reader.u16()
    if kind == 5:
        isolation = reader.u8()
        return TransactionRequest(kind, _name(reader), isolation, begin_again=False)
    if kind in (7, 8):
        name = _name(reader)
        again = bool(reader.u8() & 1) if reader else False
        return TransactionRequest(kind, name, 0, begin_again=again)
    if kind == 9:
        return TransactionRequest(kind, _name(reader), 0, begin_again=False)
    raise ProtocolError(f"transaction request {kind} is not supported")


def _name(reader: Reader) -> str:
    raw = reader.take(reader.u8())
    if len(raw) % 2:
        raise ProtocolError("a transaction name of half a character")
    return decode_utf16(raw)
