"""The keys with which a connector accepts requests to load rows again and reports its progress."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.kafkaconnect.keys.lists import names
from labctl.sources.engine_registry import engine_of_connector

__all__ = ["NOTIFICATIONS", "SIGNALS", "missing_signals"]

SIGNALS = "signal.data.collection"
"""Key that names the table from which the connector reads signals."""
NOTIFICATIONS = "notification.sink.topic.name"
"""Key that names the topic to which the connector writes its progress."""
_CHANNELS = "notification.enabled.channels"


def missing_signals(config: Mapping[str, str]) -> dict[str, str]:
    """Return the signal keys that a source connector's file lacks, with values labctl supports."""
    own = config.get("topic.prefix", "source")
    engine = engine_of_connector(config["connector.class"])
    is_named = engine is not None and engine.database_in_topic
    database = config.get("database.names", "") if is_named else ""
    signal = f"{database}.labctl.signal" if database else "labctl.signal"
    wanted = {SIGNALS: signal, _CHANNELS: "sink", NOTIFICATIONS: f"notifications.{own}"}
    found = {key: value for key, value in wanted.items() if key not in config}
    if "sink" not in (channels := names(config.get(_CHANNELS))):
        found[_CHANNELS] = ",".join([*channels, "sink"])
    return found
