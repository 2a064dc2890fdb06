"""What is longer, deeper or more than one client may ask for: refused, and no memory is held."""

from __future__ import annotations

import asyncio
import struct
import tracemalloc
from collections.abc import Iterator
from typing import cast

import pytest

from labctl.sqlserver import server
from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.limits import (
    LONGEST_PREPARED,
    MOST_CALLS,
    MOST_PARAMETERS,
    MOST_TOKENS,
    MOST_TOKENS_TRANSLATED,
)
from labctl.sqlserver.session.calls import Calls
from labctl.sqlserver.session.connection import ServerContext
from labctl.sqlserver.session.session_state import Session
from labctl.sqlserver.sqltypes import MAX, SqlType
from labctl.sqlserver.tsql import translate
from labctl.sqlserver.tsql.lexer import tokenize
from labctl.sqlserver.tsql.parser import parse_batch
from labctl.sqlserver.wire.packet import HEADER_SIZE, PacketType
from labctl.sqlserver.wire.reader import MessageTooLong, ProtocolError
from labctl.sqlserver.wire.request import parse_calls
from labctl.sqlserver.wire.tls import Transport
from tests.unit.hanging import Watch

MIB = 1024**2
HEADERS = struct.pack("<I", 4)


def packet(kind: PacketType, payload: bytes, *, last: bool) -> bytes:
    length = HEADER_SIZE + len(payload)
    return bytes((kind, int(last))) + length.to_bytes(2, "big") + bytes(4) + payload


class Endless(asyncio.StreamReader):
    """A client that sends one packet again and again, and then what is to come after them."""

    def __init__(self, unit: bytes, times: int, end: bytes) -> None:
        self._left = self._source(unit, times, end)
        self._held = b""

    def _source(self, unit: bytes, times: int, end: bytes) -> Iterator[bytes]:
        for _ in range(times):
            yield unit
        yield end

    async def readexactly(self, n: int) -> bytes:
        while len(self._held) < n:
            self._held += next(self._left)
        piece, self._held = self._held[:n], self._held[n:]
        return piece


def read(reader: asyncio.StreamReader, limit: int) -> tuple[PacketType, bytes, bool]:
    transport = Transport(reader, cast(asyncio.StreamWriter, None))
    return asyncio.run(transport.read_message(limit))


def test_a_message_that_is_too_long_is_read_to_its_end_and_not_kept() -> None:
    unit = packet(PacketType.SQL_BATCH, b"x" * 30_000, last=False)
    following = packet(PacketType.ATTENTION, b"", last=True)
    end = packet(PacketType.SQL_BATCH, b"x", last=True) + following
    reader = Endless(unit, 2000, end)
    tracemalloc.start()
    try:
        with pytest.raises(MessageTooLong, match=r"a message of 60\d+ bytes, 1048576 are allowed"):
            read(reader, MIB)
        assert tracemalloc.get_traced_memory()[1] < 3 * MIB
    finally:
        tracemalloc.stop()
    assert read(reader, MIB)[0] is PacketType.ATTENTION


def test_a_message_of_empty_packets_is_too_long_as_well() -> None:
    """They hold nothing, and there may be any number of them."""
    reader = Endless(
        packet(PacketType.LOGIN7, b"", last=False),
        20_000,
        packet(PacketType.LOGIN7, b"", last=True),
    )
    with pytest.raises(MessageTooLong):
        read(reader, 128 * 1024)


@pytest.mark.parametrize(
    "text",
    ["'" + "''" * 200_000 + "'", "[" + "]]" * 200_000 + "]", '"' + '""' * 200_000 + '"',
     "'" + "''" * 200_000, "[" + "x" * 400_000, "/*" * 200_000],
    ids=["string", "name", "quoted", "open string", "open name", "open comment"],
)  # fmt: skip
def test_a_long_token_takes_no_more_memory_than_its_text(text: str) -> None:
    """An expression that keeps a place to go back to takes 60 bytes for each character."""
    memory = []
    for part in (text[: len(text) // 2], text):
        tracemalloc.start()
        try:
            with Watch().one(text[:20]):
                tokenize(part)
        except SqlError as error:
            assert error.number in {105, 113}
        finally:
            memory.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert memory[1] < 2 * len(text) + MIB


def test_a_batch_of_too_many_words_is_refused() -> None:
    with Watch().one("semicolons"), pytest.raises(SqlError) as refused:
        parse_batch("SELECT 1" + ";" * MOST_TOKENS)
    assert refused.value.number == 8623


def test_a_statement_of_too_many_words_is_refused() -> None:
    text = "SELECT " + ",".join("1" * (MOST_TOKENS_TRANSLATED // 2 + 1))
    for translated in (
        lambda: translate.query(text, "master", {}),
        lambda: translate.fixed_expression(text, "master"),
    ):
        with Watch().one("numbers"), pytest.raises(SqlError) as refused:
            translated()
        assert refused.value.number == 8623


@pytest.mark.parametrize(
    "text",
    ["SELECT " + "(" * 2000 + "1" + ")" * 2000, "SELECT " + "-+" * 2000 + "1",
     "SELECT " + "CASE WHEN 1 = 1 THEN " * 1000 + "1" + " END" * 1000,
     "SELECT 1 WHERE " + "NOT " * 2000 + "1 = 1", "SELECT " + " + ".join("1" * 10_000),
     "SELECT * FROM " + "(SELECT * FROM " * 1000 + "t" + ") a" * 1000],
    ids=["parentheses", "signs", "CASE", "NOT", "a long sum", "subqueries"],
)  # fmt: skip
def test_what_nests_too_deep_is_refused(text: str) -> None:
    with pytest.raises(SqlError) as refused:
        translate.query(text, "master", {})
    assert refused.value.number in {191, 102}


@pytest.mark.parametrize("word", ["IF 1 = 1 ", "BEGIN ", "WHILE 1 = 1 ", "BEGIN TRY "])
def test_statements_that_nest_too_deep_are_refused(word: str) -> None:
    with pytest.raises(SqlError) as refused:
        parse_batch(word * 3000 + "SELECT 1")
    assert refused.value.number == 191


def call(parameters: int) -> bytes:
    """An RPC message's call of sp_executesql with numbers."""
    return struct.pack("<HHH", 0xFFFF, 10, 0) + b"\0\0\x26\x01\x01\x07" * parameters


def test_a_call_of_too_many_parameters_is_refused() -> None:
    assert len(parse_calls(HEADERS + call(MOST_PARAMETERS))[0].parameters) == MOST_PARAMETERS
    with pytest.raises(SqlError) as refused:
        parse_calls(HEADERS + call(MOST_PARAMETERS + 1))
    assert refused.value.number == 8003


def test_a_message_of_too_many_calls_is_refused() -> None:
    calls = b"\xff".join([call(0)] * (MOST_CALLS + 1))
    with pytest.raises(ProtocolError, match=f"more than {MOST_CALLS} calls"):
        parse_calls(HEADERS + calls)


@pytest.mark.parametrize(
    ("argument", "longest"),
    [
        ("'x'", 8000),
        ("N'x'", 4000),
        ("('x' + N'x')", 4000),
        ("upper('x')", 8000),
        ("@short", 8000),
        ("@long", 0),
        ("@short + @long", 0),
        ("CAST('x' AS varchar(10))", 8000),
        ("CAST('x' AS varchar(max))", 0),
        ("CONVERT(nvarchar(max), 'x')", 0),
        ("replicate(CAST('x' AS varchar(max)), 3)", 0),
        ("replicate('x', 3)", 8000),
        ("a", 0),
    ],
)
def test_replicate_is_cut_off_by_its_arguments_type(argument: str, longest: int) -> None:
    types = {"@short": SqlType("varchar", length=5), "@long": SqlType("varchar", length=MAX)}
    statement = translate.query(f"SELECT replicate({argument}, 2) FROM t", "master", types)
    assert f"2, {longest}) FROM" in statement.sql.as_string(None)


def test_replicate_takes_no_third_argument_of_a_client() -> None:
    with pytest.raises(SqlError) as refused:
        translate.query("SELECT replicate('x', 2, 0)", "master", {})
    assert refused.value.number == 174


def test_clients_that_do_not_log_in_make_room_for_those_that_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the login, the one that has waited longest is left; none that has logged in is."""
    monkeypatch.setattr(server, "MOST_LOGINS", 3)
    ended: list[int] = []

    async def check() -> None:
        release = asyncio.Event()

        async def serve(_: object, __: object, spid: int, *, logged_in: object) -> None:
            if spid == 51:
                logged_in()  # type: ignore[operator]
            try:
                await release.wait()
            except asyncio.CancelledError:
                ended.append(spid)
                raise

        monkeypatch.setattr(server, "serve_client", serve)
        served = server._Server(cast(ServerContext, None))
        tasks = []
        for _ in range(8):
            accepted = served.accept(
                cast(asyncio.StreamReader, None), cast(asyncio.StreamWriter, None)
            )
            tasks.append(asyncio.create_task(accepted))
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert ended == [52, 53, 54, 55]
        release.set()
        await asyncio.gather(*tasks)

    asyncio.run(check())


def test_a_session_prepares_no_more_than_it_may() -> None:
    calls = Calls.__new__(Calls)
    calls.session = Session(spid=51, server="s", login="sa", database="master", database_id=1)
    text = "x" * (LONGEST_PREPARED // 4)
    for _ in range(4):
        calls._remember("", text)
    with pytest.raises(SqlError) as refused:
        calls._remember("", "x")
    assert refused.value.number == 701
