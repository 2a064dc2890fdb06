"""The S3 sink connector's configuration keys.

Confluent's connector is in no package registry, so the plugin cannot be asked for its keys. These
are the keys in its documentation and in the configuration classes of its source
(kafka-connect-storage-cloud and -common).
"""

from __future__ import annotations

__all__ = ["SINK_CONNECTOR", "SINK_KEYS"]

SINK_CONNECTOR = "io.confluent.connect.s3.S3SinkConnector"

SINK_KEYS = frozenset(
    {
        # Destination and credentials.
        "aws.access.key.id",
        "aws.secret.access.key",
        "s3.acl.canned",
        "s3.bucket.name",
        "s3.credentials.provider.class",
        "s3.object.behavior.on.tagging.error",
        "s3.object.tagging",
        "s3.object.tagging.key.value.pairs",
        "s3.path.style.access.enabled",
        "s3.proxy.password",
        "s3.proxy.url",
        "s3.proxy.user",
        "s3.region",
        "s3.sse.customer.key",
        "s3.sse.kms.key.id",
        "s3.ssea.name",
        "s3.wan.mode",
        "storage.class",
        "store.url",
        "topics.dir",
        # Writing.
        "enable.conditional.writes",
        "max.files.scan.limit",
        "max.write.duration.ms",
        "retry.backoff.ms",
        "s3.elastic.buffer.enable",
        "s3.elastic.buffer.init.capacity",
        "s3.http.send.expect.continue",
        "s3.part.retries",
        "s3.part.size",
        "s3.retry.backoff.ms",
        "s3.send.digest",
        "schema.cache.size",
        "shutdown.timeout.ms",
        # Contents of a file.
        "allow.optional.map.keys",
        "avro.codec",
        "behavior.on.null.values",
        "connect.meta.data",
        "enhanced.avro.schema.support",
        "flush.size",
        "format.bytearray.extension",
        "format.bytearray.separator",
        "format.class",
        "headers.format.class",
        "json.decimal.format",
        "keys.format.class",
        "parquet.codec",
        "report.null.values.to.dlq",
        "rotate.file.on.partition.change",
        "rotate.interval.ms",
        "rotate.schedule.interval.ms",
        "s3.compression.level",
        "s3.compression.type",
        "schema.compatibility",
        "store.kafka.headers",
        "store.kafka.keys",
        "tombstone.encoded.partition",
        # Names of files.
        "directory.delim",
        "file.delim",
        "filename.offset.zero.pad.width",
        "locale",
        "partition.duration.ms",
        "partition.field.name",
        "partitioner.class",
        "partitioner.max.open.files",
        "path.format",
        "s3.schema.partition.affix.type",
        "timestamp.extractor",
        "timestamp.field",
        "timezone",
    }
)
