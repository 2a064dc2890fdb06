"""The columns of captured tables as Debezium knows them, from the topic of its schema history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from labctl.errors import LabError
from labctl.kafka.topic_messages import messages_of, offset_bounds, topic_consumer
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.lab import Lab
from labctl.sources import TableRef
from labctl.sources.connector_traits import HISTORY_TOPIC

__all__ = ["known_charsets", "last_charsets"]


def known_charsets(
    lab: Lab, file: ConnectorFile, refs: Iterable[TableRef]
) -> Mapping[TableRef, Mapping[str, str]]:
    """Return the character sets by which a connector reads columns, by table and column.

    Tables and columns that it does not know yet are left out, as is a topic that does not exist.
    """
    try:
        with topic_consumer(lab.endpoints.kafka) as consumer:
            topic = file.config.get(HISTORY_TOPIC, "")
            ranges = offset_bounds(consumer, topic)
            values = [message.value() for message in messages_of(consumer, topic, ranges)]
    except LabError:
        return {}
    return last_charsets(map(_entry, values), refs)


def last_charsets(
    history: Iterable[Any], refs: Iterable[TableRef]
) -> Mapping[TableRef, Mapping[str, str]]:
    """Return the character sets of the tables' columns after the last change in `history`."""
    last: dict[str, Mapping[str, str]] = {}
    for entry in history:
        for change in entry.get("tableChanges", ()) if isinstance(entry, Mapping) else ():
            columns = (change.get("table") or {}).get("columns", ())
            last[change["id"]] = {
                column["name"]: column["charsetName"]
                for column in columns
                if column.get("charsetName")
            }
    return {ref: last[_identifier(ref)] for ref in refs if last.get(_identifier(ref))}


def _entry(value: bytes | None) -> Any:
    """Return an entry of the history, or None for a record of somebody else's."""
    try:
        return json.loads(value or b"null")
    except ValueError:
        return None


def _identifier(ref: TableRef) -> str:
    """Return a table's name as Debezium writes it in its history."""
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in (ref.schema, ref.name))
