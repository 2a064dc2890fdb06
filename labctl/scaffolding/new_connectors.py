"""Connector files for new sources and their sink: labctl's own files, with changed names."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path

from labctl.engine_names import EngineName
from labctl.kafkaconnect.column_filters import COLUMNS_LEFT_OUT
from labctl.kafkaconnect.connector_files import parse_connector
from labctl.kafkaconnect.keys import NOTIFICATIONS, SIGNALS
from labctl.shipped import shipped
from labctl.sources import ENGINES
from labctl.sources.connector_traits import HISTORY_TOPIC
from labctl.tables import CONNECTORS
from lakecontract.references import reference

__all__ = ["SINK", "connector_name", "sink_template", "sink_text", "source_text"]

SINK = "sink_connector_kafka_s3_avro"
"""The connector that writes bronze, if a project has no other."""
_SERVER_IDS = range(200_000, 1_000_000)
"""Ids by which MySQL distinguishes its readers."""


def connector_name(source: str) -> str:
    """Return the name of a source's connector."""
    return f"source_connector_{source}"


def source_text(
    source: str, engine: EngineName, schemas: Sequence[str], *, left_out: Sequence[str] = ()
) -> str:
    """Return the text of a source's connector file. Its topics are `<source>.<schema>.<table>`.

    `left_out` lists expressions for columns that the connector does not write.
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
        HISTORY_TOPIC: f"schema-history.{source}",
        # Each connector of a database has its own signal table.
        SIGNALS: f"{config.get(SIGNALS)}_{source.replace('-', '_')}",
        NOTIFICATIONS: f"notifications.{source}",
        # Leave the database out of SQL Server's topics.
        "transforms.route.regex": (
            rf"{re.escape(source)}[.][^.]+[.]((?:{'|'.join(map(re.escape, schemas))})[.].+)"
        ),
        "transforms.route.replacement": f"{source}.$1",
    }
    config |= {key: value for key, value in changed.items() if key in config}
    # This converter is for TICKIT. A column of the same type may hold numbers besides 0 and 1.
    if "converters" in config:
        config["converters"] = config["converters"].removesuffix(",boolean")
    for key in ("boolean.type", "boolean.selector"):
        config.pop(key, None)
    if left_out:
        config[COLUMNS_LEFT_OUT] = ",".join(left_out)
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def sink_text(prefixes: Collection[str]) -> str:
    """Return the text of the sink connector's file, for topics that begin with these prefixes."""
    text = sink_template().read_text(encoding="utf-8")
    if not prefixes:
        return text
    topics = json.dumps(rf"({'|'.join(sorted(map(re.escape, prefixes)))})\..+")
    return re.sub(r'(?<="topics\.regex": )".*"', lambda _: topics, text)


def sink_template() -> Path:
    """Return labctl's own sink connector file that selects topics by an expression, which a project
    replaces by its own."""
    return next(
        file
        for file in _shipped_files("sink_connector_*.json")
        if "topics.regex" in parse_connector(file).config
    )


def _template(engine: EngineName) -> Path:
    """Return labctl's own connector file for the engine that refers to the secret named after the
    engine, which a project replaces by its own."""
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
    """Return a source's server id: the same in every lab, and rarely that of another source."""
    return _SERVER_IDS[zlib.crc32(source.encode()) % len(_SERVER_IDS)]
