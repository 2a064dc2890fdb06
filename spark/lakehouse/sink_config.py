"""The S3 sink connector's own configuration, as far as this application can honour it.

Where the connector runs, it writes bronze; elsewhere this application does, to the same rules.
What it cannot do the same way it refuses, rather than writing something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lakehouse.errors import ConfigurationError
from lakehouse.properties import read_properties

__all__ = ["CODECS", "Codec", "SinkConfig", "load_sink_config"]

Codec = Literal["null", "deflate", "snappy", "bzip2"]
CODECS: tuple[Codec, ...] = ("null", "deflate", "snappy", "bzip2")

_ONLY: Mapping[str, str] = {
    "connector.class": "io.confluent.connect.s3.S3SinkConnector",
    "storage.class": "io.confluent.connect.s3.storage.S3Storage",
    "format.class": "io.confluent.connect.s3.format.avro.AvroFormat",
    "partitioner.class": "io.confluent.connect.storage.partitioner.DailyPartitioner",
    "timestamp.extractor": "Record",
    "timezone": "UTC",
    "schema.compatibility": "NONE",
    "behavior.on.null.values": "ignore",
    "value.converter": "io.apicurio.registry.utils.converter.AvroConverter",
    "transforms.position.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms": "position",
}
"""Keys with the one value that can be honoured; all of them must be there."""

_READ = (
    "topics.regex",
    "topics.dir",
    "s3.bucket.name",
    "flush.size",
    "rotate.schedule.interval.ms",
    "transforms.position.partition.field",
    "transforms.position.offset.field",
    "transforms.position.timestamp.field",
)
_OPTIONAL = ("rotate.interval.ms", "avro.codec", "errors.tolerance")
_WITHOUT_EFFECT = (
    # What Spark is told elsewhere, or what only concerns the connector's own workings.
    "name",
    "tasks.max",
    "locale",
    "store.url",
    "s3.region",
    "aws.access.key.id",
    "aws.secret.access.key",
    "s3.part.size",
    "s3.retry.backoff.ms",
    "key.converter",
    "key.converter.apicurio.registry.url",
    "value.converter.apicurio.registry.url",
)
_REFERENCE = re.compile(r"\$\{secretManager:([^:}]+):([^}]+)\}")


@dataclass(frozen=True, slots=True)
class SinkConfig:
    """How bronze files are cut, named and encoded."""

    topics_regex: str
    topics_dir: str
    bucket: str
    flush_size: int
    """Most records of a file."""
    rotate_interval_ms: int | None
    """A file's records lie less than this apart; None: no such limit."""
    rotate_schedule_interval_ms: int
    """A file is closed after this time, whatever is in it."""
    codec: Codec
    tolerate_errors: bool
    """Put a record aside that is no Avro of its schema, instead of stopping."""
    position_fields: tuple[str, str, str]
    """Fields added for the record's partition, offset and timestamp."""


def load_sink_config(path: Path, secrets_dir: Path) -> SinkConfig:
    """Read the connector's JSON, with references looked up in `secrets_dir`.

    Raises ConfigurationError for anything this application could not do as the connector does.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}", hint="Give the sink connector's JSON"
        ) from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is no JSON: {error}", hint="Correct the file") from None
    values = {key: _resolve(path, key, str(value), secrets_dir) for key, value in raw.items()}
    _check(path, values)
    rotate_interval = int(values.get("rotate.interval.ms", "-1"))
    return SinkConfig(
        topics_regex=values["topics.regex"],
        topics_dir=values["topics.dir"].strip("/"),
        bucket=values["s3.bucket.name"],
        flush_size=_count(path, values, "flush.size"),
        rotate_interval_ms=rotate_interval if rotate_interval > 0 else None,
        rotate_schedule_interval_ms=_count(path, values, "rotate.schedule.interval.ms"),
        codec=_codec(path, values.get("avro.codec", "null")),
        tolerate_errors=values.get("errors.tolerance", "none") == "all",
        position_fields=(
            _required_field(path, values, "transforms.position.partition.field"),
            _required_field(path, values, "transforms.position.offset.field"),
            _required_field(path, values, "transforms.position.timestamp.field"),
        ),
    )


def _check(path: Path, values: Mapping[str, str]) -> None:
    if missing := [key for key in (*_ONLY, *_READ) if key not in values]:
        raise ConfigurationError(f"{path} lacks {', '.join(missing)}", hint="Add the key")
    for key, value in values.items():
        if key in _ONLY:
            if value != _ONLY[key]:
                raise _refused(path, key, value, _ONLY[key])
        elif key not in (*_READ, *_OPTIONAL, *_WITHOUT_EFFECT):
            raise ConfigurationError(
                f"{path}: {key} cannot be honoured without the connector itself",
                hint="Remove it, or let the S3 sink connector write bronze",
            )


def _resolve(path: Path, key: str, value: str, secrets_dir: Path) -> str:
    def looked_up(match: re.Match[str]) -> str:
        file, name = secrets_dir / match[1], match[2]
        found = read_properties(file)
        if name not in found:
            raise ConfigurationError(
                f"{path}: {key} refers to `{name}`, which {file} does not have",
                hint="Add it there",
            )
        return found[name]

    return _REFERENCE.sub(looked_up, value)


def _count(path: Path, values: Mapping[str, str], key: str) -> int:
    value = values[key]
    if not value.isdecimal() or int(value) < 1:
        raise _refused(path, key, value, "a whole number of 1 or more")
    return int(value)


def _codec(path: Path, value: str) -> Codec:
    for codec in CODECS:
        if value == codec:
            return codec
    raise _refused(path, "avro.codec", value, f"one of {', '.join(CODECS)}")


def _required_field(path: Path, values: Mapping[str, str], key: str) -> str:
    value = values[key]
    if not value.endswith("!"):
        raise _refused(path, key, value, f"{value.rstrip('?')}! (a position is never missing)")
    return value[:-1]


def _refused(path: Path, key: str, value: str, allowed: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: {key}={value} cannot be honoured without the connector itself",
        hint=f"Use {allowed}, or let the S3 sink connector write bronze",
    )
