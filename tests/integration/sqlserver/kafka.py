"""Kafka and Kafka Connect for the Debezium tests, and rebuilding a table from its topic."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from labctl.jvm_flags import FIRST_TIER
from tests.integration.sqlserver.conftest import eventually
from tests.ports import free_port

_BROKER = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/log
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
_WORKER = """bootstrap.servers=127.0.0.1:{broker}
group.id=connect
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
key.converter.schemas.enable=false
value.converter.schemas.enable=false
offset.storage.topic=offsets
offset.storage.partitions=1
offset.storage.replication.factor=1
config.storage.topic=configs
config.storage.replication.factor=1
status.storage.topic=status
status.storage.partitions=1
status.storage.replication.factor=1
offset.flush.interval.ms=500
plugin.path={plugins}
plugin.discovery=service_load
listeners=http://127.0.0.1:{rest}
"""
_LOG4J = """<Configuration status="error"><Appenders><Console name="c">
<PatternLayout pattern="%d %p %c{{1}} %m%n"/></Console></Appenders><Loggers>
<Logger name="io.debezium" level="info"/><Root level="warn"><AppenderRef ref="c"/></Root>
</Loggers></Configuration>"""
_READY_SECONDS = 300.0


@dataclass
class Cluster:
    """One broker and one Connect worker."""

    java: Path
    jars: Path
    plugins: Path
    folder: Path
    is_short_lived: bool = True
    """True if to start faster, by the first tier of the JVM's compiler, rather than become fast."""
    broker: int = field(default_factory=free_port)
    controller: int = field(default_factory=free_port)
    rest: int = field(default_factory=free_port)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        names = {
            "broker": self.broker, "controller": self.controller, "rest": self.rest,
            "folder": self.folder, "plugins": self.plugins,
        }  # fmt: skip
        for name, text in (("kafka", _BROKER), ("connect", _WORKER), ("log4j2.xml", _LOG4J)):
            (self.folder / name).write_text(text.format(**names))
        storage = self._command("kafka.tools.StorageTool", "256m")
        subprocess.run(
            [*storage, "format", "-t", "5L6g3nShT-eMCtK--X86sw", "-c", str(self.folder / "kafka")],
            check=True, capture_output=True,
        )  # fmt: skip
        self._launch("kafka", self._command("kafka.Kafka", "320m"))
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        self._launch("connect", self._command(main, "512m"))
        eventually(self._answers, "Kafka Connect answers", _READY_SECONDS)

    def _command(self, main: str, heap: str) -> list[str]:
        log = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.xml'}"
        flags = ["-XX:+UseSerialGC", f"-Xmx{heap}"]
        if self.is_short_lived:
            flags += FIRST_TIER
        return [str(self.java), *flags, log, "-cp", f"{self.jars}/*", main]

    def _launch(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen([*command, str(self.folder / name)], stdout=log, stderr=log)
            )

    def _answers(self) -> bool:
        try:
            return requests.get(self.url(""), timeout=5).ok
        except requests.ConnectionError:
            return False

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.rest}/connectors{path}"

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait(20)

    # ---- connectors

    def apply(self, name: str, config: dict[str, str]) -> None:
        """Create or change a connector and wait until its task runs."""
        answer = requests.put(self.url(f"/{name}/config"), json=config, timeout=60)
        assert answer.ok, answer.text
        eventually(lambda: self.state(name) == "RUNNING", f"{name} runs", _READY_SECONDS)

    def state(self, name: str) -> str:
        """The task's state, FAILED with its trace."""
        answer = requests.get(self.url(f"/{name}/status"), timeout=30)
        tasks = answer.json().get("tasks", []) if answer.ok else []
        if not tasks:
            return "ABSENT"
        return f"{tasks[0]['state']}{tasks[0].get('trace', '')[:2000]}"

    def restart(self, name: str) -> None:
        requests.post(self.url(f"/{name}/restart?includeTasks=true"), timeout=30)

    def delete(self, name: str) -> None:
        requests.delete(self.url(f"/{name}"), timeout=30)


class Topic:
    """A change topic, read from its beginning, and the table it amounts to."""

    def __init__(self, cluster: Cluster, name: str, key: str) -> None:
        from confluent_kafka import Consumer

        self._key = key
        self._consumer = Consumer(
            {
                "bootstrap.servers": f"127.0.0.1:{cluster.broker}",
                "group.id": f"test-{time.time_ns()}",
                "auto.offset.reset": "earliest",
                "allow.auto.create.topics": True,
                "topic.metadata.refresh.interval.ms": 500,
            }
        )
        self._consumer.subscribe([name])
        self.rows: dict[Any, dict[str, Any]] = {}
        self.operations: list[str] = []

    def read(self, seconds: float = 0.2) -> None:
        """Take in what arrives within `seconds`."""
        for message in self._consumer.consume(5000, seconds):
            value = message.value()
            if message.error() or value is None:
                continue
            event = json.loads(value)
            self.operations.append(event["op"])
            if event["op"] == "d":
                self.rows.pop(event["before"][self._key], None)
            else:
                self.rows[event["after"][self._key]] = event["after"]

    def close(self) -> None:
        self._consumer.close()
