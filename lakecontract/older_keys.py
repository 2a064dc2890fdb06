"""Properties of older versions of Hudi, read with the meaning that they have today.

`hoodie.deltastreamer.*` became `hoodie.streamer.*` with Hudi 0.14, and the precombine field became
the ordering fields with 1.1. A file for HoodieStreamer also has settings that belong to its command
line or its environment (Kafka's address, the registry, a Hive metastore), which this application
gets in another way. No key is ignored silently: each key that is read in another way has a
sentence, and a key whose meaning is not clear is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["MERGE_MODE", "ORDERING", "ROOT", "TABLE", "TOPIC", "Edit", "Reading", "read_as_today"]

TOPIC = "hoodie.streamer.source.kafka.topic"
"""The key that names the topic from which a table is made."""
ROOT = "hoodie.streamer.source.dfs.root"
"""The key that names the folder of that topic's bronze files."""
TABLE = "hoodie.table.name"
ORDERING = "hoodie.table.ordering.fields"
MERGE_MODE = "hoodie.write.record.merge.mode"
_OFFSET = "__kafka_offset"

_RENAMED = (
    ("hoodie.deltastreamer.keygen.timebased.", "hoodie.keygen.timebased."),
    ("hoodie.deltastreamer.", "hoodie.streamer."),
    ("hoodie.datasource.write.storage.type", "hoodie.datasource.write.table.type"),
    ("hoodie.datasource.write.precombine.field", ORDERING),
    ("hoodie.table.precombine.field", ORDERING),
)
"""Old names or prefixes of keys, with today's."""
_LOG_ORDER = frozenset(
    f"__{name}"
    for name in ("source_ts_ms", "source_ts_us", "source_ts_ns", "ts_ms", "ts_us", "source_lsn")
) | {"__lsn", "__source_pos", "__change_lsn", "__commit_lsn"}
"""Debezium's fields that say when, or where in its log, a change was made."""
_KAFKA = re.compile(
    r"bootstrap\.servers|metadata\.broker\.list|group\.id|client\.id|security\.protocol"
    r"|(sasl|ssl)\..+|(key|value)\.deserializer|enable\.auto\.commit|auto\.commit\..+"
    r"|(request|session)\.timeout\.ms|(fetch|max\.poll)\..+"
)
_SYNC = ("hoodie.datasource.hive_sync.", "hoodie.datasource.meta.sync.", "hoodie.meta.sync.")
_DATABASE = "hoodie.datasource.hive_sync.database"
_SUBJECT = re.compile(r".*/subjects/([^/]+)-value(/.*)?")
_S3 = re.compile(r"s3[an]?://[^/]*/*(.*)")
_MERGE_MODES = ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING")
_PLAIN_PAYLOADS = frozenset(
    {
        "DefaultHoodieRecordPayload",
        "EventTimeAvroPayload",
        "OverwriteWithLatestAvroPayload",
        "MySqlDebeziumAvroPayload",
        "PostgresDebeziumAvroPayload",
    }
)
"""Classes that keep the record with the highest ordering value, or the latest one."""


@dataclass(frozen=True)
class Edit:
    """A change to one key of a file when it is read."""

    becomes: Mapping[str, str]
    """Today's keys with their values; empty if the key is left out."""
    why: str

    def sentence(self, key: str) -> str:
        """Return one line that says how `key` is read."""
        if not self.becomes:
            return f"{key} is left out: {self.why}"
        today = ", ".join(f"{name}={value}" for name, value in self.becomes.items())
        return f"{key} is read as {today}{f': {self.why}' if self.why else ''}"


@dataclass(frozen=True)
class Reading:
    """The properties of one table, with the meaning that they have today."""

    values: dict[str, str]
    edits: dict[str, Edit] = field(default_factory=dict)
    """Edits by the key in the file; keys that are not among them are read unchanged."""
    problems: dict[str, str] = field(default_factory=dict)
    """Problems by key: what is not clear, and what to write."""

    def sentences(self, places: Mapping[str, str]) -> tuple[str, ...]:
        """Return one line per key that is read in another way; `places` has file and line."""
        return tuple(f"{places[key]}: {edit.sentence(key)}" for key, edit in self.edits.items())


class _Unclear(Exception):  # noqa: N818 - a sentence for the user, caught below
    """The meaning of a key is not clear. The message says what to write."""


_Rule = Callable[[str, str], Edit | None]
"""Function that returns the edit for one of today's keys and its value; None: no change."""


def read_as_today(values: Mapping[str, str]) -> Reading:
    """Return the meaning of `values`, which has values by key, today."""
    reading = Reading({})
    hints: dict[str, tuple[str, str]] = {}
    for key, value in values.items():
        today = _today(key)
        try:
            edit = _edit(today, value)
        except _Unclear as unclear:
            reading.problems[key] = str(unclear)
            continue
        if edit is None and today != key:
            edit = Edit({today: value}, "")
        if edit is None:
            reading.values[key] = value
            continue
        reading.edits[key] = edit
        for name, found in edit.becomes.items():
            if _is_hint(today):
                hints[name] = (key, found)
            elif name != key and name in values and values[name] != found:
                reading.problems[key] = (
                    f"it is {name} today, which is there with another value; remove one"
                )
            else:
                reading.values[name] = found
    for name, (key, found) in hints.items():
        if name in reading.values:
            reading.edits[key] = Edit({}, f"{name}={reading.values[name]} is there")
        reading.values.setdefault(name, found)
    return reading


def _today(key: str) -> str:
    for old, new in _RENAMED:
        if key == old or (old.endswith(".") and key.startswith(old)):
            return new + key.removeprefix(old)
    return key


def _is_hint(key: str) -> bool:
    """Return whether a key sets a value only if no other key sets it."""
    return key in ("hoodie.streamer.schemaprovider.registry.url", f"{_SYNC[0]}table")


def _edit(key: str, value: str) -> Edit | None:
    return next((edit for rule in _RULES if (edit := rule(key, value)) is not None), None)


def _ordering(key: str, value: str) -> Edit | None:
    if key != ORDERING or value not in _LOG_ORDER:
        return None
    return Edit(
        {ORDERING: _OFFSET},
        f"{value} ties where changes are made within its unit; offsets have the same order and "
        "never tie",
    )


def _root(key: str, value: str) -> Edit | None:
    if key != ROOT:
        return None
    if found := _S3.fullmatch(value):
        # The default partitioner's folder of one partition: the topic's files are below its parent.
        folder = re.sub(r"/partition=\d+/*$", "", found[1]).strip("/")
        return Edit({ROOT: folder}, "a folder in the bucket that lab.toml names")
    if "://" in value:
        raise _Unclear("bronze is in the lab's bucket; write the folder there: topics/<topic>")
    return None


def _schema(key: str, value: str) -> Edit | None:
    if not key.startswith("hoodie.streamer.schemaprovider."):
        return None
    if key.endswith(".registry.url") and (subject := _SUBJECT.fullmatch(value)):
        return Edit({TOPIC: subject[1]}, "the subject names the topic; schemas are looked up by id")
    return Edit({}, "each record says which schema it has, and the lab's own registry is asked")


def _kafka_source(key: str, value: str) -> Edit | None:
    if key.startswith("hoodie.streamer.kafka.source.") or key in (
        "hoodie.streamer.source.kafka.auto.reset.offsets",
        "hoodie.streamer.source.kafka.enable.commit.offset",
        "hoodie.streamer.source.kafka.enable.failOnDataLoss",
    ):
        return Edit({}, "the application keeps its own offsets, and reads in parts of its own size")
    if key == "hoodie.streamer.source.kafka.value.deserializer.class":
        if "Avro" in value:
            return Edit({}, "Avro is what the application reads")
        raise _Unclear("silver reads Avro alone; have the connector write Avro, and remove the key")
    return None


def _other_streamer(key: str, _value: str) -> Edit | None:
    if not key.startswith("hoodie.streamer.") or key in (TOPIC, ROOT):
        return None
    if key.startswith("hoodie.streamer.ingestion."):
        raise _Unclear(
            "this is a list of tables for the multi-table streamer; here each table has a file of "
            "its own, and all are run: remove this file"
        )
    if key.startswith("hoodie.streamer.transformer."):
        raise _Unclear("rows are not transformed on their way to silver; remove the key")
    raise _Unclear("a setting of HoodieStreamer that this application does not have; remove it")


def _sync(key: str, value: str) -> Edit | None:
    if not key.startswith(_SYNC) or key == _DATABASE:
        return None
    if key == f"{_SYNC[0]}table":
        return Edit({TABLE: value}, "the table's name where it is registered")
    return Edit({}, "there is no Hive metastore here; on AWS `labctl promote` sets up the sync")


def _payload(key: str, value: str) -> Edit | None:
    if key not in (
        "hoodie.compaction.payload.class",
        "hoodie.datasource.write.payload.class",
        "hoodie.payload.ordering.field",
    ):
        return None
    if key.endswith(".field") or value.rpartition(".")[2] in _PLAIN_PAYLOADS:
        return Edit({}, "the record with the highest ordering field is kept in any case")
    raise _Unclear("records are merged by their ordering field alone; remove the key")


def _merge_mode(key: str, value: str) -> Edit | None:
    if key != MERGE_MODE or value in _MERGE_MODES:
        return None
    # With CUSTOM and no class that merges, a table that is written again stays empty.
    raise _Unclear(f"{value} is none of the modes that there are here; write {_MERGE_MODES[0]}")


def _environment(key: str, value: str) -> Edit | None:
    if key == "auto.offset.reset":
        if value in ("earliest", "smallest"):
            return Edit({}, "every topic is read from its first record")
        raise _Unclear("every topic is read from its first record; remove the key")
    if key == "schema.registry.url":
        return Edit({}, "the application is told the registry's address when it is started")
    if _KAFKA.fullmatch(key):
        return Edit({}, "the application is told Kafka's address and login when it is started")
    return None


_RULES: tuple[_Rule, ...] = (
    _ordering,
    _root,
    _schema,
    _kafka_source,
    _other_streamer,
    _sync,
    _payload,
    _merge_mode,
    _environment,
)
"""Rules in their order; the first one that knows the key decides."""
