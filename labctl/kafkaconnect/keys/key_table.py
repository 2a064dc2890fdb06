"""The table of keys that `relist.py` generated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from labctl.sources.engine_registry import ENGINES
from lakecontract.sink_keys import SINK_CONNECTOR, SINK_KEYS

__all__ = ["KeyTable", "key_table"]


Keys = dict[str, frozenset[str]]


@dataclass(frozen=True)
class KeyTable:
    """Keys, by the plugin that has them. Class names are Java's."""

    versions: dict[str, str]
    """Versions of the artefacts in lock.json from which the table was made."""
    connectors: Keys
    """Keys of connectors, by class."""
    drivers: Keys
    """JDBC properties of drivers, by the class of the connector that uses the driver."""
    framework: Keys
    """Kafka Connect's own keys, for `source` and for `sink` connectors."""
    parts: Keys
    """Keys of transforms, predicates and converters, by class, relative to their alias."""
    clients: Keys
    """Keys of `producer`, `consumer`, `admin`, and of a `topic`."""

    def side(self, connector: str) -> str:
        """Return `source` or `sink`."""
        return "sink" if connector == SINK_CONNECTOR else "source"


@cache
def key_table() -> KeyTable:
    """Return the table that ships with labctl."""
    text = (files("labctl.kafkaconnect.keys") / "keys.json").read_text(encoding="utf-8")
    table = json.loads(text)
    versions = table.pop("versions")
    sections: dict[str, Keys] = {
        section: {name: frozenset(keys) for name, keys in held.items()}
        for section, held in table.items()
    }
    for engine in ENGINES.values():
        sections["connectors"][engine.connector_class] |= engine.connector.unlisted_keys
    sections["connectors"][SINK_CONNECTOR] = SINK_KEYS
    return KeyTable(versions=versions, **sections)
