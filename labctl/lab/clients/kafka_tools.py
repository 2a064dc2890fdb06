"""Kafka's command line tools: classes in its jars, given the lab's address and login."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from labctl.artifacts import Progress
from labctl.errors import ExitCode, LabError
from labctl.jvm_flags import FIRST_TIER
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.clients.client_programs import Program
from labctl.lab.lab import Lab
from labctl.services.jvm import FLAGS, LOG4J
from labctl.state.lab_secrets import properties_text
from labctl.state.lab_state import write_private

__all__ = ["KAFKA_TOOLS", "KafkaTool", "kafka_tool"]

_HEAP = "-Xmx256m"


class KafkaTool(NamedTuple):
    """A tool, and its options for the address of Kafka and the client's settings."""

    class_name: str
    config_option: str | None = "--command-config"
    """Option for a file with the client's settings; None for a tool that asks no broker."""
    server_option: str | None = "--bootstrap-server"
    """Option for the address; None if the tool reads it only from that file."""
    at_the_end: bool = False
    """True if both options belong after the name of a subcommand."""

    def arguments(self, given: Sequence[str], servers: str, config: Path) -> list[str]:
        """Return `given` with the address and the settings file, unless `given` names others."""
        options = {self.server_option: servers, self.config_option: str(config)}
        names = {argument.partition("=")[0] for argument in given}
        # Another address needs another login, too.
        if names & {*options, "--bootstrap-controller"}:
            return [*given]
        own = [word for name, value in options.items() if name for word in (name, value)]
        return [*given, *own] if self.at_the_end else [*own, *given]


_TOOLS = "org.apache.kafka.tools"
_CONSUMER, _PRODUCER = "--consumer.config", "--producer.config"

KAFKA_TOOLS: Mapping[str, KafkaTool] = MappingProxyType(
    {
        "acls": KafkaTool(f"{_TOOLS}.AclCommand"),
        "broker-api-versions": KafkaTool(f"{_TOOLS}.BrokerApiVersionsCommand"),
        "client-metrics": KafkaTool(f"{_TOOLS}.ClientMetricsCommand"),
        "cluster": KafkaTool(f"{_TOOLS}.ClusterTool", "--config", at_the_end=True),
        "configs": KafkaTool("kafka.admin.ConfigCommand"),
        "console-consumer": KafkaTool(f"{_TOOLS}.consumer.ConsoleConsumer", _CONSUMER),
        "console-producer": KafkaTool(f"{_TOOLS}.ConsoleProducer", _PRODUCER),
        "console-share-consumer": KafkaTool(
            f"{_TOOLS}.consumer.ConsoleShareConsumer", "--consumer-config"
        ),
        "consumer-groups": KafkaTool(f"{_TOOLS}.consumer.group.ConsumerGroupCommand"),
        "consumer-perf-test": KafkaTool(f"{_TOOLS}.ConsumerPerformance", _CONSUMER),
        "delegation-tokens": KafkaTool(f"{_TOOLS}.DelegationTokenCommand"),
        "delete-records": KafkaTool(f"{_TOOLS}.DeleteRecordsCommand"),
        "dump-log": KafkaTool("kafka.tools.DumpLogSegments", None, None),
        "features": KafkaTool(f"{_TOOLS}.FeatureCommand"),
        "get-offsets": KafkaTool(f"{_TOOLS}.GetOffsetShell"),
        "groups": KafkaTool(f"{_TOOLS}.GroupsCommand"),
        "leader-election": KafkaTool(f"{_TOOLS}.LeaderElectionCommand", "--admin.config"),
        "log-dirs": KafkaTool(f"{_TOOLS}.LogDirsCommand"),
        "metadata-quorum": KafkaTool(f"{_TOOLS}.MetadataQuorumCommand"),
        "producer-perf-test": KafkaTool(f"{_TOOLS}.ProducerPerformance", _PRODUCER, None),
        "reassign-partitions": KafkaTool(f"{_TOOLS}.reassign.ReassignPartitionsCommand"),
        "share-groups": KafkaTool(f"{_TOOLS}.consumer.group.ShareGroupCommand"),
        "streams-application-reset": KafkaTool(f"{_TOOLS}.StreamsResetter", "--config-file"),
        "streams-groups": KafkaTool(f"{_TOOLS}.streams.StreamsGroupCommand"),
        "topics": KafkaTool(f"{_TOOLS}.TopicCommand"),
        "transactions": KafkaTool(f"{_TOOLS}.TransactionsCommand"),
        "verifiable-consumer": KafkaTool(f"{_TOOLS}.VerifiableConsumer", _CONSUMER),
        "verifiable-producer": KafkaTool(f"{_TOOLS}.VerifiableProducer", _PRODUCER),
    }
)
"""Tools by the name of their script in Kafka's own `bin`, without `kafka-` and `.sh`."""


def kafka_tool(lab: Lab, name: str, given: Sequence[str], progress: Progress) -> Program:
    """Return the tool `name` with `given` arguments. Raises LabError (USAGE) if it is unknown."""
    bare = name.removeprefix("kafka-").removesuffix(".sh")
    tool = KAFKA_TOOLS.get(bare)
    if tool is None:
        raise LabError(
            f"There is no tool {name!r} of Kafka's",
            hint=f"there are: {', '.join(KAFKA_TOOLS)}",
            exit_code=ExitCode.USAGE,
        )
    kafka = lab.endpoints.kafka
    by_iam = ["msk-iam-auth"] if kafka.authentication == "iam" else []
    lab.artifacts.fetch(["jre", "kafka", *by_iam], progress=progress)
    config = Path(client_environment(lab)["KAFKA_CLIENT_PROPERTIES"])
    log4j = LOG4J | {"appender.out.target": "SYSTEM_ERR", "rootLogger.level": "warn"}
    write_private(config.with_name("log4j2.properties"), properties_text(log4j))
    jars = [lab.artifacts.path(part) for part in ("kafka", *by_iam)]
    return Program(
        [
            *(str(lab.artifacts.java()), _HEAP, *FLAGS, *FIRST_TIER),
            f"-Dlog4j2.configurationFile={config.with_name('log4j2.properties')}",
            *("-cp", ":".join(f"{path}/*" for path in jars), tool.class_name),
            *tool.arguments(given, kafka.bootstrap_servers, config),
        ]
    )
