"""Where records go that cannot be decoded, when their table is not to stop for them."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterable

from lakehouse.decode import Undecodable
from lakehouse.progress import now
from lakehouse.storage import Storage

__all__ = ["DeadLetters"]

_log = logging.getLogger(__name__)


class DeadLetters:
    """One JSON object per record, named after its place: writing it twice changes nothing."""

    def __init__(self, storage: Storage, base_path: str) -> None:
        self._storage = storage
        self._base_path = base_path.rstrip("/")

    def write(self, records: Iterable[Undecodable]) -> None:
        for record in records:
            path = (
                f"{self._base_path}/{record.topic}/"
                f"{record.topic}+{record.partition}+{record.offset:010d}.json"
            )
            self._storage.write(path, _document(record))
            _log.warning("%s put aside in %s: %s", _place(record), path, record.reason)


def _place(record: Undecodable) -> str:
    return f"{record.topic} partition {record.partition} offset {record.offset}"


def _document(record: Undecodable) -> bytes:
    fields = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "reason": record.reason,
        "put_aside_at": now(),
        "key_base64": _base64(record.key),
        "value_base64": _base64(record.value),
        "headers": [{"key": key, "value_base64": _base64(value)} for key, value in record.headers],
    }
    return json.dumps(fields, indent=2, ensure_ascii=False).encode()


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")
