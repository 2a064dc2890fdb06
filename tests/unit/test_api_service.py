"""The record of the lake API: when a lab has it, its settings and secrets, and its container's."""

from __future__ import annotations

import configparser
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from labctl.config.lab_config import ApiSettings, CacheSettings, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.up import _with_dependencies
from labctl.lab.snapshots.restoring import builds
from labctl.runtimes.compose.container_addresses import network_address
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.services.api_service import ALIVE, CREDENTIALS, PASSWORD_FILE, SERVICE
from labctl.services.lab_services import compose_variables, services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.service import Context
from labctl.shipped import shipped
from labctl.state.sockets import LOOPBACK
from lakeapi.settings import Settings, of_environment
from lakeapi.tables import Tables
from tests.unit.service_context import PORTS, PROJECT, SECRET, context_of

WITHOUT = LabConfig.load(PROJECT / "lab.toml")
ALONE = WITHOUT.model_copy(update={"api": ApiSettings(enabled=True, workers=2)})
WITH = ALONE.model_copy(update={"cache": CacheSettings(enabled=True)})
OF_AN_ADDRESS = {
    *("AWS_ENDPOINT_URL_ATHENA", "AWS_ENDPOINT_URL_GLUE", "AWS_ENDPOINT_URL_STS"),
    *("REDIS_HOST", "REDIS_PORT", "REDIS_PASSWORD_FILE", "AWS_SHARED_CREDENTIALS_FILE"),
    *("LAKEAPI_HOST", "LAKEAPI_PORT"),
}
"""Settings that cannot be the same natively and in containers."""


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_of(SERVICE, WITH, tmp_path)


def settings_of(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the service makes of its environment."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return of_environment()


def test_a_lab_has_it_only_where_it_is_switched_on() -> None:
    assert SERVICE not in services_of(WITHOUT)
    assert services_of(ALONE) == (*services_of(WITHOUT), SERVICE)
    assert "api" not in loopback_endpoints(WITHOUT, PORTS, SECRET).others


def test_no_secret_is_in_its_command_line_or_environment(context: Context) -> None:
    SERVICE.native_form.prepare(context)
    process = SERVICE.native_form.process(context)
    shown = [*process.argv, *process.env, *process.env.values()]
    assert not [word for word in shown if "secret-of" in word]
    for variable in ("AWS_SHARED_CREDENTIALS_FILE", "REDIS_PASSWORD_FILE"):
        file = Path(process.env[variable])
        assert file.parent == context.conf
        assert file.stat().st_mode & 0o777 == 0o600


def test_requests_are_signed_with_the_key_of_the_lab(context: Context) -> None:
    SERVICE.native_form.prepare(context)
    told = configparser.ConfigParser()
    told.read(context.conf / CREDENTIALS)
    assert dict(told["default"]) == {
        "aws_access_key_id": "labctl",
        "aws_secret_access_key": "secret-of-objectstore",
    }
    environment = SERVICE.native_form.process(context).env
    for service in ("ATHENA", "GLUE"):
        assert environment[f"AWS_ENDPOINT_URL_{service}"] == f"http://{LOOPBACK}:8085"
    # a profile of the machine's own may name other keys and addresses
    assert environment["AWS_CONFIG_FILE"] == "/dev/null"


def test_the_service_reads_its_environment(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    SERVICE.native_form.prepare(context)
    settings = settings_of(dict(SERVICE.native_form.process(context).env), monkeypatch)
    assert (settings.host, settings.port, settings.workers) == (LOOPBACK, 8088, 2)
    assert settings.output == "s3://tickit-lake/athena/"
    assert settings.database == "tickit"
    assert settings.tables == Tables(**{name: name for name in Tables.model_fields})
    assert (settings.redis_host, settings.redis_port) == (LOOPBACK, 6379)
    assert settings.redis_login == "secret-of-cache"
    assert settings.cache_mode == "commit"


def test_without_a_cache_it_looks_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = SERVICE.native_form.process(context_of(SERVICE, ALONE, tmp_path))
    assert settings_of(dict(process.env), monkeypatch).cache_mode == "off"
    assert not [name for name in process.env if name.startswith("REDIS")]


def test_a_lab_without_its_tables_is_told_so() -> None:
    moma = LabConfig.load(PROJECT / "labs" / "moma.toml")
    config = moma.model_copy(update={"api": ALONE.api})
    with pytest.raises(LabError, match="reads the tables category, date") as caught:
        compose_variables(PROJECT, config)
    assert caught.value.exit_code is ExitCode.USAGE
    assert "[api]" in (caught.value.hint or "")


@pytest.mark.parametrize("numbers", [{"workers": 0}, {"workers": 33}, {"replicas": 17}])
def test_the_numbers_of_workers_and_containers_have_limits(numbers: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        ApiSettings.model_validate(numbers)


@pytest.fixture
def containers() -> dict[str, Any]:
    text = (shipped("compose") / "compose.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["services"]
    return found


@pytest.fixture
def container(containers: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = containers["api"]
    return found


def filled(text: str, variables: dict[str, str]) -> str:
    """As Compose fills in `${NAME:-default}`."""
    while "${" in text:
        before, _, rest = text.partition("${")
        inner, _, after = rest.partition("}")
        name, _, default = inner.partition(":-")
        text = before + variables.get(name, default) + after
    return text


def test_its_container_has_the_native_settings(context: Context, container: dict[str, Any]) -> None:
    native = SERVICE.native_form.process(context)
    assert container["command"] == ["python", *native.argv[1:]]
    assert container["profiles"] == [SERVICE.name]
    variables = compose_variables(PROJECT, WITH)
    inside = {name: filled(text, variables) for name, text in container["environment"].items()}
    told = {name: value for name, value in inside.items() if name not in OF_AN_ADDRESS}
    assert told == {
        name: f"{value}" for name, value in native.env.items() if name not in OF_AN_ADDRESS
    }
    assert inside["AWS_ENDPOINT_URL_ATHENA"] == f"http://{network_address(WITH, 'sqlapi', 'http')}"
    assert f"{inside['REDIS_HOST']}:{inside['REDIS_PORT']}" == network_address(
        WITH, "cache", "redis"
    )
    assert inside["LAKEAPI_PORT"] == str(SERVICE.ports["http"])
    assert json.loads(inside["ATHENA_TABLES"]).keys() == Tables.model_fields.keys()
    assert filled(container["mem_limit"], variables) == "416m"


def test_its_containers_have_one_port_and_what_hands_on_to_them(
    containers: dict[str, Any], tmp_path: Path
) -> None:
    """Several containers cannot publish one port."""
    config = WITH.model_copy(update={"api": ApiSettings(enabled=True, workers=2, replicas=3)})
    variables = compose_variables(PROJECT, config)
    assert filled(containers["api"]["deploy"]["replicas"], variables) == "3"
    assert "ports" not in containers["api"]
    (front,) = SERVICE.sidecars
    assert containers[front]["profiles"] == containers["api"]["profiles"]
    (published,) = containers[front]["ports"]
    assert filled(published, {"API_HTTP_PORT": "8999"}) == "127.0.0.1:8999:8088"
    settings = containers[front]["environment"]
    assert f"api:{settings['API_PORT']}" == network_address(config, "api", "http")
    assert settings["API_ALIVE"] == ALIVE
    natively = SERVICE.native_form.process(context_of(SERVICE, config, tmp_path))
    assert natively.env["LAKEAPI_WORKERS"] == "6"


def test_a_lab_without_it_leaves_the_compose_file_as_it_is() -> None:
    assert not [name for name in compose_variables(PROJECT, WITHOUT) if name.startswith("API_")]
    assert compose_variables(PROJECT, ALONE)["API_CACHE_MODE"] == "off"


def test_its_container_reads_its_secrets_from_files(
    tmp_path: Path, container: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_service_secrets(tmp_path, WITH, SECRET)
    files = {file.name for file in (tmp_path / "api").iterdir()}
    assert files == {CREDENTIALS, PASSWORD_FILE}
    environment = container["environment"]
    for variable in ("AWS_SHARED_CREDENTIALS_FILE", "REDIS_PASSWORD_FILE"):
        folder, _, name = environment[variable].rpartition("/")
        assert folder == "/run/secrets"
        assert name in files
    assert "${LAB_SECRETS:-./secrets}/api:/run/secrets:ro" in container["volumes"]


def test_it_comes_behind_what_it_needs_and_the_lab_has(state_home: Path) -> None:
    lab = Lab.find(name="one", project=PROJECT)

    def order(config: LabConfig) -> list[str]:
        found = Lab(lab.project, config, lab.profile, lab.state)
        return [service.name for service in _with_dependencies(found, ["api"])]

    assert order(WITH) == ["postgres", "objectstore", "sqlapi", "cache", "api"]
    assert order(ALONE) == ["postgres", "objectstore", "sqlapi", "api"]


def test_clients_find_it_and_no_snapshot_asks_for_it(state_home: Path) -> None:
    lab = Lab.find(name="one", project=PROJECT)
    lab.state.folder.mkdir(parents=True)
    lab.state.save(name="one", profile="native")
    with_it = Lab(lab.project, WITH, lab.profile, lab.state)
    port = with_it.ports["api"]["http"]
    assert client_environment(with_it)["LAKE_API_URL"] == f"http://{LOOPBACK}:{port}/v1"
    assert builds(with_it) == builds(Lab(lab.project, WITHOUT, lab.profile, lab.state))
