"""The topic of a table's changes: Debezium's naming, followed by the connector's transforms."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["table_of", "topic_of"]

_ROUTERS = {
    "org.apache.kafka.connect.transforms.RegexRouter": ("regex", "replacement"),
    "io.debezium.transforms.ByLogicalTableRouter": ("topic.regex", "topic.replacement"),
}
"""Transforms that rename topics, with the keys of their pattern and replacement."""
_ANY_TABLE = "labctl_any_table"
"""Placeholder for a table's name. A table that really has this name is found like any other."""


def topic_of(
    config: Mapping[str, str], schema: str, table: str, *, database: str | None = None
) -> str:
    """Return the topic of `schema.table`. For SQL Server, `database` precedes the schema."""
    delimiter = config.get("topic.delimiter", ".")
    parts = [config.get("topic.prefix", ""), *([database] if database else []), schema, table]
    return _routed(config, delimiter.join(parts))


def table_of(
    config: Mapping[str, str], topic: str, schema: str, *, database: str | None = None
) -> str | None:
    """Return the table of `schema` whose changes are in `topic`; None if it is not of that schema.

    A table is not found if the connector's transforms change the form of its name.
    """
    before, found, behind = topic_of(config, schema, _ANY_TABLE, database=database).partition(
        _ANY_TABLE
    )
    if not found or not (topic.startswith(before) and topic.endswith(behind)):
        return None
    table = topic[len(before) : len(topic) - len(behind)]
    if not table or topic_of(config, schema, table, database=database) != topic:
        return None
    return table


def _routed(config: Mapping[str, str], topic: str) -> str:
    for name in filter(None, map(str.strip, config.get("transforms", "").split(","))):
        keys = _ROUTERS.get(config.get(f"transforms.{name}.type", ""))
        if keys is None:
            continue
        pattern, replacement = (config.get(f"transforms.{name}.{key}", "") for key in keys)
        try:
            match = re.fullmatch(pattern, topic)
            if match is not None:
                topic = match.expand(re.sub(r"\$(\d)", r"\\g<\1>", replacement))
        except (re.error, IndexError):
            # The pattern may be valid only in Java; Connect checks it.
            continue
    return topic
