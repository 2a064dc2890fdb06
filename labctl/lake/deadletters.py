"""Dead letters: the records that were put aside, why, and as much of them as can be read."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import fastavro
from pyarrow import fs

from labctl.errors import LabError
from labctl.lake.objectstore import LakeStorage
from labctl.lake.records import converters, readable
from lakecontract.dead_letter import LETTER_SUFFIX, DeadLetterFile
from lakecontract.options import REPLAYED
from lakecontract.wire import KEY_HEADER, SCHEMA_ID_BYTES, VALUE_HEADER, split

if TYPE_CHECKING:
    from labctl.lake.schemas import Schemas

__all__ = ["DeadLetter", "DeadLetters", "decoded"]


@dataclass(frozen=True)
class DeadLetter:
    """A record that its table did not accept."""

    topic: str
    partition: int
    offset: int
    written_at: datetime
    """Kafka's timestamp of the record."""
    put_aside_at: datetime
    reason: str
    replayed: bool
    key: bytes | None
    value: bytes | None
    """None if the record's value is null."""
    headers: dict[str, bytes | None]


class DeadLetters:
    """The dead letters below `folder`, relative to the bucket."""

    def __init__(self, storage: LakeStorage, folder: str) -> None:
        self._storage = storage
        self._folder = folder

    def of_topic(self, topic: str, *, replayed: bool = False) -> list[DeadLetter]:
        """Return a topic's letters by position: those that wait, or the replayed ones."""
        folder = f"{self._folder}/{topic}" + (f"/{REPLAYED}" if replayed else "")
        paths = [
            entry.path.removeprefix(f"{self._storage.root}/")
            for entry in self._storage.list(folder)
            if entry.type == fs.FileType.File and entry.base_name.endswith(LETTER_SUFFIX)
        ]
        with ThreadPoolExecutor(8) as pool:
            found = pool.map(lambda path: self._read(path, replayed), paths)
            return sorted(found, key=lambda letter: (letter.partition, letter.offset))

    def _read(self, path: str, replayed: bool) -> DeadLetter:
        try:
            letter = DeadLetterFile.read(self._storage.read_bytes(path))
            return DeadLetter(
                letter.topic,
                letter.partition,
                letter.offset,
                written_at=datetime.fromtimestamp(letter.timestamp_ms / 1000, UTC),
                put_aside_at=datetime.fromisoformat(letter.put_aside_at),
                reason=letter.reason,
                replayed=replayed,
                key=letter.key,
                value=letter.value,
                headers=dict(letter.headers),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise LabError(f"{path} is no dead letter: {error!r}") from None


def decoded(letter: DeadLetter, schemas: Schemas) -> dict[str, Any]:
    """Decode the key and value of a letter as far as they can be read.

    `key` and `value` hold the fields that could be read. `key_error` and `value_error` say where
    reading stopped, or are None. A part that cannot be read at all is returned as text or as hex
    digits.
    """
    key, key_error = _part(letter.key, letter.headers.get(KEY_HEADER), schemas)
    value, value_error = _part(letter.value, letter.headers.get(VALUE_HEADER), schemas)
    return {"key": key, "key_error": key_error, "value": value, "value_error": value_error}


def _part(data: bytes | None, header: bytes | None, schemas: Schemas) -> tuple[Any, str | None]:
    if data is None:
        return None, None
    schema_id, body = split(header, data)
    if schema_id is None or len(schema_id) != SCHEMA_ID_BYTES:
        return _raw(data), "no header names its schema"
    number = int.from_bytes(schema_id, "big", signed=True)
    try:
        schema = schemas.schema(number)
    except LabError as error:
        return _raw(data), error.what
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return _raw(data), f"schema {number} is of no record"
    fields, error_text = _fields(body, schema)
    return fields, error_text and f"with schema {number}, {error_text}"


def _fields(data: bytes, schema: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return the fields of a record up to the first unreadable one, and the error or None."""
    content = io.BytesIO(data)
    read: dict[str, Any] = {}
    by_field = converters(schema)
    named: dict[str, Any] = {}
    fastavro.parse_schema(schema, named)
    for field in schema["fields"]:
        one = fastavro.parse_schema(field["type"], dict(named))
        try:
            value = fastavro.schemaless_reader(content, one, None)
        except Exception as error:
            return readable(read, by_field), f"{field['name']} cannot be read: {error!r}"
        read[field["name"]] = value
    left = len(data) - content.tell()
    return readable(read, by_field), f"{left} bytes are left over" if left else None


def _raw(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.hex()
