"""Services of the user's own: their sections, their processes and their containers."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import SecretStr

from labctl.config.lab_config import OPTIONAL, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.runtimes.compose.own_containers import own_containers
from labctl.services.lab_services import SERVICES, load_config, services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.placeholders import fill, lab_values
from labctl.services.service import Context, Service
from tests.unit.service_context import PORTS, PROJECT, SECRET, context_of

BASE = """
name = "lab"
[sources.orders]
engine = "postgres"
database = "orders"
schemas = ["public"]
connector = "source_orders"
[profiles.native]
runtime = "native"
[profiles.compose]
runtime = "compose"
"""
SHOP = """
[services.shop]
command = "python -m shop --port {self.http.port} 'two words'"
image = "shop:1"
ports = { http = 8000, admin = 8001 }
container_ports = { http = 80 }
depends_on = ["postgres"]
memory = "300m"
[services.shop.environment]
DATABASE_URL = "{orders.url}"
KAFKA = "{kafka.broker}"
ADMIN = "{self.admin}"
JSON = '{"a": {"b": 1}} {{kafka.broker}} $HOME'
FILES = "{self.data}"
"""
RESERVED = "self lab secrets front kafka-ui registry-ui events mending supervisor supervisor-x"


def load(tmp_path: Path, text: str) -> LabConfig:
    path = tmp_path / "lab.toml"
    path.write_text(BASE + text)
    return load_config(path)


def named(config: LabConfig, name: str) -> Service:
    return next(service for service in services_of(config) if service.name == name)


def shop_context(tmp_path: Path, text: str = SHOP) -> Context:
    config = load(tmp_path, text)
    return context_of(named(config, "shop"), config, tmp_path)


def _closes(server: socket.socket) -> None:
    server.accept()[0].close()


def probe(tmp_path: Path, port: int, ready: str) -> str:
    text = f'[services.shop]\ncommand = "python"\nports = {{ http = {port} }}\n{ready}'
    context = shop_context(tmp_path, text)
    return context.service.probe(context)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('[services.shop]\nmemory = "1g"', "services.shop: there is no such service"),
        ('[services.shop]\ncomand = "x"', "shop.comand: unknown key; did you mean 'command'?"),
        ('[services.shop]\ncommand = "a \'b"', "services.shop.command: No closing quotation"),
        ("[services.shop]\ncommand = 3", "write a command line, or the list of its words"),
        ("[services.shop]\ncommand = []", "services.shop.command"),
        ("[services.shop]\nports = { http = 8000 }\ndepends_on = []", "name its `command`"),
        ('[services.kafka]\ncommand = "x"', "services.kafka: this service is the lab's"),
        ('[services.orders]\ncommand = "x"', "sources.orders has this name"),
        ('[services.Shop]\ncommand = "x"', "services.Shop: it cannot be called so"),
        ('[services.a]\ncommand = "x"\ndepends_on = ["kafak"]', "did you mean 'kafka'?"),
        (
            '[services.a]\ncommand = "x"\ndepends_on = ["b"]\n'
            '[services.b]\ncommand = "x"\ndepends_on = ["a"]',
            "a circle: ",
        ),
        ('[services.a]\ncommand = "x"\ncontainer_ports = { http = 80 }', "no endpoint 'http'"),
        ('[services.a]\ncommand = "x"\nready = { http = "/" }', "a.ready: `http` needs a port"),
        ('[services.a]\ncommand = "x"\nready = {}', 'name one of http = "/path"'),
        ('[services.a]\ncommand = "x"\nready = { htp = "/" }', "did you mean 'http'?"),
        ('[services.a]\ncommand = "x"\nimage_command = "y"', "name its `image`"),
        ('[services.a]\ncommand = "x\\u0000"', "a NUL character"),
        (
            '[sources.cache]\nengine = "mysql"\nschemas = ["x"]\nconnector = "c"\n'
            '[services.a]\ncommand = "x"',
            "sources.cache: services of your own would get its values",
        ),
    ],
)
def test_a_section_that_cannot_be_used_is_named_with_its_line(
    tmp_path: Path, section: str, said: str
) -> None:
    with pytest.raises(LabError) as raised:
        load(tmp_path, section)
    assert said in raised.value.what
    assert re.match(rf"{tmp_path}/lab.toml:\d+ is not usable", raised.value.what)
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_value_of_the_environment_is_in_no_message(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"services\.shop\.environment\.PASSWORD") as raised:
        load(tmp_path, '[services.shop]\ncommand = "x"\nenvironment = { PASSWORD = ["hunter2"] }')
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("name", RESERVED.split())
def test_a_name_that_the_lab_needs_itself_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabError, match="cannot be called so"):
        load(tmp_path, f'[services.{name}]\ncommand = "x"')


def test_services_come_after_those_that_they_need(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        '[services.first]\ncommand = "x"\ndepends_on = ["second", "kafka"]\n'
        '[services.second]\ncommand = "x"\n',
    )
    names = [service.name for service in services_of(config)]
    assert names[-2:] == ["second", "first"]
    assert named(config, "first").depends_on == ("second", "kafka")
    # `up` asks for them again and again, and compares.
    assert named(config, "first") == named(config, "first") != named(config, "second")


def test_a_service_without_a_form_for_the_runtime_is_left_out(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        '[services.app]\ncommand = "x"\n[services.ui]\nimage = "ui:1"\nports = { http = 8090 }',
    )
    assert set(config.for_runtime("native").services) == {"app"}
    assert set(config.for_runtime("compose").services) == {"ui"}
    assert set(config.for_runtime("aws").services) == set()


def test_the_process_has_the_labs_values(tmp_path: Path) -> None:
    context = shop_context(tmp_path)
    process = context.service.native_form.process(context)
    assert Path(process.argv[0]).name.startswith("python")
    assert process.argv[1:] == ("-m", "shop", "--port", "8000", "two words")
    assert process.cwd == PROJECT
    password = SECRET["postgres-owner"]
    assert process.env["DATABASE_URL"] == (
        f"postgresql://labctl_owner:{password}@127.0.0.1:5432/orders"
    )
    assert process.env["KAFKA"] == "127.0.0.1:9092"
    assert process.env["ADMIN"] == "127.0.0.1:8001"
    assert process.env["JSON"] == '{"a": {"b": 1}} {kafka.broker} $HOME'
    assert process.env["FILES"] == str(tmp_path / "data")
    # Another shell's PATH is no other process.
    assert "PATH" not in process.env
    assert process.programs == Path(sys.executable).parent
    context.service.native_form.prepare(context)
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert not context.service.ephemeral


def test_the_container_has_the_labs_values(tmp_path: Path) -> None:
    config = load(tmp_path, SHOP + '[services.shop.ready]\ncommand = "test -e {self.data}"\n')
    ports = {**PORTS, "shop": {"http": 20_001, "admin": 20_002}}
    text = json.loads(own_containers(config, "one", ports, SECRET))
    container = text["services"]["shop"]
    assert container["image"] == "shop:1"
    assert "command" not in container
    assert container["ports"] == ["127.0.0.1:20001:80", "127.0.0.1:20002:8001"]
    assert container["environment"] == {
        "DATABASE_URL": f"postgresql://labctl_owner:{SECRET['postgres-owner']}@postgres:5432/orders",
        "KAFKA": "kafka:29092",
        "ADMIN": "0.0.0.0:8001",
        "JSON": '{"a": {"b": 1}} {kafka.broker} $$HOME',
        "FILES": "/data",
    }
    assert container["mem_limit"] == "300m"
    assert container["healthcheck"]["test"] == ["CMD", "test", "-e", "/data"]
    assert container["volumes"] == [{"type": "volume", "source": "shop", "target": "/data"}]
    assert text["volumes"] == {"shop": {}}
    assert network_endpoints(config, SECRET).addresses["shop"] == {
        "http": "shop:80",
        "admin": "shop:8001",
    }


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("{ordrs.url}", "the lab has no value {ordrs.url}", "did you mean {orders.url}?"),
        ("{nothing.alike-at-all}", "the lab has no value", "docs/services.md"),
    ],
)
def test_an_unknown_placeholder_is_named_with_its_key(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    shop = f'[services.shop]\ncommand = "python"\nenvironment = {{ URL = "{text}" }}'
    context = shop_context(tmp_path, shop)
    with pytest.raises(LabError, match=r"services\.shop\.environment\.URL") as raised:
        context.service.native_form.process(context)
    assert said in raised.value.what
    assert hint in (raised.value.hint or "")


def test_a_secret_on_a_command_line_is_refused(tmp_path: Path) -> None:
    context = shop_context(tmp_path, '[services.shop]\ncommand = "python {kafka.password}"')
    with pytest.raises(LabError, match=r"\{kafka.password\} is a secret"):
        context.service.native_form.process(context)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    for word in ("no-such-program", "./bin/none"):
        context = shop_context(tmp_path, f'[services.shop]\ncommand = "{word}"')
        with pytest.raises(LabError, match=f"there is no program '{word}'"):
            context.service.native_form.process(context)


def test_what_is_no_placeholder_stays() -> None:
    for text in ("{}", "{x}", '{"a": 1}', "${HOME}", "{A.B}"):
        assert fill(text, {}, place="x") == text


def test_the_page_names_every_value(tmp_path: Path) -> None:
    optional = "".join(f"[{name}]\nenabled = true\n" for name in OPTIONAL)
    others = "".join(
        f'[sources.{name}]\nengine = "{name}"\nschemas = ["x"]\nconnector = "{name}"\n'
        + ('database = "x"\n' if name == "sqlserver" else "")
        for name in ("mysql", "sqlserver")
    )
    config = load(tmp_path, optional + others)
    values = lab_values(loopback_endpoints(config, PORTS, SECRET))
    page = (PROJECT / "docs" / "services.md").read_text()
    written = set(re.findall(r"`\{([a-z0-9_.]+)\}`", page))
    parts = (".host", ".port")  # said once, of every address
    assert {
        name
        for name in values
        if not name.startswith(("postgres.", "mysql.", "sqlserver."))
        and not (name.count(".") > 1 and name.endswith(parts))
    } <= written
    elsewhere = ("self.", "shop.", "lab.")
    assert {name for name in written if not name.startswith(elsewhere)} <= set(values)
    secret = {name for name, value in values.items() if isinstance(value, SecretStr)}
    assert "orders.url" in secret
    assert "kafka.password" in secret


def test_the_pages_sections_can_be_used(tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "services.md").read_text()
    blocks = re.findall(r"(?:^ {4}.*\n|^\n)+", page, re.MULTILINE)
    sections = [dedent(block) for block in blocks if block.lstrip().startswith("[services.")]
    config = load(tmp_path, "\n".join(sections))
    assert set(config.own_services) == {"shop", "kafbat"}
    ports = {**PORTS, "shop": {"http": 8000}, "kafbat": {"http": 8091}}
    made = json.loads(own_containers(config, "one", ports, SECRET))["services"]["kafbat"]
    login = made["environment"]["KAFKA_CLUSTERS_0_PROPERTIES_SASL_JAAS_CONFIG"]
    assert login.endswith(f'required username="labctl" password="{SECRET["kafka"]}";')
    assert made["ports"] == ["127.0.0.1:8091:8080"]


def test_a_package_brings_a_service_which_the_project_switches_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "brings-1.dist-info").mkdir(parents=True)
    (site / "brings-1.dist-info" / "METADATA").write_text("Name: brings\nVersion: 1\n")
    (site / "brings-1.dist-info" / "entry_points.txt").write_text(
        "[labctl.services]\nbrought = brings:SERVICE\nodd = brings:ODD\nlist = brings:LIST\n"
        "gone = brings.nowhere:SERVICE\n"
    )
    (site / "brings.py").write_text(
        "SERVICE = {'command': 'python -m brings', 'ports': {'http': 8000, 'smtp': 8025}}\n"
        "ODD = {'comand': 'x'}\nLIST = []\n"
    )
    monkeypatch.syspath_prepend(site)
    assert load(tmp_path, "").own_services == {}
    config = load(tmp_path, '[services.brought]\nports = { http = 8100 }\nmemory = "2g"')
    section = config.own_services["brought"]
    assert section.command == ("python", "-m", "brings")
    assert (section.ports, section.memory) == ({"http": 8100}, "2g")
    # A key may belong to one that only the package has.
    assert load(tmp_path, '[services.brought]\nready = { tcp = "smtp" }').own_services
    with pytest.raises(LabError, match="gone of an installed package cannot be used"):
        load(tmp_path, "[services.gone]")
    with pytest.raises(LabError, match=r"services\.odd\.comand: .*labctl\.services"):
        load(tmp_path, "[services.odd]")
    with pytest.raises(LabError, match="brings:LIST: it is no dict"):
        load(tmp_path, "[services.list]")


def test_a_port_that_closes_every_connection_is_not_usable(tmp_path: Path) -> None:
    """Such is the engine's proxy as long as nothing in the container listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        # The kernel takes the connection; nobody answers or closes it.
        assert probe(tmp_path, port, "") == f"takes connections on port {port}"
        waiting, _ = server.accept()
        waiting.close()
        closing = threading.Thread(target=_closes, args=[server])
        closing.start()
        with pytest.raises(ConnectionError, match="closes every connection"):
            probe(tmp_path, port, 'ready = { tcp = "http" }')
        closing.join()
    with pytest.raises(ConnectionRefusedError):
        probe(tmp_path, port, "")


def test_a_command_tells_whether_it_is_usable(tmp_path: Path) -> None:
    works = 'ready = { command = ["python", "-c", "raise SystemExit(0)"] }'
    assert probe(tmp_path, 8000, works) == "python exited with 0"
    fails = 'ready = { command = ["python", "-c", "raise SystemExit(\'not yet\')"] }'
    with pytest.raises(ConnectionError, match="python exited with 1: not yet"):
        probe(tmp_path, 8000, fails)


def test_the_labs_own_services_are_not_the_users() -> None:
    assert not any(service.is_own for service in SERVICES)
