"""The client of Hive's metastore, against the bytes of Thrift's binary protocol."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from labctl.hive.metastore_client import databases, tables

CALL = b"\x80\x01\x00\x01" + b"\x00\x00\x00\x11get_all_databases" + b"\x00" * 5
"""Version 1, a call; the method; sequence 0; no arguments."""
HEAD = b"\x80\x01\x00\x02" + b"\x00\x00\x00\x11get_all_databases" + b"\x00" * 4
TWO = (
    b"\x0f\x00\x00" + b"\x0b\x00\x00\x00\x02" + b"\x00\x00\x00\x02db" + b"\x00\x00\x00\x03\xc3\xbcx"
)
"""The answer's field 0: a list of two texts."""


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[int, Callable[[], bytes]]]:
    """A port that answers one connection so, and what it was asked."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                received.append(connection.recv(4096))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()

        def asked() -> bytes:
            thread.join()
            return received[0]

        yield server.getsockname()[1], asked
        thread.join()


def test_names_are_read_from_the_answer_to_one_call() -> None:
    with answering(HEAD + TWO + b"\x00") as (port, asked):
        assert databases("127.0.0.1", port) == ["db", "üx"]
        assert asked() == CALL


def test_a_database_is_the_first_argument() -> None:
    head = HEAD.replace(b"\x11get_all_databases", b"\x0eget_all_tables")
    with answering(head + TWO + b"\x00") as (port, asked):
        assert tables("127.0.0.1", port, "shop") == ["db", "üx"]
        assert asked().endswith(b"\x0b\x00\x01\x00\x00\x00\x04shop\x00")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        HEAD[:9],
        HEAD + TWO[:12],
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x80\x01\x00\x03" + HEAD[4:] + b"\x00",  # an exception of Thrift's own
        HEAD + b"\x0c\x00\x01\x00",  # one of the method's
        b"\x80\x01\x00\x02\x7f\xff\xff\xff",  # a name of two gigabytes
    ],
)
def test_whatever_else_answers_is_an_error_of_the_connection(answer: bytes) -> None:
    with answering(answer) as (port, _), pytest.raises(OSError):
        databases("127.0.0.1", port)
