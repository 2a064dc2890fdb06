"""The record of the cache: when a lab has it, its command line, its secrets, its container."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import CacheSettings, LabConfig
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.lab import Lab
from labctl.lab.snapshots.restoring import builds
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.services.cache_service import PASSWORD_FILE, SERVICE
from labctl.services.lab_services import services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.service import Context
from labctl.state.sockets import LOOPBACK
from tests.unit.service_context import PORTS, PROJECT, SECRET, context_of

WITHOUT = LabConfig.load(PROJECT / "lab.toml")
WITH = WITHOUT.model_copy(update={"cache": CacheSettings(enabled=True)})


class _Store(ArtifactStore):
    """Parts that need not be fetched to be named."""

    def path(self, name: str) -> Path:
        return Path("/parts", name)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_of(SERVICE, WITH, tmp_path, _Store())


def test_a_lab_has_it_only_where_it_is_switched_on() -> None:
    assert SERVICE not in services_of(WITHOUT)
    assert services_of(WITH) == (*services_of(WITHOUT), SERVICE)
    assert "cache" not in loopback_endpoints(WITHOUT, PORTS, SECRET).others


def test_the_password_is_in_a_private_file_and_in_no_command_line(context: Context) -> None:
    SERVICE.native_form.prepare(context)
    process = SERVICE.native_form.process(context)
    assert not [word for word in (*process.argv, *process.env.values()) if "secret-of" in word]
    file = context.conf / PASSWORD_FILE
    assert process.argv[1] == str(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text(encoding="utf-8") == "requirepass secret-of-cache\n"


def test_it_listens_on_loopback(context: Context) -> None:
    argv = SERVICE.native_form.process(context).argv
    assert argv[argv.index("--bind") + 1] == LOOPBACK
    assert argv[argv.index("--port") + 1] == "6379"


def test_in_containers_it_and_the_lake_api_have_its_password(tmp_path: Path) -> None:
    write_service_secrets(tmp_path, WITH, SECRET)
    holding = {
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*")
        if path.is_file() and "secret-of-cache" in path.read_text(encoding="utf-8")
    }
    assert holding == {f"cache/{PASSWORD_FILE}", "api/redis-password"}


@pytest.fixture
def lab(state_home: Path) -> Lab:
    lab = Lab.find(name="one", project=PROJECT)
    lab = Lab(lab.project, WITH, lab.profile, lab.state)
    lab.state.folder.mkdir(parents=True)
    lab.state.save(name="one", profile="native")
    return lab


def test_clients_find_it_and_the_file_of_its_password(lab: Lab) -> None:
    values = client_environment(lab)
    assert values["REDIS_HOST"] == LOOPBACK
    assert values["REDIS_PORT"] == str(lab.ports["cache"]["redis"])
    file = Path(values["REDIS_PASSWORD_FILE"])
    assert file.read_text(encoding="utf-8") == lab.passwords["cache"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert lab.passwords["cache"] not in values.values()


def test_a_snapshot_does_not_ask_whether_there_is_one(lab: Lab) -> None:
    without = Lab(lab.project, WITHOUT, lab.profile, lab.state)
    assert builds(lab) == builds(without)
