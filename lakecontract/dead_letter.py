"""Dead letters: records that were put aside, as the JSON files that the application writes."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

__all__ = ["LETTER_SUFFIX", "DeadLetterFile", "letter_name"]

LETTER_SUFFIX = ".json"


def letter_name(topic: str, partition: int, offset: int) -> str:
    """Return the name of a record's file: a second write of the same record changes nothing."""
    return f"{topic}+{partition}+{offset:010d}{LETTER_SUFFIX}"


@dataclass(frozen=True, slots=True)
class DeadLetterFile:
    """The content of one file: a record of Kafka, and why its table did not take it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    """Kafka's timestamp of the record, in milliseconds since 1970."""
    reason: str
    put_aside_at: str
    """ISO 8601 in UTC, with microseconds."""
    key: bytes | None
    value: bytes | None
    """None if the record's value is null."""
    headers: tuple[tuple[str, bytes | None], ...]

    @classmethod
    def read(cls, content: bytes) -> DeadLetterFile:
        """Read a file. Raises ValueError, KeyError or TypeError if it is no dead letter."""
        fields = json.loads(content)
        return cls(
            topic=fields["topic"],
            partition=fields["partition"],
            offset=fields["offset"],
            timestamp_ms=fields["timestamp_ms"],
            reason=fields["reason"],
            put_aside_at=fields["put_aside_at"],
            key=_bytes(fields["key_base64"]),
            value=_bytes(fields["value_base64"]),
            headers=tuple((one["key"], _bytes(one["value_base64"])) for one in fields["headers"]),
        )

    def content(self) -> bytes:
        """Return the file's content."""
        fields = {
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "timestamp_ms": self.timestamp_ms,
            "reason": self.reason,
            "put_aside_at": self.put_aside_at,
            "key_base64": _base64(self.key),
            "value_base64": _base64(self.value),
            "headers": [
                {"key": key, "value_base64": _base64(value)} for key, value in self.headers
            ],
        }
        return json.dumps(fields, indent=2, ensure_ascii=False).encode()


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
