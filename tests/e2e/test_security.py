"""What the lab's interfaces refuse to somebody else on this machine, or to a web page."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import psutil
import pytest
import requests

from labctl.errors import LabError
from labctl.kafkaconnect.files import read_connector
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab

SECONDS = 10


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
    # What workers ask each other is signed with a key of their own in place of the password.
    answer = requests.post(f"{connectors}/{one}/tasks", json=[], auth=login, timeout=SECONDS)
    assert answer.status_code == requests.codes.bad_request


def test_the_spark_application_wants_its_token(lab: Lab) -> None:
    silver = lab.endpoints.silver
    url = f"{silver.status_url}/tables/category/restart"
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
