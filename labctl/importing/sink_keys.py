"""The keys that the S3 sink connector's file needs in a lab."""

from __future__ import annotations

from labctl.importing.edits import Edits
from labctl.importing.registry_keys import use_registry
from lakecontract.references import reference

__all__ = ["complete_sink"]

_STORE = "demo/objectstore"
_REFERENCES = {
    "store.url": "url",
    "s3.region": "region",
    "s3.bucket.name": "bucket",
    "aws.access.key.id": "access.key",
    "aws.secret.access.key": "secret.key",
}
"""Keys of the object store's secret, by the connector's keys."""
_UNREAD = {
    "table.name.format": "the JDBC sink connector has it, this one reads it nowhere",
    "schema.generator.class": "it is of the Hive integration, which the S3 connector does not have",
    "hive.integration": "it is of the HDFS connector",
}
_POSITION = {
    "transforms": "position",
    "transforms.position.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.position.partition.field": "__kafka_partition!",
    "transforms.position.offset.field": "__kafka_offset!",
    "transforms.position.timestamp.field": "__kafka_timestamp!",
}
"""Transform that adds a record's position in its topic, by which a rebuild of silver orders
changes."""
_DEFAULTS = {
    "topics.dir": "topics",
    "timezone": "UTC",
    "schema.compatibility": "NONE",
    "behavior.on.null.values": "ignore",
    "flush.size": "10000",
}


def complete_sink(edits: Edits) -> None:
    """Set the addresses of the lab's services, and the other keys that bronze needs."""
    for key, why in _UNREAD.items():
        edits.remove(key, why)
    store = {key: reference(_STORE, name) for key, name in _REFERENCES.items()}
    edits.set_all(store, f"they refer to {_STORE}, the lab's own")
    for key in ("s3.proxy.url", "s3.credentials.provider.class"):
        edits.remove(key, "the lab's object store is reached directly, with its own key")
    use_registry(edits)
    for key, value in _DEFAULTS.items():
        if key not in edits.config:
            edits.set(key, value, "so it is said, whatever the connector's default")
    if edits.config.get("timestamp.extractor") != "Record":
        edits.set(
            "timestamp.extractor",
            "Record",
            "a file's day is that of its records, so that writing it again changes nothing",
        )
    edits.set(
        "rotate.schedule.interval.ms",
        reference(_STORE, "rotate.schedule.interval.ms"),
        "a lab shows changes at once, AWS by its profile's rotation_ms",
    )
    if "transforms" not in edits.config:
        edits.set_all(_POSITION, "where a record was in its topic, for `labctl table rebuild`")
