"""The traits of Debezium's connector for MySQL."""

from __future__ import annotations

import re

from labctl.sources.connector_traits import HISTORY_TOPIC, ConnectorTraits, ValueConverter

__all__ = ["CONNECTOR_TRAITS"]

CONNECTOR_TRAITS = ConnectorTraits(
    own_keys={"database.server.id": None, HISTORY_TOPIC: None},
    converters=(
        ValueConverter(
            "zeros",
            "labctl.ZeroDates",
            "a zero date would arrive as another date, and the year 0 as another year",
            keys={"driver.yearIsDateType": "false"},
        ),
    ),
    dropped_statement=re.compile(
        r"Received DML '(?P<sql>.*?)' for processing, binlog probably contains", re.DOTALL
    ),
    trust=("allowPublicKeyRetrieval", "the driver asks the server for the key of its password"),
)
