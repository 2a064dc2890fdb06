"""The keys by which a connector can be asked to load rows again, and says how far it is."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.kafkaconnect.keys.lists import names
from labctl.kafkaconnect.keys.table import SQLSERVER

__all__ = ["NOTIFICATIONS", "SIGNALS", "missing_signals"]

SIGNALS = "signal.data.collection"
"""Names the table that the connector takes signals from."""
NOTIFICATIONS = "notification.sink.topic.name"
"""Names the topic that it writes its progress to."""
_CHANNELS = "notification.enabled.channels"


def missing_signals(config: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that a source connector's file lacks, with values that labctl can serve."""
    own = config.get("topic.prefix", "source")
    database = config.get("database.names", "") if config["connector.class"] == SQLSERVER else ""
    signal = f"{database}.labctl.signal" if database else "labctl.signal"
    wanted = {SIGNALS: signal, _CHANNELS: "sink", NOTIFICATIONS: f"notifications.{own}"}
    found = {key: value for key, value in wanted.items() if key not in config}
    if "sink" not in (channels := names(config.get(_CHANNELS))):
        found[_CHANNELS] = ",".join([*channels, "sink"])
    return found
