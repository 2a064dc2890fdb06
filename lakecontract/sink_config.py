"""The S3 sink connector's own configuration, as far as this application can honour it.

If the connector runs, it writes bronze; otherwise this application does, by the same rules. It
refuses settings that it cannot honour, rather than writing something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lakecontract.bronze_partitioner import Partitioner, partitioner_of, partitioner_problems
from lakecontract.errors import ConfigurationError
from lakecontract.properties import read_properties
from lakecontract.references import REFERENCE
from lakecontract.regular_files import read_text
from lakecontract.sink_keys import SINK_CONNECTOR, SINK_KEYS

__all__ = [
    "CODECS",
    "Codec",
    "SinkConfig",
    "load_sink_config",
    "sink_problems",
    "topics_taken",
]

Codec = Literal["null", "deflate", "snappy", "bzip2"]
CODECS: tuple[Codec, ...] = ("null", "deflate", "snappy", "bzip2")

_ONLY: Mapping[str, str] = {
    "connector.class": SINK_CONNECTOR,
    "storage.class": "io.confluent.connect.s3.storage.S3Storage",
    "format.class": "io.confluent.connect.s3.format.avro.AvroFormat",
    "schema.compatibility": "NONE",
    "behavior.on.null.values": "ignore",
    "value.converter": "io.apicurio.registry.utils.converter.AvroConverter",
    "transforms.position.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms": "position",
}
"""Required keys, each with the only value that can be honoured."""

_IF_THERE: Mapping[str, str] = {
    "allow.optional.map.keys": "false",
    "consumer.override.auto.offset.reset": "earliest",
    "directory.delim": "/",
    "errors.deadletterqueue.topic.name": "",
    "file.delim": "+",
    "filename.offset.zero.pad.width": "10",
    "predicates": "",
    "report.null.values.to.dlq": "false",
    "s3.acl.canned": "",
    "s3.compression.type": "none",
    "s3.object.tagging": "false",
    "s3.schema.partition.affix.type": "NONE",
    "s3.sse.customer.key": "",
    "s3.sse.kms.key.id": "",
    "s3.ssea.name": "",
    "store.kafka.headers": "false",
    "store.kafka.keys": "false",
    "value.converter.apicurio.registry.use-id": "globalId",
}
"""Keys that change the output, each with its default value, which changes nothing."""

_COUNTS = ("flush.size", "rotate.schedule.interval.ms")
_POSITION = tuple(
    f"transforms.position.{part}.field" for part in ("partition", "offset", "timestamp")
)
_READ = ("topics.dir", "s3.bucket.name", *_COUNTS, *_POSITION)
_OPTIONAL = (
    "avro.codec",
    "errors.tolerance",
    "partitioner.max.open.files",
    "rotate.file.on.partition.change",
    "rotate.interval.ms",
    "topics",
    "topics.regex",
)
_FRAMEWORK = frozenset(
    {
        "config.action.reload",
        "connector.plugin.version",
        "errors.deadletterqueue.context.headers.enable",
        "errors.deadletterqueue.topic.replication.factor",
        "errors.log.enable",
        "errors.log.include.messages",
        "errors.retry.delay.max.ms",
        "errors.retry.timeout",
        "header.converter",
        "key.converter",
        "name",
        "tasks.max",
        "tasks.max.enforce",
    }
)
"""Kafka Connect's keys for any sink that concern its own workings."""
_WITHOUT_EFFECT = SINK_KEYS | _FRAMEWORK
_UNREAD = ("key.converter.", "header.converter.", "value.converter.", "consumer.override.")
"""Prefixes of keys that this application does not read: keys and headers are not written, and
Spark's clients are set up elsewhere."""
_DECODING = tuple(
    f"value.converter.apicurio.registry.{key}"
    for key in ("id-handler", "headers.handler", "headers.value.", "avro.encoding")
)
"""Prefixes of keys that say where a record has its schema's id. The converter's default and
Confluent's form (`wire.py`) are both read: each record shows which one it has."""


@dataclass(frozen=True, slots=True)
class SinkConfig:
    """Rules by which one sink's bronze files are cut, named and encoded."""

    name: str
    """The connector's name, which is that of its file."""
    topics_regex: str
    topics_dir: str
    bucket: str
    partitioner: Partitioner
    flush_size: int
    """Most records in the files of a partition that are open together."""
    rotate_interval_ms: int | None
    """The records of those files lie less than this time apart; None: no such limit."""
    rotate_schedule_interval_ms: int
    """Files are closed after this time, whatever is in them."""
    rotate_on_folder_change: bool
    """True if a partition has only one file open at a time; else it has one in each folder."""
    max_open_files: int | None
    """Most files that a partition has open together; None: no such limit."""
    codec: Codec
    tolerate_errors: bool
    """True if a record that is no Avro of its schema is put aside; else it stops its topic."""
    position_fields: tuple[str, str, str]
    """Fields added for the record's partition, offset and timestamp."""


def load_sink_config(path: Path, secrets_dir: Path) -> SinkConfig:
    """Read the connector's JSON, with references looked up in `secrets_dir`.

    Raises ConfigurationError with all settings that this application cannot honour.
    """
    values = {key: _resolve(path, key, value, secrets_dir) for key, value in _read(path).items()}
    if problems := sink_problems(values):
        raise ConfigurationError(
            f"{path}: {'; '.join(problems)}",
            hint="Correct the file, or let the S3 sink connector write bronze",
        )
    partitioner = partitioner_of(values)
    rotate_interval = int(values.get("rotate.interval.ms", "-1"))
    by_time = partitioner.folders is not None and rotate_interval > 0
    open_files = int(values.get("partitioner.max.open.files", "-1"))
    return SinkConfig(
        name=path.stem,
        topics_regex=_topics(values),
        topics_dir=values["topics.dir"].strip("/"),
        bucket=values["s3.bucket.name"],
        partitioner=partitioner,
        flush_size=int(values["flush.size"]),
        rotate_interval_ms=rotate_interval if by_time else None,
        rotate_schedule_interval_ms=int(values["rotate.schedule.interval.ms"]),
        # Folders by a record's time or writing time come one after another. With one file open at
        # a time, the last file shows the position, so that no note of it is needed.
        rotate_on_folder_change=not partitioner.is_by_value
        or (by_time and values.get("rotate.file.on.partition.change", "true").lower() == "true"),
        max_open_files=open_files if open_files > 0 else None,
        codec=_codec(values) or "null",
        tolerate_errors=values.get("errors.tolerance", "none") == "all",
        position_fields=(
            _field(values, "partition"),
            _field(values, "offset"),
            _field(values, "timestamp"),
        ),
    )


def sink_problems(values: Mapping[str, str]) -> list[str]:
    """Return why this application cannot do as the connector would, one sentence per reason.

    A value that is still a reference is not checked, because its meaning is not known yet. Values
    are shown only for keys that are known to hold no secret.
    """
    problems = [f"{key} is missing" for key in (*_ONLY, *_READ) if key not in values]
    if ("topics" in values) == ("topics.regex" in values):
        problems.append("exactly one of topics and topics.regex is needed")
    for key, value in values.items():
        if "${" not in value and (problem := _problem(key, value)):
            problems.append(problem)
    return problems + partitioner_problems(values)


def _problem(key: str, value: str) -> str | None:
    wanted = _ONLY.get(key, _IF_THERE.get(key))
    if wanted is not None:
        shown = "" if "key" in key else f"={value}"
        fits = value.strip().lower() == wanted.lower()
        refused = f"{key}{shown} cannot be honoured, {wanted or 'an empty value'} can"
    elif key in _COUNTS:
        fits = value.isdecimal() and int(value) >= 1
        refused = f"{key}={value} is not a whole number of 1 or more"
    elif key in ("rotate.interval.ms", "partitioner.max.open.files"):
        fits = value.removeprefix("-").isdecimal()
        refused = f"{key}={value} is not a whole number"
    elif key == "rotate.file.on.partition.change":
        fits = value.strip().lower() in ("true", "false")
        refused = f"{key}={value} is neither true nor false"
    elif key == "avro.codec":
        fits = value in CODECS
        refused = f"{key}={value} cannot be honoured, {', '.join(CODECS)} can"
    elif key in _POSITION:
        fits = value.endswith("!")
        refused = f"{key}={value} must be {value.rstrip('?')}! (a position is never missing)"
    else:
        fits = key in (*_READ, *_OPTIONAL, *_WITHOUT_EFFECT) or (
            key.startswith(_UNREAD) and not key.startswith(_DECODING)
        )
        refused = f"{key} cannot be honoured without the connector itself"
    return None if fits else refused


def topics_taken(values: Mapping[str, str], topics: Iterable[str]) -> list[str]:
    """Return those of `topics` that a sink connector with this configuration takes."""
    try:
        pattern = re.compile(_topics(values))
    except re.error:
        # Python cannot parse this pattern. It may be valid in Java, so Spark checks it.
        return list(topics)
    return [topic for topic in topics if pattern.fullmatch(topic)]


def _topics(values: Mapping[str, str]) -> str:
    """Return a regular expression for the topics, which are listed or given as a pattern."""
    if "topics.regex" in values:
        return values["topics.regex"]
    names = (topic.strip() for topic in values.get("topics", "").split(","))
    return "|".join(re.escape(name) for name in names)


def _read(path: Path) -> dict[str, str]:
    """Return the file's keys. They may be inside Connect's `{"name": …, "config": {…}}`."""
    try:
        raw = json.loads(read_text(path))
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}", hint="Give the sink connector's JSON"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} is no JSON: {error}", hint="Correct the file") from None
    held = raw.get("config", raw) if isinstance(raw, dict) else None
    if not isinstance(held, dict):
        raise ConfigurationError(
            f"{path} holds no object of configuration keys", hint="Give the sink connector's JSON"
        )
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in held.items()
    }


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

    return REFERENCE.sub(looked_up, value)


def _codec(values: Mapping[str, str]) -> Codec | None:
    return next((codec for codec in CODECS if codec == values.get("avro.codec")), None)


def _field(values: Mapping[str, str], part: str) -> str:
    return values[f"transforms.position.{part}.field"].removesuffix("!")
