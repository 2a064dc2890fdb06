"""What compose/ says is what labctl's own services say, and keeps to what an old engine can do."""

from __future__ import annotations

import re
import shlex
import subprocess
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from labctl.config.lab_config import LabConfig
from labctl.engines.mysql import mysql_service as mysql
from labctl.engines.postgres import postgres_service as postgres
from labctl.images.recipes import RECIPES, STEPS
from labctl.jvm_flags import FIRST_TIER
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.services import (
    connect_service,
    jvm,
    kafka_service,
    objectstore_service,
    registry_service,
)
from labctl.services.lab_services import PASSWORDS
from labctl.services.lab_services import SERVICES as LAB_SERVICES

PROJECT = Path(__file__).parents[2]
COMPOSE = PROJECT / "compose"
LAB = LabConfig.load(PROJECT / "lab.toml")
MIB = 1024**2
ADDRESSES = {
    "postgres": {"listen_addresses", "unix_socket_directories"},
    "kafka": {"advertised.listeners", "controller.quorum.voters", "listeners", "log.dirs"}
    | {"inter.broker.listener.name"},
    "connect": {"bootstrap.servers", "listeners", "plugin.path", "rest.advertised.host.name"}
    | {"config.providers.secretManager.param.folder"},
}
"""Settings that cannot be the same natively and in containers."""


def load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((COMPOSE / name).read_text(encoding="utf-8"))
    return document


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = load("compose.yaml")["services"]
    return found


def properties(path: str) -> dict[str, str]:
    lines = (COMPOSE / path).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


def without(settings: dict[str, str], service: str) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key not in ADDRESSES[service]}


def test_every_service_of_the_lab_is_there(services: dict[str, Any]) -> None:
    assert {service.name for service in LAB_SERVICES} <= set(services)


def test_postgres_has_the_native_settings(services: dict[str, Any]) -> None:
    program, *options = services["postgres"]["command"]
    settings = dict(option.removeprefix("--").split("=", 1) for option in options)
    assert program == "postgres"
    assert without(settings, "postgres") == without(postgres.SETTINGS, "postgres")


def test_postgres_makes_what_native_setup_makes(services: dict[str, Any]) -> None:
    environment = services["postgres"]["environment"]
    assert environment["POSTGRES_USER"] == postgres.ADMIN
    assert environment["POSTGRES_DB"] == LAB.sources["postgres"].database
    script = (COMPOSE / "postgres" / "init.sh").read_text(encoding="utf-8")
    assert "</run/secrets/databases" in script
    assert f"CREATE ROLE {postgres.OWNER} LOGIN {postgres.OWNER_RIGHTS} PASSWORD" in script
    assert f"ALTER DATABASE $POSTGRES_DB OWNER TO {postgres.OWNER};" in script
    assert "CREATE DATABASE $name OWNER $name" in script


def test_the_container_of_postgres_knows_every_database_of_another_service(tmp_path: Path) -> None:
    write_service_secrets(tmp_path, LAB, {role: f"of-{role}" for role in PASSWORDS})
    lines = (tmp_path / "postgres" / "databases").read_text(encoding="utf-8").splitlines()
    assert lines == ["registry=of-registry", "sqlapi=of-sqlapi", "metastore=of-metastore"]


def test_mysql_has_the_native_options(services: dict[str, Any]) -> None:
    assert tuple(services["mysql"]["command"]) == ("mysqld", *mysql.OPTIONS)
    assert services["mysql"]["environment"]["MYSQL_DATABASE"] == LAB.sources["mysql"].schemas[0]


def test_mysqls_logins_have_the_same_rights_in_containers(services: dict[str, Any]) -> None:
    script = (COMPOSE / "mysql" / "init.sh").read_text(encoding="utf-8")
    everything = re.findall(r"GRANT ALL ON (\S+) TO '(\w+)'", script)
    assert everything == [("*.*", mysql.ADMIN), ("$MYSQL_DATABASE.*", mysql.OWNER)]
    secret = services["mysql"]["environment"]["MYSQL_ROOT_PASSWORD_FILE"]
    assert secret == "/run/secrets/mysql-admin"  # noqa: S105 - a file's name


def test_debezium_has_the_same_rights_in_mysql() -> None:
    script = (COMPOSE / "mysql" / "init.sh").read_text(encoding="utf-8")
    (granted,) = re.findall(r"GRANT (RELOAD.*) ON \*\.\* TO 'debezium'", script)
    assert granted == mysql.CAPTURE_RIGHTS


def test_kafka_has_the_native_settings() -> None:
    assert without(properties("kafka/server.properties"), "kafka") == kafka_service.SETTINGS


def test_every_listener_of_kafka_asks_for_the_login_natively_and_in_containers() -> None:
    settings = properties("kafka/server.properties")
    listeners = {part.partition("://")[0] for part in settings["listeners"].split(",")}
    protocols = dict(
        part.split(":") for part in settings["listener.security.protocol.map"].split(",")
    )
    assert {protocols[name] for name in listeners} == {"SASL_PLAINTEXT"}
    login = kafka_service.login_settings(dict.fromkeys(PASSWORDS, "hunter2"))
    assert set(login) == {
        f"listener.name.{name.lower()}.plain.sasl.jaas.config" for name in listeners
    }
    assert "/run/secrets/login.properties" in (COMPOSE / "kafka" / "start.sh").read_text()


def test_a_service_finds_the_login_of_kafka_among_its_own_secrets(
    services: dict[str, Any], tmp_path: Path
) -> None:
    config = LabConfig.load(PROJECT / "lab.toml")
    write_service_secrets(tmp_path, config, {**dict.fromkeys(PASSWORDS, "x"), "kafka": "hunter2"})
    holding = {
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*")
        if path.is_file() and "hunter2" in path.read_text(encoding="utf-8")
    }
    assert holding == {
        "kafka/login.properties",
        "kafka-ui/application.properties",
        "connect/demo/kafka",
        "silver/demo/kafka",
        "silver/kafka",
    }
    for name in {path.partition("/")[0] for path in holding}:
        mount = f"${{LAB_SECRETS:-./secrets}}/{name}:/run/secrets:ro"
        assert mount in services[name]["volumes"], name


def test_connect_has_the_native_worker_settings() -> None:
    assert without(properties("connect/worker.properties"), "connect") == connect_service.WORKER


def test_connect_asks_for_the_password_as_natively() -> None:
    written = (COMPOSE / "connect" / "rest.jaas").read_text(encoding="utf-8")
    assert written == connect_service.rest_jaas(Path("/run/secrets/rest-users"))


def test_a_probe_logs_in(tmp_path: Path) -> None:
    """The health check of Connect's container, against a server that asks for the password."""
    users = tmp_path / "rest-users"
    users.write_text(connect_service.rest_users({"connect": "a=b c"}), encoding="utf-8")
    expected = b64encode(f"{connect_service.USER}:a=b c".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers["Authorization"] == f"Basic {expected}"
            self.send_response(200 if known else 401)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing: only the script's exit code is checked."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    probe = ["bash", str(COMPOSE / "probes" / "http.sh"), str(server.server_port), "/connectors"]
    try:
        assert subprocess.run([*probe, str(users)], check=False).returncode == 0
        assert subprocess.run(probe, check=False).returncode != 0
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("service", "quiet"), [("kafka", kafka_service.QUIET), ("connect", connect_service.QUIET)]
)
def test_logging_is_the_native_one(service: str, quiet: tuple[str, ...]) -> None:
    found = properties(f"{service}/log4j2.properties")
    loggers = [value for key, value in found.items() if re.fullmatch(r"logger\.q\d+\.name", key)]
    assert tuple(loggers) == quiet
    assert {key: value for key, value in found.items() if key in jvm.LOG4J} == jvm.LOG4J


@pytest.mark.parametrize(
    ("service", "heap", "flags", "native"),
    [
        ("kafka", "KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", kafka_service.SERVICE.heap),
        ("connect", "KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", connect_service.SERVICE.heap),
        ("registry", "JAVA_HEAP", "JAVA_FLAGS", registry_service.SERVICE.heap),
    ],
)
def test_java_has_the_native_heap_and_flags(
    services: dict[str, Any], service: str, heap: str, flags: str, native: str
) -> None:
    environment = services[service]["environment"]
    assert environment[heap] == f"-Xmx{native}"
    compiler = jvm.LESS_INLINING if service == "connect" else FIRST_TIER
    assert tuple(shlex.split(environment[flags])) == (*jvm.FLAGS, *compiler)


def test_the_registry_keeps_its_schemas_as_natively(services: dict[str, Any]) -> None:
    assert registry_service.ENVIRONMENT.items() <= services["registry"]["environment"].items()


def test_the_object_store_has_the_native_user(services: dict[str, Any]) -> None:
    assert services["objectstore"]["environment"]["MINIO_ROOT_USER"] == objectstore_service.ADMIN


def test_the_object_store_writes_as_natively(services: dict[str, Any]) -> None:
    assert objectstore_service.ENVIRONMENT.items() <= services["objectstore"]["environment"].items()


def test_ports_are_published_on_loopback_only(services: dict[str, Any]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(re.fullmatch(r"127\.0\.0\.1:\$\{[A-Z0-9_]+:-\d+\}:\d+", port) for port in published)


def test_published_ports_are_the_ones_a_lab_prefers(services: dict[str, Any]) -> None:
    text = " ".join(port for service in services.values() for port in service.get("ports", []))
    defaults = dict(re.findall(r"\$\{([A-Z0-9_]+):-(\d+)\}", text))
    for service in LAB_SERVICES:
        for endpoint, port in service.ports.items():
            if (service.name, endpoint) != ("kafka", "controller"):
                assert defaults[f"{service.name}_{endpoint}_port".upper()] == str(port)


def test_everything_fits_eight_gigabytes(services: dict[str, Any]) -> None:
    limits = {
        name: service["mem_limit"]
        for name, service in services.items()
        if "profiles" not in service
    }
    running = [int(limit.removesuffix("m")) for name, limit in limits.items() if name != "secrets"]
    assert sum(running) * MIB <= 8 * 1024**3


def test_every_image_can_be_replaced(services: dict[str, Any]) -> None:
    for name, service in services.items():
        of_silver = name in ("secrets", "sqlapi", "api", "metastore", "thriftserver")
        variable = "SILVER" if of_silver else name.replace("-", "_").upper()
        pinned = rf"\$\{{{variable}_IMAGE:-[a-z0-9./-]+:[\w.-]+(@sha256:[0-9a-f]{{64}})?\}}"
        assert re.fullmatch(pinned, service["image"]), name


def test_an_image_that_is_built_here_is_looked_for_nowhere_else() -> None:
    """Its name could be someone else's on a hub, and it is given the lab's secrets."""
    for file in ("compose.yaml", "stand-in.yaml"):
        for name, service in load(file)["services"].items():
            if "labctl/" in service.get("image", ""):
                assert re.fullmatch(r"\$\{[A-Z]+_PULL_POLICY:-never\}", service["pull_policy"]), (
                    name
                )


def test_images_are_of_the_locked_versions(services: dict[str, Any]) -> None:
    parts = (PROJECT / "labctl" / "artifacts" / "parts.toml").read_text(encoding="utf-8")
    for name in ("kafka", "connect", "registry", "registry-ui"):
        tag = services[name]["image"].removesuffix("}").partition("@")[0].rpartition(":")[2]
        assert f'version = "{tag}"' in parts, name


def test_no_secret_is_in_the_environment(services: dict[str, Any]) -> None:
    for service in services.values():
        for variable, value in service.get("environment", {}).items():
            if "PASSWORD" in variable or "SECRET" in variable:
                assert str(value).startswith("/run/secrets/"), variable


@pytest.mark.parametrize("name", ["compose.yaml", "stand-in.yaml"])
def test_keeps_to_what_engine_20_can_do(name: str) -> None:
    document = load(name)
    assert "configs" not in document
    for service in document["services"].values():
        assert "start_interval" not in service.get("healthcheck", {})


@pytest.mark.parametrize("path", sorted(COMPOSE.rglob("Dockerfile")), ids=lambda p: p.parent.name)
def test_dockerfiles_need_no_buildkit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "# syntax" not in text
    assert "<<" not in text
    assert "--mount" not in text
    assert "--chmod" not in text


def test_every_service_with_a_local_image_has_a_recipe(services: dict[str, Any]) -> None:
    images = set(RECIPES) - STEPS
    shared = {name for name in services if services[name]["image"] == services["silver"]["image"]}
    others = {"sqlserver"} | shared - {"silver"}
    assert images == {service.name for service in LAB_SERVICES} - others | {"front"}
    assert images <= set(services)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_recipes_name_what_their_dockerfiles_use(recipe: Any) -> None:
    text = (COMPOSE / "images" / recipe.folder / "Dockerfile").read_text(encoding="utf-8")
    assert set(recipe.parents) == set(re.findall(r"^ARG (\w*(?:BASE|IMAGE|BUILDER))", text, re.M))
    assert set(recipe.artifacts) == set(re.findall(r"COPY artifacts/([\w-]+)", text))
    for shared in recipe.shared:
        assert f"COPY {shared} " in text
