"""The configuration keys that the plugins know, and the keys that a file must have.

Kafka Connect itself accepts any key: a misspelt key, or one of an older Debezium, simply has no
effect. `relist.py` makes `keys.json` from the plugins. The S3 sink connector's keys are those of
its documentation, because the connector is in no package registry.
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
