"""The traits of an engine's Debezium connector that are not the same for all engines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["HISTORY_TOPIC", "ConnectorTraits", "ValueConverter"]

HISTORY_TOPIC = "schema.history.internal.kafka.topic"
"""Connector key that names the topic of its schema history."""


@dataclass(frozen=True)
class ValueConverter:
    """A converter of labctl's, without which Debezium would send some values wrongly."""

    alias: str
    kind: str
    """Its class."""
    without: str
    """Description of the values without the converter."""
    setting: str | None = None
    """The setting that determines Debezium's form of such values."""
    forms: frozenset[str] = frozenset()
    """The values of `setting` whose form the converter writes, among them Debezium's default."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Other keys that the converter needs."""
    told: tuple[str, str] = ("", "")
    """A connector setting and its default; the converter needs a copy of any other value."""

    def applies(self, config: Mapping[str, str]) -> bool:
        """Return whether the converter fits the configuration's form of values."""
        if self.setting is None or self.setting not in config:
            return True
        return config[self.setting].strip().lower() in self.forms


@dataclass(frozen=True)
class ConnectorTraits:
    """An engine's connector."""

    database_key: str | None = None
    """Key that names the database; None if the connector's schemas are databases."""
    own_keys: Mapping[str, str | None] = field(default_factory=dict)
    """Keys whose values two connectors of the engine must not share, with Debezium's defaults."""
    unlisted_keys: frozenset[str] = frozenset()
    """Keys that the connector honours and documents, although its class does not list them."""
    converters: tuple[ValueConverter, ...] = ()
    sees_truncate: bool = True
    """True if a captured table can be truncated."""
    names_read_as_bytes: bool = False
    """True if it reads each byte of a column's name in the log as a character."""
    refuses_case_twins: bool = False
    """True if it fails for columns whose names differ in case only, even if one is left out."""
    keeps_history: bool = True
    """True if it keeps the history of the schema in a topic."""
    trust: tuple[str, str] | None = None
    """Property with which its driver trusts the lab's server, and the reason; None if it does."""
    replaced: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    """Keys with a value that a lab does not support and that is the default: that value, the one
    to write, and the reason."""
    dropped_statement: re.Pattern[str] | None = None
    """Text of Kafka Connect's log about a statement, its group `sql`, that the connector dropped
    because the database had not logged it as rows; None if that cannot happen."""
    passing_errors: tuple[str, ...] = ()
    """First words of the errors of a server that is starting, stopping or out of reach."""
