"""`labctl tools api`: what it keeps of being switched on, and what it refuses."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from labctl import extras
from labctl.cli import api, up
from labctl.cli.app import root
from labctl.errors import ExitCode
from labctl.lab.catalog import lake_api_switch as module
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.up import Started
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.state.lab_state import LabState
from tests.unit.service_context import PROJECT

__all__ = ["api", "up"]  # imported to be registered

Run = Callable[..., Result]
RUNNING = ProcessState("RUNNING", 1, 0.0)


@pytest.fixture
def run(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line in the project's folder."""
    monkeypatch.setenv("LABCTL_PROJECT", str(PROJECT))
    return lambda *arguments: CliRunner().invoke(root, ["tools", "api", *arguments, "--lab", "one"])


@pytest.fixture
def running(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Services of a lab whose supervisor is only told about."""
    services = {"postgres", "objectstore", "sqlapi"}
    state = LabState("one")
    state.create()
    state.save(name="one", profile="native", project=str(PROJECT))

    def started(lab: Lab, reporter: object, names: Sequence[str] = ()) -> Started:
        del reporter
        services.update(name for name in names if lab.service(name))
        lab.state.save(ports=lab.ports)
        return Started(1.0, dict.fromkeys(names, ""))

    monkeypatch.setattr(module, "up", started)
    monkeypatch.setattr(NativeRuntime, "states", lambda _: dict.fromkeys(services, RUNNING))
    monkeypatch.setattr(NativeRuntime, "stop", lambda _, name: services.discard(name))
    return services


def switched_on() -> set[str]:
    """What a later command finds in the lab."""
    there = {service.name for service in Lab.find(name="one", project=PROJECT).services}
    return there & {"api", "cache"}


def test_it_stays_on_until_it_is_switched_off(run: Run, running: set[str]) -> None:
    assert switched_on() == set()
    for _ in range(2):
        done = run("up", "-o", "json")
        assert done.exit_code == ExitCode.OK, done.output
        port = Lab.find(name="one", project=PROJECT).ports["api"]["http"]
        assert json.loads(done.stdout)["url"] == f"http://127.0.0.1:{port}"
        assert switched_on() == {"api", "cache"}
        assert {"api", "cache"} <= running
    for stopped in (["api", "cache"], []):
        done = run("down", "-o", "json")
        assert json.loads(done.stdout) == {"stopped": stopped, "by_file": False}
        assert switched_on() == set()
    assert running == {"postgres", "objectstore", "sqlapi"}


def test_a_cache_is_left_out_on_request(run: Run, running: set[str]) -> None:
    assert run("up", "--no-cache").exit_code == ExitCode.OK
    assert switched_on() == {"api"}
    assert "cache" not in running
    refused = run("cache", "keys")
    assert refused.exit_code == ExitCode.NOT_READY
    assert "has no cache" in refused.output


@pytest.mark.parametrize(
    "arguments",
    [("status",), ("open",), ("load",), ("cache", "keys"), ("cache", "clear"), ("cache", "stats")],
    ids=" ".join,
)
def test_where_it_is_not_on_a_command_says_what_switches_it_on(
    arguments: tuple[str, ...], run: Run, running: set[str]
) -> None:
    refused = run(*arguments)
    assert refused.exit_code == ExitCode.NOT_READY
    assert "Lab 'one' has no lake API" in refused.output
    assert "labctl --lab one tools api up" in refused.output


def test_a_lab_that_does_not_run_is_not_started(run: Run, state_home: Path) -> None:
    assert run("up").exit_code == ExitCode.USAGE  # there is none
    state = LabState("one")
    state.create()
    state.save(name="one", profile="native")
    refused = run("up")
    assert refused.exit_code == ExitCode.NOT_READY
    assert "is not running" in refused.output
    assert switched_on() == set()


def test_packages_that_are_not_installed_are_named(
    run: Run, running: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        extras, "find_spec", lambda name: None if name == "structlog" else find_spec(name)
    )
    refused = run("up")
    assert refused.exit_code == ExitCode.ENVIRONMENT
    assert "structlog" in refused.output
    assert "labctl[lakeapi]" in refused.output
    assert switched_on() == set()


def test_a_lab_without_its_tables_is_refused(
    state_home: Path, running: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = LabState("moma")
    state.create()
    state.save(name="moma", profile="native")
    monkeypatch.setenv("LABCTL_PROJECT", str(PROJECT))
    refused = CliRunner().invoke(root, ["tools", "api", "up", "--lab", "moma"])
    assert refused.exit_code == ExitCode.USAGE
    assert "reads the tables category" in refused.output


def test_the_page_is_opened_and_named(
    run: Run, running: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("up")
    opened: list[str] = []

    def opens(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", opens)
    done = run("open")
    assert done.stdout.strip() == opened[0]
    assert opened[0].endswith("/v1/swagger-ui/index.html")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert run("open").exit_code == ExitCode.OK
    assert "No browser" in run("open").output


def test_a_service_that_is_not_on_is_named_with_its_switch(
    state_home: Path, running: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABCTL_PROJECT", str(PROJECT))
    refused = CliRunner().invoke(root, ["up", "api", "--lab", "one"])
    assert refused.exit_code == ExitCode.USAGE
    assert "[api] with enabled = true" in " ".join(refused.output.split())
