"""The parsers of what a client sends: any bytes give a result or `ProtocolError`, nothing else.

`corpus/` holds inputs worth keeping, as hex, named `<parser>-<what>.hex`; each runs every time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labctl.sqlserver.wire.login import parse_login
from labctl.sqlserver.wire.packet import parse_header
from labctl.sqlserver.wire.parameter_values import read_value
from labctl.sqlserver.wire.prelogin import parse_prelogin
from labctl.sqlserver.wire.reader import ProtocolError, Reader
from labctl.sqlserver.wire.request import parse_batch, parse_calls, parse_transaction

CORPUS = Path(__file__).parent / "corpus"
PARSERS: dict[str, Callable[[bytes], object]] = {
    "header": parse_header,
    "prelogin": parse_prelogin,
    "login": parse_login,
    "batch": parse_batch,
    "calls": parse_calls,
    "transaction": parse_transaction,
    "value": lambda data: read_value(Reader(data)),
}
HEADERS = struct.pack("<I", 4)


def _survives(name: str, data: bytes) -> None:
    try:
        PARSERS[name](data)
    except ProtocolError:
        return


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.hex")), ids=lambda p: p.stem)
def test_corpus(path: Path) -> None:
    _survives(path.stem.split("-", 1)[0], bytes.fromhex(path.read_text()))


@pytest.mark.parametrize("name", PARSERS)
@given(data=st.binary(max_size=300))
def test_any_bytes(name: str, data: bytes) -> None:
    _survives(name, data)


@given(body=st.binary(max_size=300), number=st.integers(0, 20))
def test_any_call(body: bytes, number: int) -> None:
    _survives("calls", HEADERS + struct.pack("<HHH", 0xFFFF, number, 0) + body)


_TOKENS = st.sampled_from(
    [0x1F, 0x22, 0x23, 0x24, 0x26, 0x28, 0x29, 0x2A, 0x2B, 0x30, 0x32, 0x34, 0x38, 0x3A, 0x3B,
     0x3C, 0x3D, 0x3E, 0x62, 0x63, 0x68, 0x6A, 0x6C, 0x6D, 0x6E, 0x6F, 0x7A, 0x7F, 0xA5, 0xA7,
     0xAD, 0xAF, 0xE7, 0xEF, 0xF0, 0xF1, 0xF3]
)  # fmt: skip


@given(token=_TOKENS, body=st.binary(max_size=200))
@example(token=0x2B, body=b"\x07\x0a" + b"\0" * 8 + b"\x4c\x03")
@example(token=0x2A, body=b"\x00\x06\xff\xff\xff\xff\xff\xff")
def test_any_value(token: int, body: bytes) -> None:
    _survives("value", bytes((token,)) + body)


@given(data=st.binary(min_size=94, max_size=300))
def test_any_login(data: bytes) -> None:
    _survives("login", struct.pack("<I", len(data)) + data[4:])


@given(cut=st.integers(0, 200))
def test_a_truncated_login_is_refused(cut: int) -> None:
    whole = bytes.fromhex((CORPUS / "login-freetds.hex").read_text())
    if cut < len(whole):
        with pytest.raises(ProtocolError):
            parse_login(whole[:cut])


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=100))
def test_a_batch_is_read_back(text: str) -> None:
    assert parse_batch(HEADERS + text.encode("utf-16-le")) == text
