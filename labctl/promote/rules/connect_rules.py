"""Rules for MSK Connect: versions, capacity, worker configuration, plugins."""

# ruff: noqa: SIM905 - lists as the developer guide has them, not one name per line

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from labctl.kafkaconnect.keys import wrong_keys
from labctl.promote.msk_connectors import worker_properties
from labctl.promote.rules.rule import Finding, Subject, rule
from labctl.services.connect_service import WORKER_FILE
from labctl.services.kafka_service import MESSAGE_BYTES
from labctl.sources import ENGINES

__all__: list[str] = []

JAVA_OF = {"2.7.1": 11, "3.7.x": 17}
"""Java version of each Kafka Connect that MSK Connect offers, from its developer guide."""
UNITS = (1, 2, 4, 8)
MOST_WORKERS = 10

ALLOWED_PRODUCER = frozenset(
    """
    acks batch.size buffer.memory compression.type enable.idempotence key.serializer linger.ms
    max.request.size metadata.max.age.ms metadata.max.idle.ms partitioner.class
    reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retry.backoff.ms
    value.serializer
    """.split()
)
ALLOWED_CONSUMER = frozenset(
    """
    allow.auto.create.topics auto.offset.reset check.crcs fetch.max.bytes fetch.max.wait.ms
    fetch.min.bytes heartbeat.interval.ms key.deserializer max.partition.fetch.bytes
    max.poll.interval.ms max.poll.records metadata.max.age.ms partition.assignment.strategy
    reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retry.backoff.ms
    session.timeout.ms value.deserializer
    """.split()
)
REFUSED_PREFIXES = tuple(
    """
    access.control. admin. client. connect. inter.worker. internal. listeners.https. metrics.
    rest. sasl. security. socket. ssl. topic.tracking. worker.
    """.split()
)
REFUSED = frozenset(
    """
    bootstrap.servers config.storage.topic connections.max.idle.ms
    connector.client.config.override.policy group.id listeners metric.reporters plugin.path
    receive.buffer.bytes response.http.headers.config scheduled.rebalance.max.delay.ms
    send.buffer.bytes status.storage.topic
    """.split()
)
"""From MSK's developer guide, "Supported worker configuration properties"."""


@rule
def connect_version(subject: Subject) -> Iterator[Finding]:
    """Check that MSK Connect offers the version, and that Debezium 3 gets Java 17."""
    version = subject.promotion.profile.connect.version
    if version not in JAVA_OF:
        yield subject.profile(
            "connect.version",
            f"MSK Connect has no version {version!r}",
            f"use one of {', '.join(JAVA_OF)}",
        )
        return
    for connector in subject.promotion.connectors:
        if connector.engine is None:
            continue
        debezium = subject.promotion.lock.artifacts[ENGINES[connector.engine].plugin].version
        if int(debezium.split(".")[0]) >= 3 and JAVA_OF[version] < 17:
            yield subject.profile(
                "connect.version",
                f"{connector.name} is Debezium {debezium}, which needs Java 17; "
                f"{version} runs Java {JAVA_OF[version]}",
                "use 3.7.x",
            )
            return


@rule
def connect_capacity(subject: Subject) -> Iterator[Finding]:
    """Check that there is exactly one kind of capacity, within the limits of the service."""
    connect = subject.promotion.profile.connect
    if connect.mcu not in UNITS:
        yield subject.profile(
            "connect.mcu",
            f"a worker cannot have {connect.mcu} units",
            f"use one of {', '.join(map(str, UNITS))}",
        )
    scaling = connect.autoscaling
    if (scaling is None) == (connect.workers is None):
        yield subject.profile(
            "connect.workers",
            "capacity is either a number of workers or autoscaling",
            "give exactly one of connect.workers and connect.autoscaling",
        )
    most = scaling.max_workers if scaling else connect.workers or 1
    if most > MOST_WORKERS:
        yield subject.profile(
            "connect.autoscaling.max_workers" if scaling else "connect.workers",
            f"a connector has {MOST_WORKERS} workers at most, not {most}",
            f"use {MOST_WORKERS} or fewer",
        )
    if scaling and scaling.min_workers > scaling.max_workers:
        yield subject.profile(
            "connect.autoscaling.min_workers",
            f"the least ({scaling.min_workers}) is above the most ({scaling.max_workers})",
            "make min_workers at most max_workers",
        )
    if scaling and scaling.scale_in_percent >= scaling.scale_out_percent:
        yield subject.profile(
            "connect.autoscaling.scale_in_percent",
            f"workers would be removed at {scaling.scale_in_percent} % CPU and added at "
            f"{scaling.scale_out_percent} %",
            "make scale_in_percent less than scale_out_percent",
        )


@rule
def worker_configuration(subject: Subject) -> Iterator[Finding]:
    """Check for required properties and for those that MSK Connect refuses or does not allow."""
    for connector in subject.promotion.connectors[:1]:
        properties = worker_properties(subject.promotion, connector)
        for needed in ("key.converter", "value.converter"):
            if needed not in properties:
                yield Finding(WORKER_FILE, needed, "MSK Connect requires it", "add it to the file")
        for key in properties:
            head, _, rest = key.partition(".")
            allowed = {"producer": ALLOWED_PRODUCER, "consumer": ALLOWED_CONSUMER}.get(head)
            refused = key in REFUSED or key.startswith(REFUSED_PREFIXES)
            if refused or (allowed is not None and rest not in allowed):
                yield Finding(
                    WORKER_FILE,
                    key,
                    "MSK Connect refuses it in a worker configuration",
                    "remove it from the shared file; what only the lab needs is set by its service",
                )


@rule
def message_size(subject: Subject) -> Iterator[Finding]:
    """Check that a worker sends no message larger than the brokers accept."""
    key = "producer.max.request.size"
    size = subject.promotion.worker.get(key, "1048576")
    if not size.isdecimal() or int(size) > MESSAGE_BYTES:
        yield Finding(
            WORKER_FILE,
            key,
            f"the brokers take messages of {MESSAGE_BYTES} bytes at most, not {size}",
            f"use {MESSAGE_BYTES} or less",
        )


@rule
def config_provider(subject: Subject) -> Iterator[Finding]:
    """Check that the provider (and sink) files exist and have the profile's checksums."""
    connect = subject.promotion.profile.connect
    named = [("provider", connect.provider.file, connect.provider.sha256)]
    if connect.sink:
        named.append(("sink", connect.sink.file, connect.sink.sha256))
    for section, name, wanted in named:
        path = subject.promotion.project / name
        if path.suffix not in (".zip", ".jar"):
            yield subject.profile(
                f"connect.{section}.file", f"{name} is neither a jar nor a ZIP", "give one of them"
            )
        elif not path.is_file():
            if subject.plan.complete:
                yield subject.profile(
                    f"connect.{section}.file",
                    f"there is no file {name} in the project",
                    "fetch it from its own project (docs/aws.md), or plan --without-artifacts",
                )
        elif wanted and hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
            yield subject.profile(
                f"connect.{section}.sha256",
                f"{name} has another checksum",
                "fetch the file again, or correct the checksum",
            )


@rule
def registered_converters(subject: Subject) -> Iterator[Finding]:
    """Check the converters: a connector that names one outside its plugin would not start."""
    ours = "io.apicurio.registry.utils.converter.AvroConverter"
    for connector in subject.promotion.connectors:
        for key in ("key.converter", "value.converter"):
            named = connector.file.config.get(key, ours)
            if named != ours and not named.startswith("org.apache.kafka.connect."):
                yield Finding(
                    f"connectors/{connector.file.path.name}",
                    key,
                    f"{named} is not in the connector's plugin",
                    f"use {ours}, or one that Kafka Connect brings",
                )


@rule
def connector_keys(subject: Subject) -> Iterator[Finding]:
    """Check for keys that no plugin reads: they have no effect, and AWS does not report them."""
    allowed = subject.promotion.config.connectors.allow
    for connector in subject.promotion.connectors:
        for problem in wrong_keys(connector.file.config, allowed):
            key, _, reason = problem.partition(": ")
            yield Finding(
                f"connectors/{connector.file.path.name}",
                key,
                reason,
                "correct it, or list the key in lab.toml: [connectors] allow",
            )
