"""Which configuration keys the plugins know, and what else a file must hold.

Kafka Connect itself takes any key: one that is misspelt, or that an older Debezium had, is simply
without effect. `keys.json` is made from the plugins (`relist.py`); the S3 sink connector's keys are
those its documentation lists, because the connector is in no package registry.
"""

from __future__ import annotations

from labctl.kafkaconnect.keys.check import (
    history_login,
    null_keys,
    unwrapping,
    wrong_keys,
)
from labctl.kafkaconnect.keys.converters import converter_keys
from labctl.kafkaconnect.keys.older import as_today
from labctl.kafkaconnect.keys.signals import NOTIFICATIONS, SIGNALS, missing_signals
from labctl.kafkaconnect.keys.truncates import missing_truncates, truncate_keys

__all__ = [
    "NOTIFICATIONS",
    "SIGNALS",
    "as_today",
    "converter_keys",
    "history_login",
    "missing_signals",
    "missing_truncates",
    "null_keys",
    "truncate_keys",
    "unwrapping",
    "wrong_keys",
]
