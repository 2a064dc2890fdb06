"""The table of keys that `relist.py` made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lakehouse.bronze.sink_keys import SINK_CONNECTOR, SINK_KEYS

__all__ = ["SQLSERVER", "KeyTable", "key_table"]

SQLSERVER = "io.debezium.connector.sqlserver.SqlServerConnector"
"""The connector whose keys differ in meaning from those of the others."""
_ALSO = {
    # Their own `config()` leaves these out, though the connector honours and documents them.
    SQLSERVER: {
        "schema.include.list",
        "schema.exclude.list",
    },
}

Keys = dict[str, frozenset[str]]


@dataclass(frozen=True)
class KeyTable:
    """Keys by what has them. Names of classes are Java's."""

    versions: dict[str, str]
    """Of the parts in lock.json that the table was made from."""
    connectors: Keys
    """By the connector's class."""
    drivers: Keys
    """JDBC properties, by the class of the connector that uses the driver."""
    framework: Keys
    """Kafka Connect's own: of `source` and of `sink` connectors."""
    parts: Keys
    """Of transforms, predicates and converters, below the name they are given."""
    clients: Keys
    """Of `producer`, `consumer`, `admin`, and of a `topic`."""

    def side(self, connector: str) -> str:
        """`source` or `sink`."""
        return "sink" if connector == SINK_CONNECTOR else "source"


@cache
def key_table() -> KeyTable:
    """The table that ships with labctl."""
    text = (files("labctl.kafkaconnect.keys") / "keys.json").read_text(encoding="utf-8")
    table = json.loads(text)
    versions = table.pop("versions")
    sections: dict[str, Keys] = {
        section: {name: frozenset(keys) for name, keys in held.items()}
        for section, held in table.items()
    }
    for name, keys in _ALSO.items():
        sections["connectors"][name] |= keys
    sections["connectors"][SINK_CONNECTOR] = SINK_KEYS
    return KeyTable(versions=versions, **sections)
