"""What the lab's interfaces refuse to somebody else on this machine, or to a web page."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from labctl.config.kafka_clients import client_settings
from labctl.errors import LabError
from labctl.kafka.topic_records import Topics
from labctl.kafkaconnect.connector_files import read_connector
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.ports import PortTakenError, Reservation
from labctl.lab.lifecycle.starting import wait_until_usable
from labctl.runtimes.native.families import family_of
from labctl.state.sockets import LOOPBACK, is_free
from labctl.testing.lab_faults import Faults
from tests.e2e.conftest import Labctl
from tests.ports import listening

SECONDS = 10
LINES = 20_000
"""Of a log or a topic: more than a lab of tests has."""


@pytest.mark.parametrize("login", [None, ("labctl", "guessed"), ("labctl", "")])
def test_connect_wants_the_password(lab: Lab, login: tuple[str, str] | None) -> None:
    connectors = f"{lab.endpoints.connect.url}/connectors"
    one = connect_client(lab.endpoints.connect).names()[0]
    for method, url in (
        ("GET", connectors),
        ("GET", f"{connectors}/{one}/config"),
        ("POST", connectors),
        ("PUT", f"{connectors}/stranger/config"),
        ("POST", f"{connectors}/{one}/restart"),
        ("DELETE", f"{connectors}/{one}"),
    ):
        answer = requests.request(method, url, json={}, auth=login, timeout=SECONDS)
        assert answer.status_code == requests.codes.unauthorized, (method, url)
    # What workers ask each other is signed with a key of their own instead of the password.
    answer = requests.post(f"{connectors}/{one}/tasks", json=[], auth=login, timeout=SECONDS)
    assert answer.status_code == requests.codes.bad_request


def test_the_spark_application_wants_its_token(lab: Lab) -> None:
    silver = lab.endpoints.silver
    url = f"{silver.status_url}/tables/tickit.category/restart"
    for headers, code in (
        ({}, requests.codes.unauthorized),
        ({"Authorization": "Bearer guessed"}, requests.codes.unauthorized),
        ({**silver.headers, "Origin": "http://page.example"}, requests.codes.forbidden),
        ({**silver.headers, "Host": "page.example"}, requests.codes.forbidden),
    ):
        answer = requests.post(url, headers=headers, timeout=SECONDS)
        assert answer.status_code == code, headers.keys()


@pytest.fixture
def link(lab: Lab) -> Iterator[str]:
    """A symbolic link among the secrets that leads out of them."""
    secrets = lab.state.secrets
    folder = next(f for f in (secrets / "connect" / "demo", secrets / "demo") if f.is_dir())
    path = folder / "link"
    path.symlink_to("/etc/os-release")
    yield f"demo/{path.name}"
    path.unlink()


@pytest.mark.parametrize(
    "path", ["/etc/os-release", "demo/../../lab.json", "/proc/self/environ", "demo/nothing", "link"]
)
def test_a_connector_refers_to_the_lab_s_secrets_alone(lab: Lab, link: str, path: str) -> None:
    """A configuration that is validated comes back with what its references stand for."""
    client = connect_client(lab.endpoints.connect)
    source = lab.config.sources["postgres"].connector
    config = read_connector(lab.project / "connectors" / f"{source}.json").config
    assert client.validate({**config, "name": source}) == {}
    reference = f"${{secretManager:{link if path == 'link' else path}:ID}}"
    with pytest.raises(LabError, match="is not one of the lab's secrets"):
        client.validate({**config, "name": source, "database.hostname": reference})


NO_LOGIN: dict[str, str] = {}
WRONG_LOGINS = {
    "none": NO_LOGIN,
    "a guess": {"sasl.password": "guessed"},
    "another user": {"sasl.username": "admin"},
}


@pytest.mark.parametrize(
    "wrong",
    [
        # A client with a wrong password tries for ten seconds.
        pytest.param(login, marks=() if login is NO_LOGIN else pytest.mark.long, id=name)
        for name, login in WRONG_LOGINS.items()
    ],
)
def test_kafka_wants_the_password(lab: Lab, wrong: dict[str, str]) -> None:
    kafka = lab.endpoints.kafka
    right = client_settings(kafka)
    admin = AdminClient({**right, "log_level": 0})
    assert "connect-configs" in admin.list_topics(timeout=SECONDS).topics

    said: list[str] = []
    stranger: dict[str, Any] = (
        {"bootstrap.servers": kafka.bootstrap_servers} if wrong is NO_LOGIN else right | wrong
    )
    stranger |= {"log_level": 0, "error_cb": lambda error: said.append(error.str())}
    refused = AdminClient(stranger)
    with pytest.raises(KafkaException) as raised:
        refused.list_topics(timeout=SECONDS)
    assert raised.value.args[0].code() in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT)
    refused.poll(0)
    if wrong is not NO_LOGIN:
        assert any("Authentication failed: Invalid username or password" in one for one in said)


def test_kafka_answers_nothing_to_a_client_that_does_not_log_in(lab: Lab) -> None:
    """But for the version of its protocol, by which a client finds out how to log in."""
    ports = [lab.ports["kafka"]["broker"]]
    if lab.config.profiles[lab.profile].runtime == "native":
        ports.append(lab.ports["kafka"]["controller"])
    for port in ports:
        assert _ask_kafka(port, api=18, body=b"") != b"", port
        # Metadata (3) of all topics: version 0 asks for them with an empty list.
        assert _ask_kafka(port, api=3, body=struct.pack(">i", 0)) == b"", port
        # DescribeCluster (60), which a controller answers, too. Its header has a list of tags.
        assert _ask_kafka(port, api=60, body=b"\0\0\0") == b"", port


def test_the_password_of_kafka_is_shown_nowhere(lab: Lab, labctl: Labctl) -> None:
    """In no command line, in no log, in no topic that Connect keeps, in no output."""
    assert lab.endpoints.kafka.password is not None
    password = lab.endpoints.kafka.password.get_secret_value()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            assert not any(password in word for word in process.cmdline()), process.name()
    for service in lab.services:
        assert not any(password in line for line in lab.runtime.logs.tail(service.name, LINES)), (
            service.name
        )
    topics = Topics(lab.endpoints.kafka, lab.endpoints.registry)
    for topic in topics.topics():
        if topic.name.startswith(("connect-", "schema-history.")):
            for record in topics.tail(topic.name, LINES):
                assert password not in f"{record.key}{record.value}", topic.name
    for words in (["client", "env"], ["connectors", "status"], ["status"], ["topics", "list"]):
        answer = labctl(*words, "--lab", lab.name, "-o", "json")
        assert password not in answer.stdout + answer.stderr, words


def test_no_process_may_have_all_of_the_memory(lab: Lab) -> None:
    if lab.config.profiles[lab.profile].runtime != "native":
        pytest.skip("the Compose file has a limit for each container")
    for service in lab.services:
        pid = lab.runtime.state(service.name).pid
        assert pid is not None
        for process in family_of(pid):
            # Not process.rlimit(): it may not ask about PostgreSQL's, which are another user's.
            with suppress(FileNotFoundError, ProcessLookupError):
                limits = Path(f"/proc/{process.pid}/limits").read_text(encoding="ascii")
                (data,) = (one for one in limits.splitlines() if one.startswith("Max data size"))
                assert "unlimited" not in data, (service.name, process.pid)


def test_every_service_listens_on_one_address(lab: Lab) -> None:
    """MinIO would listen on `::1` too, if the lab did not keep its port there."""
    if lab.config.profiles[lab.profile].runtime != "native":
        pytest.skip("containers listen on their own network; the engine publishes their ports")
    for service in lab.services:
        pid = lab.runtime.state(service.name).pid
        application = psutil.Process(pid)
        for process in (application, *application.children(recursive=True)):
            for connection in process.net_connections("tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    address = connection.laddr.ip.removeprefix("::ffff:")
                    assert address == LOOPBACK, (service.name, connection.laddr)


def test_nobody_listens_on_the_port_of_a_service_that_is_down(lab: Lab) -> None:
    """What would answer there would be told the service's password by its next client."""
    if lab.config.profiles[lab.profile].runtime != "native":
        pytest.skip("the engine gives up the port of a container that is stopped")
    (port,) = lab.ports["sqlapi"].values()
    with Faults(lab).away("sqlapi"):
        assert not is_free(port)
        with pytest.raises(OSError, match="in use"):
            listening(port, LOOPBACK)
        with pytest.raises(PortTakenError, match="the supervisor of another lab"):
            Reservation().take({"other": {"http": port}})
    wait_until_usable(lab, lab.service("sqlapi"))


def test_the_driver_of_spark_knows_strangers(lab: Lab) -> None:
    """Both of its ports, for orders and for blocks, refuse a request without Spark's secret."""
    if lab.config.profiles[lab.profile].runtime != "native":
        pytest.skip("the container publishes neither port")
    pid = lab.runtime.state("silver").pid
    application = psutil.Process(pid)
    family = [application, *application.children(recursive=True)]
    java = next(process for process in family if process.name() == "java")
    ports = {c.laddr.port for c in java.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    assert sum(b"Expected SaslMessage" in _ask_spark(port) for port in ports) == 2


def _ask_spark(port: int) -> bytes:
    """The beginning of what Spark's protocol answers to a request (type 3) of one line."""
    body = b"hello\n"
    # The frame's length, the type, the request's number, the body's length.
    head = struct.pack(">qbqi", 8 + 1 + 8 + 4 + len(body), 3, 1, len(body))
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as stranger:
        stranger.sendall(head + body)
        return stranger.recv(400)


def _ask_kafka(port: int, *, api: int, body: bytes) -> bytes:
    """The beginning of what Kafka answers to a request, version 0; nothing when it hangs up."""
    # The request's number is 1, and the client's name is none.
    request = struct.pack(">hhih", api, 0, 1, -1) + body
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as stranger:
        stranger.sendall(struct.pack(">i", len(request)) + request)
        try:
            return stranger.recv(400)
        except ConnectionResetError:
            return b""
