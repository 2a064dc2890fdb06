"""Servers of their own run out of disk, memory and heap, and have their clocks set: nothing that
they acknowledged is lost, `status` names the cause, and they go on by themselves."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg2
import pytest
from botocore.exceptions import BotoCoreError, ClientError
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tenacity import Retrying, retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.config.kafka_clients import client_settings
from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lifecycle.up import up
from labctl.lab.observe.service_status import ServiceStatus, read_status
from labctl.lake.objectstore import s3_client
from labctl.runtimes.runtime_protocols import OUT_OF_HEAP, OUT_OF_MEMORY, RESTARTS_AT_MOST
from labctl.sources import connect, connect_server
from labctl.testing.lab_faults import Faults
from labctl.testing.reporter import TerminalReporter

pytestmark = pytest.mark.long

WAIT_SECONDS = 300.0
REFUSED_SECONDS = 20.0
"""What has not been acknowledged by then is taken to wait for room."""
PAYLOAD_BYTES = 500_000
TOPIC = "numbers"
FULL_ROUNDS = 100


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """A lab of which each test starts the server that it needs."""
    with TemporaryDirectory(prefix="labctl-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        lab = Lab.find(name="scarce", project=find_project(Path(__file__)))
        try:
            yield lab
        finally:
            destroy(lab)


@pytest.fixture(scope="module")
def faults(lab: Lab) -> Faults:
    return Faults(lab)


@pytest.fixture(scope="module")
def numbers_in(request: pytest.FixtureRequest, lab: Lab) -> Callable[[str], Numbers]:
    """`numbers_in("kafka")`: the service runs, and there is where to put numbers."""

    def start(service: str) -> Numbers:
        up(lab, TerminalReporter(request.config), [service])
        if service in ("postgres", "mysql"):
            with connect(lab.endpoints, service) as source:
                kind = "text" if service == "postgres" else "longtext"
                source.execute(
                    f"CREATE TABLE IF NOT EXISTS numbers (id integer PRIMARY KEY, load_ {kind})"
                )
        elif service == "kafka":
            admin = AdminClient(client_settings(lab.endpoints.kafka))
            if TOPIC not in admin.list_topics(timeout=WAIT_SECONDS).topics:
                topic = NewTopic(TOPIC, 1, 1, config={"message.timestamp.type": "LogAppendTime"})
                admin.create_topics([topic])[TOPIC].result()
        return Numbers(lab, service)

    return start


class Numbers:
    """Numbers put into one service, each with a load that cannot be compressed."""

    def __init__(self, lab: Lab, service: str) -> None:
        self.lab = lab
        self.service = service
        self.acknowledged: list[int] = []
        self._next = max(self.found(), default=-1) + 1

    def put(self) -> None:
        """One more. Raises an exception of the client's when it is refused."""
        number, self._next = self._next, self._next + 1
        load = secrets.token_hex(PAYLOAD_BYTES // 2)
        if self.service in ("postgres", "mysql"):
            with connect(self.lab.endpoints, self.service) as source:
                source.execute("INSERT INTO numbers VALUES (%s, %s)", (number, load))
        elif self.service == "kafka":
            producer = Producer(
                {**self._kafka, "acks": "all", "message.timeout.ms": 15000, "linger.ms": 0}
            )
            delivered: list[bool] = []
            producer.produce(
                TOPIC,
                load,
                key=str(number),
                on_delivery=lambda error, _: delivered.append(error is None),
            )
            producer.flush(REFUSED_SECONDS)
            if delivered != [True]:
                raise ConnectionError("not delivered")
        else:
            store = s3_client(self.lab.endpoints.objectstore)
            store.put_object(
                Bucket=self.lab.endpoints.objectstore.bucket,
                Key=f"numbers/{number}",
                Body=load.encode(),
            )
        self.acknowledged.append(number)

    def found(self) -> list[int]:
        if self.service in ("postgres", "mysql"):
            with connect(self.lab.endpoints, self.service) as source:
                return [int(id_) for (id_,) in source.execute("SELECT id FROM numbers")]
        if self.service == "kafka":
            return [int(key) for key, _ in self.records()]
        store, bucket = s3_client(self.lab.endpoints.objectstore), self.lab.endpoints.objectstore
        pages = store.get_paginator("list_objects_v2").paginate(
            Bucket=bucket.bucket, Prefix="numbers/"
        )
        keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
        for key in keys:
            body = store.get_object(Bucket=bucket.bucket, Key=key)["Body"].read()
            assert len(body) == PAYLOAD_BYTES
        return [int(key.partition("/")[2]) for key in keys]

    @retry(
        # A topic has no leader for a moment when its broker has just started.
        retry=retry_if_exception_type(KafkaException),
        wait=wait_fixed(0.5),
        stop=stop_after_delay(WAIT_SECONDS),
        reraise=True,
    )
    def records(self) -> list[tuple[bytes, int]]:
        """Keys and timestamps of the topic's records, in order."""
        consumer = Consumer({**self._kafka, "group.id": "numbers"})
        try:
            first = TopicPartition(TOPIC, 0, 0)
            low, end = consumer.get_watermark_offsets(first, timeout=30)
            consumer.assign([first])
            found: list[tuple[bytes, int]] = []
            while len(found) < end - low:
                for record in consumer.consume(100, timeout=10):
                    assert record.error() is None
                    found.append((record.key() or b"", record.timestamp()[1]))
            return found
        finally:
            consumer.close()

    @property
    def _kafka(self) -> dict[str, Any]:
        return {**client_settings(self.lab.endpoints.kafka), "log_level": 0}


def status_of(lab: Lab, name: str) -> ServiceStatus:
    return next(status for status in read_status(lab).services if status.name == name)


def eventually(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds; what is raised meanwhile is a service that is not back yet."""

    def check() -> None:
        assert condition()

    for attempt in Retrying(
        retry=retry_if_exception_type(Exception),
        wait=wait_fixed(0.5),
        stop=stop_after_delay(WAIT_SECONDS),
        reraise=True,
    ):
        with attempt:
            check()


def is_ready(lab: Lab, name: str) -> bool:
    status = status_of(lab, name)
    assert status.state == "ready", status
    return True


@contextmanager
def where_possible() -> Iterator[None]:
    """Skip where this user cannot have the fault: a disk or a control group takes root."""
    try:
        yield
    except LabError as error:
        if error.exit_code is ExitCode.USAGE:
            pytest.skip(str(error))
        raise


def put_again(numbers: Numbers) -> bool:
    numbers.put()
    return True


def meet_it(numbers: Numbers, pool: ThreadPoolExecutor) -> Future[None] | None:
    """Put numbers until one is refused; one that waits for room is returned."""
    for _ in range(FULL_ROUNDS):
        attempt = pool.submit(numbers.put)
        try:
            attempt.result(REFUSED_SECONDS)
        except TimeoutError:
            return attempt
        except (OSError, LabError, psycopg2.Error, BotoCoreError, ClientError):
            return None
    pytest.fail("everything was taken, on a full disk")


def exhaust_wal(lab: Lab) -> None:
    """Ask PostgreSQL for segments of its log until it has none."""
    with (
        suppress(LabError, psycopg2.Error),
        connect(lab.endpoints, "postgres") as source,
        connect_server(lab.endpoints, "postgres") as server,
    ):
        for _ in range(FULL_ROUNDS):
            server.execute("SELECT pg_switch_wal()")
            source.execute("INSERT INTO numbers VALUES (-1, 'x') ON CONFLICT (id) DO NOTHING")
            source.execute("DELETE FROM numbers WHERE id = -1")


@pytest.mark.parametrize(
    "name",
    [
        "postgres",
        # It tries again once a minute.
        pytest.param("mysql", marks=pytest.mark.soak),
        pytest.param("kafka", marks=pytest.mark.soak),
        pytest.param("objectstore", marks=pytest.mark.soak),
    ],
)
def test_a_full_disk_is_named_and_what_was_acknowledged_is_kept(
    name: str, lab: Lab, faults: Faults, numbers_in: Callable[[str], Numbers]
) -> None:
    numbers = numbers_in(name)
    with (
        where_possible(),
        ThreadPoolExecutor(max_workers=1) as pool,
        faults.small_disk(name) as disk,
    ):
        eventually(partial(is_ready, lab, name))
        for _ in range(5):
            numbers.put()
        with disk.full():
            waiting = meet_it(numbers, pool)
            if name == "postgres":
                exhaust_wal(lab)
            if name in ("postgres", "kafka"):
                # It ends itself, and cannot start; it is given up if it takes no time to fail.
                eventually(
                    lambda: (
                        lab.runtime.state(name).state == "FATAL"
                        or status_of(lab, name).restarts >= RESTARTS_AT_MOST + 1
                    )
                )
            status = status_of(lab, name)
            assert status.state == "disk full"
            assert str(lab.state.data(name)) in status.detail
        if waiting:
            waiting.result(WAIT_SECONDS)
        eventually(partial(put_again, numbers))
        eventually(partial(is_ready, lab, name))
        assert set(numbers.acknowledged) <= set(numbers.found())
    eventually(partial(is_ready, lab, name))
    assert set(numbers.acknowledged) <= set(numbers.found())


def test_the_kernel_kills_one_for_want_of_memory(
    lab: Lab, faults: Faults, numbers_in: Callable[[str], Numbers]
) -> None:
    numbers, before = numbers_in("postgres"), status_of(lab, "postgres").restarts
    numbers.put()
    with where_possible():
        faults.out_of_memory("postgres")
    eventually(lambda: status_of(lab, "postgres").restarts > before and is_ready(lab, "postgres"))
    assert OUT_OF_MEMORY in status_of(lab, "postgres").last_death_cause
    assert set(numbers.acknowledged) <= set(numbers.found())


@pytest.mark.soak
def test_a_jvm_without_heap_ends_and_says_so(
    lab: Lab, numbers_in: Callable[[str], Numbers]
) -> None:
    """Kafka takes as much heap for a request as its first bytes say."""
    numbers, before = numbers_in("kafka"), status_of(lab, "kafka").restarts
    numbers.put()
    sockets = []
    with suppress(OSError):
        for _ in range(8):
            sockets.append(socket.create_connection(("127.0.0.1", lab.ports["kafka"]["broker"])))
            sockets[-1].sendall((100_000_000).to_bytes(4, "big") + b"x" * 100)
    eventually(lambda: status_of(lab, "kafka").restarts > before)
    for one in sockets:
        one.close()
    eventually(partial(is_ready, lab, "kafka"))
    assert status_of(lab, "kafka").last_death_cause == OUT_OF_HEAP
    assert set(numbers.acknowledged) <= set(numbers.found())


@pytest.mark.soak
def test_clocks_go_forward_and_back(
    lab: Lab, faults: Faults, numbers_in: Callable[[str], Numbers]
) -> None:
    for name in ("postgres", "mysql", "kafka"):
        numbers = numbers_in(name)
        with where_possible(), faults.clock(name) as clock:
            eventually(partial(put_again, numbers))
            right = clock_of(lab, name)
            for hours in (200, -5):
                clock.set(hours=hours)
                eventually(partial(is_off, lab, name, right, hours))
                numbers.put()
                # It starts with that clock, too.
                faults.kill(name)
                eventually(partial(put_again, numbers))
        eventually(partial(put_again, numbers))
        assert set(numbers.acknowledged) <= set(numbers.found()), name


def clock_of(lab: Lab, name: str) -> float:
    """A service's own time, in seconds."""
    if name == "kafka":
        numbers = Numbers(lab, name)
        numbers.put()
        return numbers.records()[-1][1] / 1000
    query = "SELECT extract(epoch FROM now())" if name == "postgres" else "SELECT unix_timestamp()"
    with connect(lab.endpoints, name) as source:
        ((now,),) = source.execute(query)
    return float(str(now))


def is_off(lab: Lab, name: str, right: float, hours: float) -> bool:
    return abs(clock_of(lab, name) - right - hours * 3600) < WAIT_SECONDS


def test_minio_has_no_clock_of_its_own(faults: Faults) -> None:
    with pytest.raises(LabError, match="Go program"), faults.clock("objectstore"):
        pass
