"""What `up` leaves running when a service fails or the user interrupts; how long it waits."""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

import labctl.lab.lab
from labctl.artifacts import Progress
from labctl.artifacts.fetch_progress import SilentProgress
from labctl.config.endpoints import Endpoint, Endpoints
from labctl.config.services import ServiceSettings
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle import starting as module
from labctl.lab.lifecycle.starting import start_seconds
from labctl.lab.lifecycle.up import up
from labctl.runtimes.runtime_protocols import Check, ProcessState, Runtime
from labctl.services.service import Context, NativeService, Process, Service, Site, Suspension

PROJECT = Path(__file__).parents[2]


class Reporter(SilentProgress):
    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def service(self, name: str, state: str, detail: str = "") -> None:
        del detail
        self.told[name] = state


class Logs:
    """The logs of services that say one line each."""

    def file(self, name: str) -> None:
        del name

    def tail(self, name: str, lines: int) -> list[str]:
        return [f"last line of {name}"][:lines]

    def follow(self, name: str) -> Iterator[str]:
        return iter(self.tail(name, 1))


class Machine:
    """A runtime whose services run as soon as they are started. It has no faults and no data."""

    def __init__(self) -> None:
        self.up: set[str] = set()
        self.started: list[str] = []
        self.declared = False
        self.changed: set[str] = set()
        """Services whose definition is another one since they were started."""
        self.slow: set[str] = set()
        """Services of which a part is still being made."""
        self.logs = Logs()

    @property
    def inspector(self) -> NoReturn:
        raise NotImplementedError

    @property
    def files(self) -> NoReturn:
        raise NotImplementedError

    @property
    def faults(self) -> NoReturn:
        raise NotImplementedError

    def endpoints(self) -> Endpoints:
        return Endpoints.model_construct()

    def checks(self) -> list[Check]:
        return []

    def parts(self) -> list[Check]:
        return []

    def states(self) -> dict[str, ProcessState]:
        return {name: ProcessState("RUNNING", 1, 0.0) for name in self.up}

    def state(self, name: str) -> ProcessState:
        return self.states().get(name, ProcessState("STOPPED", None, None))

    def write_secrets(self) -> None: ...

    def declare(self, services: Sequence[tuple[Service, Context]]) -> set[str]:
        self.declared = True
        changed = self.changed.intersection(service.name for service, _ in services)
        self.changed -= changed
        self.up -= changed
        return changed

    def start(self, service: Service, context: Context) -> None:
        del context
        self.started.append(service.name)
        self.up.add(service.name)

    def stop(self, name: str) -> None:
        self.up.discard(name)

    def shutdown(self) -> None:
        self.up.clear()
        self.declared = False

    def remove(self) -> None: ...

    @contextmanager
    def fetching(self, services: Sequence[Service], progress: Progress) -> Iterator[Machine]:
        del progress
        self.wanted = services
        yield self

    def first(self) -> list[Service]:
        return [service for service in self.wanted if service.name not in self.slow]

    def rest(self) -> None:
        self.started.append("(made)")

    def own_ports(self) -> set[int]:
        return set()

    def require_own_listeners(self, name: str, pid: int | None) -> None: ...

    def end_strays(self) -> None: ...


def usable(context: Context) -> str:
    return context.service.name


def unusable(context: Context) -> str:
    raise ConnectionError(f"{context.service.name} does not answer")


def nowhere(_: Site) -> Endpoint:
    return Endpoint()


def service(name: str, *after: str) -> Service:
    native = NativeService(artifacts=(), memory_mib=0, process=lambda _: Process(("true",)))
    return Service(
        name=name,
        title=name.title(),
        ports={},
        native=native,
        probe=usable,
        endpoint=nowhere,
        depends_on=after,
    )


BASE, ALONE, ABOVE = service("base"), service("alone"), service("above", "base")


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def lab(state_home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Lab:
    def opened(*_: object) -> Runtime:
        return machine

    monkeypatch.setattr(labctl.lab.lab, "open_runtime", opened)
    return Lab.find(name="one", profile="native", project=PROJECT)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *services: monkeypatch.setattr(labctl.lab.lab, "services_of", lambda _: services)


def test_a_failure_leaves_the_others_running_and_up_goes_on(
    lab: Lab, machine: Machine, serve: Any
) -> None:
    slow = replace(BASE, probe=unusable, ready_seconds=0)
    serve(slow, ALONE, ABOVE)
    reporter = Reporter()
    with pytest.raises(LabError) as raised:
        up(lab, reporter)
    assert raised.value.exit_code is ExitCode.NOT_READY
    assert "Base was not usable after 0 s" in raised.value.what
    assert "start_seconds in lab.toml, [services.base]" in (raised.value.hint or "")
    assert "`labctl up` goes on" in (raised.value.hint or "")
    assert raised.value.details == ("last line of base", "Above was not started: it needs base")
    assert reporter.told == {"base": "failed", "alone": "ready", "above": "stopped"}
    # It may be usable a moment later, and its log can be read.
    assert machine.up == {"base", "alone"}

    serve(BASE, ALONE, ABOVE)
    assert set(up(lab, Reporter()).versions) == {"base", "alone", "above"}
    assert sorted(machine.started) == ["above", "alone", "base"], "each was started once"


def test_what_needs_no_slow_part_is_up_before_that_is_made(
    lab: Lab, machine: Machine, serve: Any
) -> None:
    serve(BASE, ALONE, ABOVE)
    machine.slow = {"base"}
    usable_meanwhile: list[list[str]] = []
    started = up(lab, Reporter(), meanwhile=lambda versions: usable_meanwhile.append([*versions]))
    assert machine.started == ["alone", "(made)", "base", "above"]
    assert usable_meanwhile == [["alone"]]
    assert set(started.versions) == {"base", "alone", "above"}


def test_what_waits_by_itself_is_started_beside_what_it_needs(
    lab: Lab, machine: Machine, serve: Any
) -> None:
    def once_above_runs(context: Context) -> str:
        assert "above" in machine.up
        return usable(context)

    beside = replace(ABOVE, starts_beside=True)
    serve(replace(BASE, probe=once_above_runs), beside)
    assert set(up(lab, Reporter()).versions) == {"base", "above"}

    machine.shutdown()
    serve(replace(BASE, probe=unusable, ready_seconds=0), beside)
    with pytest.raises(LabError, match="Base was not usable"):
        up(lab, Reporter())
    assert machine.up == {"base"}


def test_a_service_that_runs_is_resumed_once_what_it_needs_is_usable(
    lab: Lab, machine: Machine, serve: Any
) -> None:
    resumed: list[set[str]] = []
    suspension = Suspension(lambda _: None, lambda _: resumed.append(set(machine.up)))
    serve(BASE, replace(ABOVE, suspension=suspension))
    machine.up, machine.declared = {"above"}, True
    up(lab, Reporter())
    assert machine.started == ["base"]
    assert resumed == [{"base", "above"}]


def test_an_interrupt_stops_what_is_not_usable_yet(
    lab: Lab, machine: Machine, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def still_starting(context: Context) -> str:
        asked.set()
        return unusable(context)

    def interrupted(futures: Any) -> None:
        """Ctrl-C comes while one service is usable and another is not."""
        monkeypatch.setattr(module, "wait", concurrent.futures.wait)
        assert asked.wait(60)
        next(iter(futures)).result()
        raise KeyboardInterrupt

    serve(ALONE, replace(BASE, probe=still_starting), ABOVE)
    monkeypatch.setattr(module, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        up(lab, Reporter())
    assert machine.up == {"alone"}
    assert machine.declared


def test_nothing_stays_when_nothing_was_started(lab: Lab, machine: Machine, serve: Any) -> None:
    def cannot(context: Context) -> None:
        raise LabError(f"{context.service.name} cannot be prepared")

    serve(BASE)
    machine.start = lambda service, context: cannot(context)  # type: ignore[method-assign]
    with pytest.raises(LabError, match="base cannot be prepared"):
        up(lab, Reporter())
    assert not machine.declared


@pytest.mark.parametrize(
    ("load", "configured", "seconds"),
    [(0.0, None, 60), (2.0, None, 60), (6.0, None, 180), (100.0, None, 300), (100.0, 45, 45)],
)
def test_a_busy_machine_may_take_longer(
    load: float, configured: int | None, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert start_seconds(BASE, ServiceSettings(start_seconds=configured)) == seconds


def test_a_running_lab_is_not_taken_over_by_another_checkout(
    lab: Lab, machine: Machine, serve: Any, tmp_path: Path
) -> None:
    serve(ALONE)
    up(lab, Reporter())
    shutil.copy(PROJECT / "lab.toml", tmp_path)
    for folder in ("connectors", "spark"):
        shutil.copytree(PROJECT / folder, tmp_path / folder)
    other = replace(lab, project=tmp_path)
    with pytest.raises(LabError, match=f"runs for the project in {PROJECT}") as raised:
        up(other, Reporter())
    assert raised.value.exit_code is ExitCode.BUSY
    assert lab.state.load()["project"] == str(PROJECT)

    machine.shutdown()
    up(other, Reporter())
    assert lab.state.load()["project"] == str(tmp_path)


def test_a_project_whose_application_needs_another_contract_is_refused(
    lab: Lab, machine: Machine, serve: Any, tmp_path: Path
) -> None:
    serve(replace(ALONE, name="silver"))
    shutil.copy(PROJECT / "lab.toml", tmp_path)
    for folder in ("connectors", "spark"):
        shutil.copytree(PROJECT / folder, tmp_path / folder)
    (tmp_path / "spark" / "lakehouse" / "__init__.py").write_text("CONTRACT = 7\n")
    other = replace(lab, project=tmp_path)
    with pytest.raises(LabError, match=r"needs version 7, .* has version 1 "):
        up(other, Reporter())
    assert machine.started == []


OWN = replace(service("own"), is_own=True)


def test_services_of_the_users_start_last(lab: Lab, machine: Machine, serve: Any) -> None:
    serve(ABOVE, BASE, ALONE, OWN)
    started = up(lab, Reporter())
    assert machine.started[-1] == "own"
    assert set(started.started) == {"above", "base", "alone", "own"}
    assert up(lab, Reporter()).is_unchanged


@pytest.mark.parametrize("changed", [OWN, ALONE], ids=lambda one: str(one.name))
def test_a_running_service_that_has_changed_is_started_again_though_not_asked_for(
    changed: Service, lab: Lab, machine: Machine, serve: Any
) -> None:
    """The runtime has stopped it."""
    serve(BASE, ALONE, OWN)
    up(lab, Reporter())
    machine.changed = {changed.name}
    started = up(lab, Reporter(), ["base"])
    assert machine.up == {"base", "alone", "own"}
    assert started.started == (changed.name,)


def test_a_service_of_the_users_that_cannot_be_used_leaves_the_pipeline(
    lab: Lab, machine: Machine, serve: Any
) -> None:
    serve(BASE, replace(OWN, probe=unusable, ready_seconds=0))
    with pytest.raises(LabError, match="Own was not usable"):
        up(lab, Reporter())
    assert machine.up == {"base", "own"}
