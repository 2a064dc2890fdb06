"""A second PostgreSQL database of the suite's lab: a source as a user would add one."""

from __future__ import annotations

import json
from pathlib import Path

from labctl.sources import TableRef
from labctl.tables import CONNECTORS, PROPERTIES

__all__ = ["ORDERS", "SOURCE", "TOPIC", "add_second_source"]

SOURCE = "shop"
ORDERS = TableRef("public", "orders")
TOPIC = "eu.shop.public.orders"
"""Of four parts."""
_CONNECTOR = "source_connector_shop"
_LAB_TOML = f"""
[sources.{SOURCE}]
engine = "postgres"
database = "shop"
schemas = ["public"]
connector = "{_CONNECTOR}"
"""


def add_second_source(project: Path) -> None:
    """Write what the source needs into a copy of the project."""
    lab_toml = project / "lab.toml"
    lab_toml.write_text(lab_toml.read_text(encoding="utf-8") + _LAB_TOML, encoding="utf-8")
    first = project / CONNECTORS / "source_connector_postgres_kafka_avro_tickit.json"
    text = first.read_text(encoding="utf-8").replace("demo/postgres:", f"demo/{SOURCE}:")
    config = json.loads(text) | {
        "topic.prefix": "eu.shop",
        "schema.include.list": ORDERS.schema,
        "slot.name": "shop_debezium",
        "publication.name": "shop_debezium",
    }
    (project / CONNECTORS / f"{_CONNECTOR}.json").write_text(json.dumps(config), encoding="utf-8")
    sink = project / CONNECTORS / "sink_connector_kafka_s3_avro_tickit.json"
    config = json.loads(sink.read_text(encoding="utf-8"))
    config["topics.regex"] += r"|eu\.shop\..+"
    sink.write_text(json.dumps(config), encoding="utf-8")
    (project / PROPERTIES / f"{TOPIC}.properties").write_text(
        "include=base.properties\n"
        "hoodie.table.name=orders\n"
        "hoodie.datasource.write.table.type=COPY_ON_WRITE\n"
        "hoodie.datasource.write.recordkey.field=id\n"
        f"hoodie.streamer.source.kafka.topic={TOPIC}\n"
        f"hoodie.streamer.source.dfs.root=topics/{TOPIC}\n",
        encoding="utf-8",
    )
