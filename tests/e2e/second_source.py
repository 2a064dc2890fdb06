"""A second PostgreSQL database of the suite's lab: a source as a user would add one."""

from __future__ import annotations

import json
from pathlib import Path

from labctl.sources import TableRef
from labctl.tables import CONNECTORS, PROPERTIES

__all__ = ["ORDERS", "SILVER", "SOURCE", "TOPIC", "add_second_source"]

SOURCE = "shop"
ORDERS = TableRef("public", "orders")
TOPIC = "eu.shop.public.orders"
"""Of four parts."""
SILVER = {"shop_cow.orders": "COPY_ON_WRITE", "shop_mor.orders": "MERGE_ON_READ"}
"""Two tables of one topic, in partitions by `note`, and their types."""
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
        "notification.sink.topic.name": "notifications.shop",
    }
    (project / CONNECTORS / f"{_CONNECTOR}.json").write_text(json.dumps(config), encoding="utf-8")
    sink = project / CONNECTORS / "sink_connector_kafka_s3_avro_tickit.json"
    config = json.loads(sink.read_text(encoding="utf-8"))
    config["topics.regex"] += r"|eu\.shop\..+"
    sink.write_text(json.dumps(config), encoding="utf-8")
    for silver, table_type in SILVER.items():
        (project / PROPERTIES / f"{silver}.properties").write_text(
            "include=base.properties\n"
            f"hoodie.database.name={silver.partition('.')[0]}\n"
            "hoodie.table.name=orders\n"
            f"hoodie.datasource.write.table.type={table_type}\n"
            "hoodie.datasource.write.recordkey.field=id\n"
            "hoodie.datasource.write.partitionpath.field=note\n"
            "hoodie.datasource.write.keygenerator.class="
            "org.apache.hudi.keygen.SimpleKeyGenerator\n"
            f"hoodie.streamer.source.kafka.topic={TOPIC}\n"
            f"hoodie.streamer.source.dfs.root=topics/{TOPIC}\n",
            encoding="utf-8",
        )
