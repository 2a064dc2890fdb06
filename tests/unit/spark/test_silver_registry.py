"""Schemas the registry has, does not have, or cannot be asked for: three different things."""

from __future__ import annotations

import io
import json
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import fastavro
import pytest

from lakecontract.bronze_partitioner import Place
from lakecontract.errors import UnusableSchemaError
from lakehouse import registry as registry_module
from lakehouse.bronze.values import BronzeValues, UnfitValueError
from lakehouse.registry import SchemaRegistry
from tests.unit.spark.bronze_sinks import sink_config

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"]}],
}
KNOWN, NO_RECORD, NO_AVRO, UNKNOWN, AWAY = 1, 2, 3, 4, 5
ANSWERS = {
    KNOWN: (200, json.dumps(SCHEMA)),
    NO_RECORD: (200, '"string"'),
    NO_AVRO: (200, '{"type": "record"'),
    AWAY: (503, ""),
}
CONFIG = sink_config(position_fields=("p", "o", "t"))
PLACE = Place(partition=0, timestamp_ms=0, now_ms=0)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[SchemaRegistry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = ANSWERS.get(int(self.path.rsplit("/", 1)[1]), (404, ""))
            self.send_response(code)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None: ...

    monkeypatch.setattr(registry_module, "_RETRY_SECONDS", ())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield SchemaRegistry(f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()


def header(schema_id: int) -> bytes:
    return struct.pack(">q", schema_id)


def value() -> bytes:
    content = io.BytesIO()
    fastavro.schemaless_writer(content, SCHEMA, {"id": 1, "name": "Zoë"})
    return content.getvalue()


@pytest.mark.parametrize("schema_id", [NO_RECORD, NO_AVRO, UNKNOWN, -1, 0])
def test_a_schema_no_record_can_be_read_with(registry: SchemaRegistry, schema_id: int) -> None:
    with pytest.raises(UnusableSchemaError, match=str(schema_id)):
        registry.schema(schema_id)


def test_a_registry_that_does_not_answer_says_nothing_of_the_record(
    registry: SchemaRegistry,
) -> None:
    with pytest.raises(OSError, match="does not answer"):
        registry.schema(AWAY)
    with pytest.raises(OSError, match="does not answer"):
        BronzeValues(registry, CONFIG).check(header(AWAY), value(), 0, PLACE)


@pytest.mark.parametrize(
    ("schema_id", "content", "why"),
    [
        pytest.param(header(UNKNOWN), value(), "no schema with global id 4", id="unknown"),
        pytest.param(header(-7), value(), "-7 is no global id", id="negative"),
        pytest.param(header(NO_AVRO), value(), "schema 3 cannot be used", id="no avro"),
        pytest.param(header(NO_RECORD), value(), "schema 2 cannot be used", id="no record"),
        pytest.param(None, value(), "no apicurio.value.globalId header", id="no header"),
        pytest.param(b"\x01", value(), "no apicurio.value.globalId header", id="short header"),
        pytest.param(header(KNOWN), value()[:-1], "does not decode", id="truncated"),
        pytest.param(header(KNOWN), b"", "does not decode", id="empty"),
        pytest.param(header(KNOWN), value() + b"x", "1 bytes are left over", id="left over"),
    ],
)
def test_a_bad_value_is_a_fault_and_no_error(
    registry: SchemaRegistry, schema_id: bytes | None, content: bytes, why: str
) -> None:
    with pytest.raises(UnfitValueError, match=why):
        BronzeValues(registry, CONFIG).check(schema_id, content, 0, PLACE)


def test_a_good_value_and_the_schema_of_its_file(registry: SchemaRegistry) -> None:
    values = BronzeValues(registry, CONFIG)

    assert values.check(header(KNOWN), value(), 0, PLACE).folder == "year=1970/month=01/day=01"
    fields = json.loads(values.file_schema(KNOWN))["fields"]
    assert [field["name"] for field in fields] == ["id", "name", "p", "o", "t"]


class Remembered(dict[int, str]):
    """A memory of schemas, in memory."""

    def recall(self, global_id: int) -> str | None:
        return self.get(global_id)

    def keep(self, global_id: int, schema: str) -> None:
        if self.setdefault(global_id, schema) != schema:
            raise UnusableSchemaError(f"schema {global_id} is another one", hint="")


def test_a_schema_that_the_registry_has_lost_is_remembered(
    registry: SchemaRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Remembered()
    url = registry._url
    text = SchemaRegistry(url, memory).text(KNOWN)
    monkeypatch.delitem(ANSWERS, KNOWN)
    assert SchemaRegistry(url, memory).text(KNOWN) == text
    with pytest.raises(UnusableSchemaError, match=str(KNOWN)):
        SchemaRegistry(url).text(KNOWN)


def test_a_registry_that_means_another_schema_by_an_id_is_not_believed(
    registry: SchemaRegistry,
) -> None:
    memory = Remembered({KNOWN: '{"type": "record", "name": "Other", "fields": []}'})
    with pytest.raises(UnusableSchemaError, match="another one"):
        SchemaRegistry(registry._url, memory).schema(KNOWN)


@pytest.mark.parametrize(
    ("name", "folder"),
    [("name", "name=Zoë"), ("id", "id=1"), ("id,name", "id=1/name=Zoë"), ("o", "o=7")],
)
def test_a_folder_is_named_after_values_and_positions(
    registry: SchemaRegistry, name: str, folder: str
) -> None:
    config = sink_config(
        "FieldPartitioner", partition_field_name=name, position_fields=("p", "o", "t")
    )
    assert BronzeValues(registry, config).check(header(KNOWN), value(), 7, PLACE).folder == folder


def test_a_folder_named_after_a_field_that_is_not_there_is_refused(
    registry: SchemaRegistry,
) -> None:
    config = sink_config("FieldPartitioner", partition_field_name="nationality")
    with pytest.raises(UnfitValueError, match="no field nationality"):
        BronzeValues(registry, config).check(header(KNOWN), value(), 0, PLACE)
