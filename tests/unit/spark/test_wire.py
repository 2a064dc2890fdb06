"""Both forms of a record: where the schema's id is, and where the Avro begins."""

from __future__ import annotations

import struct

import pytest

from lakecontract.wire import schema_id_of, split

ID = 70_000
HEADER = struct.pack(">q", ID)
AVRO = b"\x02\x04ab"
PREFIXED = b"\x00" + struct.pack(">i", ID) + AVRO


@pytest.mark.parametrize(
    ("header", "content", "expected"),
    [
        pytest.param(HEADER, AVRO, (HEADER, AVRO), id="Apicurio's"),
        pytest.param(HEADER, PREFIXED, (HEADER, PREFIXED), id="a header wins: its Avro has zeros"),
        pytest.param(b"\x01", AVRO, (b"\x01", AVRO), id="a short header is none of ours"),
        pytest.param(b"\x01", PREFIXED, (b"\x01", PREFIXED), id="nor is it overlooked"),
        pytest.param(None, PREFIXED, (HEADER, AVRO), id="Confluent's"),
        pytest.param(None, PREFIXED[:5], (HEADER, b""), id="Confluent's, of an empty record"),
        pytest.param(None, PREFIXED[:4], (None, PREFIXED[:4]), id="too short"),
        pytest.param(None, b"", (None, b""), id="empty"),
        pytest.param(None, AVRO, (None, AVRO), id="garbage"),
        pytest.param(None, b"\x01" + PREFIXED[1:], (None, b"\x01" + PREFIXED[1:]), id="no magic"),
        pytest.param(None, b"\x00" * 9, (bytes(8), bytes(4)), id="an id of eight bytes: no schema"),
        pytest.param(
            None, b"\x00\xff\xff\xff\xff", (bytes(4) + b"\xff" * 4, b""), id="no negative id"
        ),
    ],
)
def test_a_record_is_split(
    header: bytes | None, content: bytes, expected: tuple[bytes | None, bytes]
) -> None:
    assert split(header, content) == expected


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        pytest.param(HEADER, HEADER, id="a header"),
        pytest.param(PREFIXED[:5], HEADER, id="a prefix"),
        pytest.param(b"garba", None, id="no magic"),
        pytest.param(b"\x00" * 4, None, id="a short value"),
        pytest.param(b"", None, id="empty"),
    ],
)
def test_a_tag_names_a_schema(tag: bytes, expected: bytes | None) -> None:
    assert schema_id_of(tag) == expected
