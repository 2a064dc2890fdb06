"""Connector files for new sources and their sink: labctl's own, with other names in them."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path

from labctl.config.model import SourceEngine
from labctl.kafkaconnect.files import parse_connector
from labctl.kafkaconnect.keys import NOTIFICATIONS, SIGNALS
from labctl.shipped import shipped
from labctl.sources import ENGINES
from labctl.sources.column_filters import COLUMNS_LEFT_OUT
from labctl.tables import CONNECTORS
from lakehouse.references import reference

__all__ = ["SINK", "connector_name", "sink_template", "sink_text", "source_text"]

SINK = "sink_connector_kafka_s3_avro"
"""The connector that writes bronze, where a project has no other."""
_SERVER_IDS = range(200_000, 1_000_000)
"""What MySQL tells its readers apart by."""


def connector_name(source: str) -> str:
    """What the connector of a source is called."""
    return f"source_connector_{source}"


def source_text(
    source: str, engine: SourceEngine, schemas: Sequence[str], *, left_out: Sequence[str] = ()
) -> str:
    """The file of a source's connector. Its topics are `<source>.<schema>.<table>`.

    `left_out` are expressions of columns that it does not write.
    """
    config = dict(parse_connector(_template(engine)).config)
    secret = f"demo/{ENGINES[engine].reference}:"
    config = {key: value.replace(secret, f"demo/{source}:") for key, value in config.items()}
    own_name = f"{source.replace('-', '_')}_debezium"
    changed = {
        "topic.prefix": source,
        "schema.include.list": ",".join(schemas),
        "database.include.list": ",".join(schemas),
        "slot.name": own_name,
        "publication.name": own_name,
        "database.server.id": str(_server_id(source)),
        "schema.history.internal.kafka.topic": f"schema-history.{source}",
        # Several connectors of a database have a signal table each.
        SIGNALS: f"{config.get(SIGNALS)}_{source.replace('-', '_')}",
        NOTIFICATIONS: f"notifications.{source}",
        # The database is left out of SQL Server's topics.
        "transforms.route.regex": (
            rf"{re.escape(source)}[.][^.]+[.]((?:{'|'.join(map(re.escape, schemas))})[.].+)"
        ),
        "transforms.route.replacement": f"{source}.$1",
    }
    config |= {key: value for key, value in changed.items() if key in config}
    # TICKIT's. A column of the same type may hold other numbers than 0 and 1.
    if "converters" in config:
        config["converters"] = config["converters"].removesuffix(",boolean")
    for key in ("boolean.type", "boolean.selector"):
        config.pop(key, None)
    if left_out:
        config[COLUMNS_LEFT_OUT] = ",".join(left_out)
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def sink_text(prefixes: Collection[str]) -> str:
    """The file of the sink connector, for topics that begin with these prefixes."""
    text = sink_template().read_text(encoding="utf-8")
    if not prefixes:
        return text
    topics = json.dumps(rf"({'|'.join(sorted(map(re.escape, prefixes)))})\..+")
    return re.sub(r'(?<="topics\.regex": )".*"', lambda _: topics, text)


def sink_template() -> Path:
    """The sink connector's file that labctl comes with: the one that takes topics by an expression,
    where a project's own is put."""
    return next(
        file
        for file in _shipped_files("sink_connector_*.json")
        if "topics.regex" in parse_connector(file).config
    )


def _template(engine: SourceEngine) -> Path:
    """The engine's connector file that labctl comes with: the one that refers to the secret which
    is called as the engine, where a project's own is put."""
    its = {
        "connector.class": ENGINES[engine].connector_class,
        "database.hostname": reference(f"demo/{ENGINES[engine].reference}", "hostname"),
    }
    return next(
        file
        for file in _shipped_files("source_connector_*.json")
        if its.items() <= parse_connector(file).config.items()
    )


def _shipped_files(pattern: str) -> list[Path]:
    return sorted(shipped(str(CONNECTORS)).glob(pattern))


def _server_id(source: str) -> int:
    """The same for a source in every lab, and hardly another one's."""
    return _SERVER_IDS[zlib.crc32(source.encode()) % len(_SERVER_IDS)]
