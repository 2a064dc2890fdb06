"""Keys and values as `labctl topics show` decodes them, with a registry that answers."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from labctl.config.endpoints import Registry
from labctl.errors import LabError
from labctl.kafka.topic_records import content_of
from labctl.lake.schemas import Schemas

SCHEMA = {"type": "record", "name": "V", "fields": [{"name": "id", "type": "int"}]}
KNOWN, UNKNOWN, BROKEN = 7, 8, 9
AVRO = b"\x06"


class Answers(BaseHTTPRequestHandler):
    """Of a registry: one schema, one that it does not have, one that it fails over."""

    def do_GET(self) -> None:
        number = int(self.path.rpartition("/")[2])
        body = json.dumps(SCHEMA).encode() if number == KNOWN else b"{}"
        self.send_response({KNOWN: 200, UNKNOWN: 404}.get(number, 500))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def schemas() -> Iterator[Schemas]:
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        reader = Schemas(Registry(url=f"http://127.0.0.1:{server.server_port}"))
        try:
            yield reader
        finally:
            server.shutdown()
            thread.join()


def prefixed(number: int, avro: bytes = AVRO) -> bytes:
    return b"\x00" + struct.pack(">i", number) + avro


def test_both_forms_are_decoded(schemas: Schemas) -> None:
    assert content_of(AVRO, struct.pack(">q", KNOWN), schemas, "here") == {"id": 3}
    assert content_of(prefixed(KNOWN), None, schemas, "here") == {"id": 3}


@pytest.mark.parametrize("data", [prefixed(UNKNOWN, b"rest"), prefixed(KNOWN, b"")])
def test_what_only_looks_like_an_id_is_shown_as_it_is(schemas: Schemas, data: bytes) -> None:
    assert content_of(data, None, schemas, "here") == data.decode()


def test_a_header_that_is_wrong_is_an_error(schemas: Schemas) -> None:
    with pytest.raises(LabError, match="no schema with global id 8"):
        content_of(AVRO, struct.pack(">q", UNKNOWN), schemas, "here")
    with pytest.raises(LabError, match="here is not Avro of its schema"):
        content_of(b"", struct.pack(">q", KNOWN), schemas, "here")


def test_a_registry_that_fails_is_an_error_in_both_forms(schemas: Schemas) -> None:
    for data, header in (AVRO, struct.pack(">q", BROKEN)), (prefixed(BROKEN), None):
        with pytest.raises(LabError, match="global id 9 could not be fetched"):
            content_of(data, header, schemas, "here")
