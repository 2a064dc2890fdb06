"""What compose/ holds: written from the services' records, safe, and fit for an old engine."""

from __future__ import annotations

import re
import subprocess
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from labctl.config.lab_config import LabConfig
from labctl.images.recipes import RECIPES, STEPS
from labctl.images.sources import SOURCES
from labctl.runtimes.compose.compose_file import written_files, yaml_pair
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.services import (
    connect_service,
    kafka_service,
)
from labctl.services.container import BUCKET, REGION
from labctl.services.lab_services import PASSWORDS, container_forms
from labctl.services.lab_services import SERVICES as LAB_SERVICES

PROJECT = Path(__file__).parents[2]
COMPOSE = PROJECT / "compose"
LAB = LabConfig.load(PROJECT / "lab.toml")
MIB = 1024**2


def load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((COMPOSE / name).read_text(encoding="utf-8"))
    return document


def test_the_files_are_those_of_the_services_records() -> None:
    """After a change of a record, `make compose` writes them again."""
    for path, text in written_files().items():
        assert (COMPOSE / path).read_text(encoding="utf-8") == text, path


def test_the_written_file_says_what_the_records_say(services: dict[str, Any]) -> None:
    """Long texts are folded, and come out of the file as they went in."""
    for service, form in container_forms(LAB_SERVICES):
        for container in (form.service, *form.beside):
            written = services[container.name]
            for key in ("command", "entrypoint"):
                assert tuple(written.get(key, ())) == getattr(container, key)
            assert written.get("environment", {}) == container.environment
            assert written.get("healthcheck", {}).get("test", []) == list(
                container.health.test if container.health else ()
            )
        assert services[service.name]["stop_grace_period"].endswith("s")


def test_a_text_that_folding_would_change_is_not_folded() -> None:
    for text in ("a " * 80 + " b", "a\nb" * 60, "word " * 40 + "end"):
        lines = "\n".join(yaml_pair("key", text, "", {}))
        assert yaml.safe_load(lines) == {"key": text}


def test_the_servers_begin_with_the_databases_of_the_shipped_lab(services: dict[str, Any]) -> None:
    postgres, mysql = (services[name]["environment"] for name in ("postgres", "mysql"))
    assert postgres["POSTGRES_DB"] == LAB.sources["postgres"].database
    assert mysql["MYSQL_DATABASE"] == LAB.sources["mysql"].schemas[0]
    assert f"${{LAB_BUCKET:-{LAB.lake.bucket}}}" == BUCKET
    assert f"${{LAB_REGION:-{LAB.lake.region}}}" == REGION


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = load("compose.yaml")["services"]
    return found


def properties(path: str) -> dict[str, str]:
    lines = (COMPOSE / path).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


def test_the_container_of_postgres_knows_every_database_of_another_service(tmp_path: Path) -> None:
    write_service_secrets(tmp_path, LAB, {role: f"of-{role}" for role in PASSWORDS})
    lines = (tmp_path / "postgres" / "databases").read_text(encoding="utf-8").splitlines()
    assert lines == ["registry=of-registry", "sqlapi=of-sqlapi", "metastore=of-metastore"]


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


def test_optional_services_have_a_profile_of_their_name(services: dict[str, Any]) -> None:
    for name in ("metastore", "thriftserver", "cache", "api"):
        assert name in services[name]["profiles"]
        assert name not in {
            need
            for one in services.values()
            for need in one.get("depends_on", {})
            if not one.get("profiles")
        }


def test_ports_are_published_on_loopback_only(services: dict[str, Any]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(re.fullmatch(r"127\.0\.0\.1:\$\{[A-Z0-9_]+:-\d+\}:\d+", port) for port in published)


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


def test_the_context_of_silvers_image_has_what_it_copies() -> None:
    lines = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    assert let_in == set(SOURCES) - {".dockerignore"}
    dockerfile = (COMPOSE / "images/silver/Dockerfile").read_text(encoding="utf-8")
    for words in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE):
        for source in words.split():
            assert any(source == one or source.startswith(f"{one}/") for one in let_in), source


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
