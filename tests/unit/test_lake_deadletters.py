"""Dead letters, and how much of one can be read."""

from __future__ import annotations

import base64
import io
import json
import struct
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fastavro
import pytest

from labctl.errors import LabError
from labctl.lake.deadletters import DeadLetter, DeadLetters, decoded
from labctl.lake.objectstore import LakeStorage
from labctl.lake.schemas import Schemas

TOPIC = "tickit.ecomm.sale"
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "salesid", "type": "int"},
        {"name": "day", "type": {"type": "int", "connect.name": "io.debezium.time.Date"}},
        {"name": "note", "type": ["null", "string"]},
    ],
}


def value() -> bytes:
    content = io.BytesIO()
    fastavro.schemaless_writer(content, SCHEMA, {"salesid": 7, "day": 13_879, "note": "Zoë"})
    return content.getvalue()


def write(
    root: Path, offset: int, content: bytes | None, *, schema_id: int, below: str = ""
) -> None:
    folder = root / "deadletter" / TOPIC / below
    folder.mkdir(parents=True, exist_ok=True)
    header = base64.b64encode(struct.pack(">q", schema_id)).decode()
    fields = {
        "topic": TOPIC,
        "partition": 0,
        "offset": offset,
        "timestamp_ms": 1_700_000_000_123,
        "reason": "it does not decode",
        "put_aside_at": "2026-11-23T14:00:00.000001+00:00",
        "key_base64": base64.b64encode(b"7").decode(),
        "value_base64": None if content is None else base64.b64encode(content).decode(),
        "headers": [{"key": "apicurio.value.globalId", "value_base64": header}],
    }
    (folder / f"{TOPIC}+0+{offset:010d}.json").write_text(json.dumps(fields))


@pytest.fixture
def letters(tmp_path: Path) -> dict[int, DeadLetter]:
    write(tmp_path, 3, value()[:-2], schema_id=1)
    write(tmp_path, 2, value(), schema_id=404)
    write(tmp_path, 4, None, schema_id=1)
    write(tmp_path, 1, value() + b"x", schema_id=1, below="replayed")
    found = DeadLetters(LakeStorage.local(tmp_path), "deadletter")
    waiting, replayed = found.of_topic(TOPIC), found.of_topic(TOPIC, replayed=True)
    assert [one.offset for one in waiting] == [2, 3, 4]
    assert [(one.offset, one.replayed) for one in replayed] == [(1, True)]
    assert found.of_topic("nosuch") == []
    return {one.offset: one for one in [*waiting, *replayed]}


@pytest.fixture
def schemas() -> Schemas:
    def schema(number: int) -> Any:
        if number == 1:
            return SCHEMA
        raise LabError(f"the registry has no schema {number}")

    return Mock(Schemas, schema=schema)


def test_a_record_is_read_until_the_field_that_cannot_be(
    letters: dict[int, DeadLetter], schemas: Schemas
) -> None:
    shown = decoded(letters[3], schemas)

    assert shown["key"] == "7"
    assert {name: str(field) for name, field in shown["value"].items()} == {
        "salesid": "7",
        "day": "2008-01-01",
    }
    assert "with schema 1, note cannot be read" in shown["value_error"]


def test_what_no_schema_tells_how_to_read_is_shown_as_it_is(
    letters: dict[int, DeadLetter], schemas: Schemas
) -> None:
    shown = decoded(letters[2], schemas)

    assert shown["value"] == value().hex()
    assert shown["value_error"] == "the registry has no schema 404"


def test_a_null_record_has_nothing_to_read(
    letters: dict[int, DeadLetter], schemas: Schemas
) -> None:
    shown = decoded(letters[4], schemas)
    assert (shown["value"], shown["value_error"]) == (None, None)


def test_bytes_behind_the_last_field_are_counted(
    letters: dict[int, DeadLetter], schemas: Schemas
) -> None:
    shown = decoded(letters[1], schemas)

    assert shown["value"]["note"] == "Zoë"
    assert shown["value_error"] == "with schema 1, 1 bytes are left over"
