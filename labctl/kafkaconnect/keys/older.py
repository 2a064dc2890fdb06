"""Conversion of configurations for older versions of Debezium to current keys and values.

Only keys and values with a clear meaning are converted; `check.py` refuses the others and says what
to write. The facts come from comparing the fields of Debezium 1.4, 1.9, 2.1 and 2.7 with 3.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from labctl.kafkaconnect.keys.check import known_keys
from labctl.kafkaconnect.keys.key_table import key_table
from labctl.kafkaconnect.keys.lists import names
from labctl.kafkaconnect.keys.renamed import names_databases, renamed

__all__ = ["Today", "as_today"]

_UNWRAP = "io.debezium.transforms.ExtractNewRecordState"
_ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
_ROUTE = "route"

_CLASSES = {
    "io.debezium.transforms.UnwrapFromEnvelope": _UNWRAP,
    "io.debezium.relational.history.KafkaDatabaseHistory": (
        "io.debezium.storage.kafka.history.KafkaSchemaHistory"
    ),
    "io.debezium.relational.history.FileDatabaseHistory": (
        "io.debezium.storage.file.history.FileSchemaHistory"
    ),
    "io.debezium.relational.history.MemoryDatabaseHistory": (
        "io.debezium.relational.history.MemorySchemaHistory"
    ),
}
"""Current names of classes that have moved."""
_VALUES: Mapping[str, Mapping[str, str]] = {
    "snapshot.mode": {
        "schema_only": "no_data",
        "schema_only_recovery": "recovery",
        "exported": "initial",
        "initial_schema_only": "no_data",
    },
    "plugin.name": dict.fromkeys(
        ("wal2json", "wal2json_streaming", "wal2json_rds", "wal2json_rds_streaming"), "pgoutput"
    ),
}
"""Current values by key and former value: renamed, or replaced by one with the same effect."""
_MEANINGS: Mapping[str, Mapping[str, str]] = {
    "sanitize.field.names": {"true": "avro", "false": "none"},
    "truncate.handling.mode": {"skip": "t", "include": "none"},
}
"""Values under the new key, by former key and value."""
_GONE = {
    "snapshot.new.tables": "Debezium loads a table that is new by an incremental snapshot",
    "gtid.new.channel.position": "Debezium always begins a new channel at its first change",
    "source.struct.version": "there is one form of the source's fields",
    "streaming.lsn.optimization": "Debezium always does so",
}
"""Keys that no connector has any more, and why removing them changes nothing."""
_DELETES = ("delete.handling.mode", "drop.tombstones")
_DELETES_TODAY = "delete.tombstone.handling.mode"
_REWRITE = {"true": "rewrite", "false": "rewrite-with-tombstone"}
"""Current form of `delete.handling.mode=rewrite`, by the value of `drop.tombstones`."""


@dataclass(frozen=True)
class Today:
    """A configuration in current keys and values."""

    config: dict[str, str]
    edits: dict[str, str]
    """A sentence per changed key, by the key in the file; it contains no secret value."""
    problems: dict[str, str]
    """Reason why a key cannot be converted and what to write, by key."""


def as_today(config: Mapping[str, str]) -> Today:
    """Convert `config` to current keys and values; do not change sinks or unknown connectors."""
    table = key_table()
    connector = config.get("connector.class", "")
    today = Today({}, {}, {})
    if connector not in table.connectors or table.side(connector) == "sink":
        today.config.update(config)
        return today
    moved = {key: _CLASSES.get(value, value) for key, value in config.items()}
    known = known_keys(moved)
    for key, value in moved.items():
        if value != config[key]:
            today.edits[key] = f"{key}: {config[key]} is {value} today"
        if key in known:
            _keep(today, key, value)
        elif key in _GONE:
            today.edits[key] = f"{key} is left out: {_GONE[key]}"
        elif not _is_of_deletes(key):
            _rename(today, moved, key, value, renamed(key, known.keys, connector))
    _deletes(today, moved)
    if names_databases(connector) and "database.dbname" in config:
        _one_database(today)
    return today


def _keep(today: Today, key: str, value: str) -> None:
    new = _VALUES.get(key, {}).get(value, value)
    if new != value:
        today.edits[key] = f"{key}={value} is {key}={new} today"
    today.config[key] = new


def _rename(today: Today, config: Mapping[str, str], key: str, value: str, new: str | None) -> None:
    if new is None:
        today.config[key] = value
        return
    value = _MEANINGS.get(key, {}).get(value, value)
    there = config.get(new, today.config.get(new))
    if there is not None and there != value:
        today.problems[key] = f"it is {new} today, which is there with another value; remove one"
    elif there is not None:
        today.edits[key] = f"{key} is left out: it is {new} today, which says the same"
    else:
        today.edits[key] = f"{key} is {new} today"
        today.config[new] = value


def _is_of_deletes(key: str) -> bool:
    return key.startswith("transforms.") and key.endswith(tuple(f".{part}" for part in _DELETES))


def _deletes(today: Today, config: Mapping[str, str]) -> None:
    """Convert each transform's `delete.handling.mode` and `drop.tombstones`, one key since 2.5."""
    for alias in names(config.get("transforms")):
        mode, drop = (f"transforms.{alias}.{part}" for part in _DELETES)
        new = f"transforms.{alias}.{_DELETES_TODAY}"
        old = [key for key in (mode, drop) if key in config]
        meant = _REWRITE.get(config.get(drop, "true"))
        if not old:
            continue
        if config.get(mode) == "rewrite" and meant and config.get(new, meant) == meant:
            said = f"{' and '.join(old)} are {new}={meant} today"
            today.edits.update(dict.fromkeys(old, said))
            today.config[new] = meant
        else:
            why = f'it is {new} today, alone; write "{new}": "rewrite"'
            today.problems.update(dict.fromkeys(old, why))


def _one_database(today: Today) -> None:
    """Add a transform that removes the database from SQL Server's topics, as before 2.0."""
    prefix = today.config.get("topic.prefix")
    transforms = names(today.config.get("transforms"))
    if prefix is None or _ROUTE in transforms:
        return
    today.config["transforms"] = ",".join([*transforms, _ROUTE])
    today.config[f"transforms.{_ROUTE}.type"] = _ROUTER
    today.config[f"transforms.{_ROUTE}.regex"] = f"{re.escape(prefix)}[.][^.]+[.](.+[.].+)"
    today.config[f"transforms.{_ROUTE}.replacement"] = f"{prefix}.$1"
    today.edits["database.dbname"] = (
        "database.dbname is database.names today, and topics have the database in their names; "
        f"the transform {_ROUTE} leaves it out, so that they are called {prefix}.<schema>.<table> "
        "as before"
    )
