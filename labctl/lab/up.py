"""Bringing a lab up: parts, ports, secrets, then every service as soon as it may start."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from labctl.artifacts import Progress, SilentProgress
from labctl.config.model import ServiceSettings, lab_file
from labctl.errors import ExitCode, LabError
from labctl.home.sockets import is_free, owner_of
from labctl.kafkaconnect.apply import Applied
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.busy import when_busy
from labctl.lab.connectors import (
    apply_and_wait,
    check_files,
    check_sink_files,
    give_logins,
    lab_files,
    restart_failed_tasks,
)
from labctl.lab.lab import Lab
from labctl.lab.own_schema import (
    AppliedSchema,
    apply_schema,
    check_schemas,
    sources_with_schema,
)
from labctl.lab.snapshots import finish_restore
from labctl.runtimes.model import Level
from labctl.services import Service

__all__ = [
    "SilentReporter",
    "Started",
    "UpReporter",
    "restart_service",
    "start_seconds",
    "up",
    "wait_until_usable",
]

PROBE_INTERVAL = 0.1
"""Seconds between two probes of a service that is not usable yet."""

CONNECT_SECONDS = 180.0
"""How long Connect may take to answer. It answers nothing while it stops a task, and one without a
login for its schema history asks Kafka for a minute before it ends."""


class UpReporter(Progress, Protocol):
    """Told how `up` goes on. Called from several threads."""

    def service(self, name: str, state: str, detail: str = "") -> None:
        """`state`: waiting, starting, ready, stopped or failed."""


class SilentReporter(SilentProgress):
    """An `UpReporter` that says nothing: for a service that comes back in the middle of a run."""

    def service(self, name: str, state: str, detail: str = "") -> None: ...


@dataclass(frozen=True)
class Started:
    """What `up` did."""

    seconds: float
    versions: dict[str, str]
    """What each service said of itself."""
    schemas: tuple[AppliedSchema, ...] = ()
    """What was applied of the project's own schemas."""
    connectors: tuple[Applied, ...] = ()
    """Those of the sources that have one."""


def up(lab: Lab, reporter: UpReporter, names: Sequence[str] = ()) -> Started:
    """Bring services up until they are usable: all of them, or `names` and what those need.

    Safe to repeat. When one fails, all others that do not need it are still brought up, and
    everything that runs stays up: the next call goes on from there. When the user interrupts,
    what this call started and is not usable yet is stopped; what is usable stays up.
    Raises LabError (NOT_READY) naming what failed, and why.
    """
    begun = time.monotonic()
    wanted = _with_dependencies(lab, names)
    _require_one_profile(lab)
    _require_one_project(lab)
    check_files(lab)
    check_schemas(lab)
    if any(service.name == "silver" for service in wanted):
        check_sink_files(lab)
    with lab.require_here().state.changing():
        if finish_restore(lab.state):
            lab = replace(lab)  # what it has read by now is of before
        problems = [c for c in lab.runtime.checks() if c.level is Level.FAIL]
        if problems:
            raise LabError(
                f"This machine cannot run the lab: {problems[0].detail}",
                hint=problems[0].hint,
                details=tuple(f"{c.name}: {c.detail}" for c in problems[1:]),
                exit_code=ExitCode.ENVIRONMENT,
            )
        states = lab.runtime.states()
        running = [s for s in lab.services if s.name in states and states[s.name].running]
        idle = [s for s in wanted if s not in running]
        if not states:
            # What a killed supervisor left would still hold the lab's own ports.
            lab.runtime.end_strays()
        _check_ports(lab, idle)
        lab.runtime.fetch(wanted, reporter)
        _write_state(lab, fresh=not states)
        with _no_idle_runtime_left(lab):
            known = [s for s in lab.services if s in wanted or s in running]
            changed = lab.runtime.declare([(s, lab.context(s)) for s in known])
            idle += [s for s in running if s.name in changed]
            versions = _start_services(lab, wanted, idle, reporter)
        if "connect" in versions:
            client = connect_client(lab.endpoints.connect, seconds=CONNECT_SECONDS)
            give_logins(client)
            # A task whose database or registry was still starting is dead by now.
            restart_failed_tasks(client)
        schemas = _apply_schemas(lab, versions, reporter)
        connectors = _apply_connectors(lab, versions)
    return Started(time.monotonic() - begun, versions, tuple(schemas), tuple(connectors))


def _apply_schemas(
    lab: Lab, versions: Mapping[str, str], reporter: UpReporter
) -> list[AppliedSchema]:
    """Make the tables that the project describes, in the databases that are up."""
    applied = []
    for name in sources_with_schema(lab):
        if lab.config.sources[name].engine in versions:
            reporter.begin(name, "making its tables", None, "statements")
            applied += apply_schema(lab, name)
            reporter.finish(name)
    return applied


def _apply_connectors(lab: Lab, versions: Mapping[str, str]) -> list[Applied]:
    """Have those tables captured. The connectors of other sources wait for `seed`, or `apply`."""
    sources = [lab.config.sources[name] for name in sources_with_schema(lab)]
    made = {source.connector for source in sources if source.engine in versions}
    if not made or "connect" not in versions:
        return []
    files = [file for file in lab_files(lab) if file.name in made or not file.is_source]
    return apply_and_wait(lab, files)


def restart_service(lab: Lab, name: str, reporter: UpReporter) -> str:
    """Stop one service, start it again, wait until it is usable; what it said of itself."""
    service = lab.service(name)
    with lab.require_running().state.changing():
        lab.runtime.stop(name)
        return _bring_up(lab, service, reporter, threading.Event(), start=True)


def _require_one_profile(lab: Lab) -> None:
    """A lab that runs on one profile is not started on another beside it."""
    made_with = lab.state.load().get("profile", lab.profile)
    if made_with == lab.profile or made_with not in lab.config.profiles:
        return
    if replace(lab, profile=made_with).running:
        raise LabError(
            f"Lab {lab.name!r} runs on profile {made_with!r}",
            hint="`labctl down` first, or start another lab with --lab NAME",
            exit_code=ExitCode.BUSY,
        )


def _require_one_project(lab: Lab) -> None:
    """A lab that runs is not taken over by another folder's project: another checkout, say."""
    made_in = Path(lab.state.load().get("project", lab.project))
    # One that was moved is the same project in another place.
    if made_in != lab.project and lab_file(made_in, lab.name).is_file() and lab.running:
        raise LabError(
            f"Lab {lab.name!r} runs for the project in {made_in}, not for {lab.project}",
            hint="`labctl down` first, which keeps its data, or start another lab with --lab NAME",
            exit_code=ExitCode.BUSY,
        )


def _write_state(lab: Lab, *, fresh: bool) -> None:
    values: dict[str, object] = {
        "name": lab.name,
        "project": str(lab.project),
        "profile": lab.profile,
        "profiles": sorted({*lab.state.load().get("profiles", []), lab.profile}),
        "ports": lab.ports,
    }
    if fresh:
        values["started_at"] = time.time()
    lab.state.save(**values)
    lab.runtime.write_secrets()


def _check_ports(lab: Lab, idle: list[Service]) -> None:
    own = lab.runtime.own_ports() if idle else set()
    for service in idle:
        for endpoint, port in lab.ports[service.name].items():
            if port not in own and not is_free(port):
                raise LabError(
                    f"Port {port} ({service.name}, {endpoint}) is taken by {owner_of(port)}",
                    hint=(
                        f"stop that process, or set another port in lab.toml: "
                        f"[services.{service.name}] ports = {{ {endpoint} = … }}"
                    ),
                    exit_code=ExitCode.ENVIRONMENT,
                )


@contextmanager
def _no_idle_runtime_left(lab: Lab) -> Iterator[None]:
    """On a failure, leave no supervisor behind that has nothing to look after."""
    try:
        yield
    except BaseException:
        if not any(state.running for state in lab.runtime.states().values()):
            lab.runtime.shutdown()
        raise


def _start_services(
    lab: Lab, wanted: list[Service], idle: list[Service], reporter: UpReporter
) -> dict[str, str]:
    """Start `idle`, each once those it needs are usable; wait for all `wanted` to be usable."""
    cancelled = threading.Event()
    futures: dict[str, Future[str]] = {}

    def bring_up(service: Service) -> str:
        dependencies = [name for name in service.after if name in futures]
        reporter.service(service.name, "waiting", ", ".join(dependencies))
        for dependency in dependencies:
            if futures[dependency].exception():
                reporter.service(service.name, "stopped", f"it needs {dependency}")
                raise LabError(f"{service.title} was not started: it needs {dependency}")
        if cancelled.is_set():
            raise LabError(f"{service.title} was not started", exit_code=ExitCode.INTERRUPTED)
        return _bring_up(lab, service, reporter, cancelled, start=service in idle)

    # One thread per service: one that waits for another never holds the other's place.
    with ThreadPoolExecutor(max_workers=len(wanted)) as pool:
        try:
            for service in wanted:
                futures[service.name] = pool.submit(bring_up, service)
            wait(futures.values())
        except BaseException:
            cancelled.set()
            wait(futures.values())
            for service in reversed(idle):
                if service.name in futures and futures[service.name].exception():
                    lab.runtime.stop(service.name)
            raise
    failed = [error for future in futures.values() if (error := future.exception())]
    if failed:
        raise _all_of(failed)
    return {name: future.result() for name, future in futures.items()}


def _all_of(failed: Sequence[BaseException]) -> BaseException:
    """The first failure, which names the others too. A service comes behind those it needs."""
    first, *others = failed
    if not isinstance(first, LabError):
        return first
    return LabError(
        first.what,
        hint=first.hint,
        details=(*first.details, *(str(getattr(other, "what", other)) for other in others)),
        exit_code=first.exit_code,
    )


def _with_dependencies(lab: Lab, names: Sequence[str]) -> list[Service]:
    """The services called `names` (all, when none is) and those they need, needed ones first."""
    ordered: list[Service] = []
    there = {service.name for service in lab.services}

    def add(service: Service) -> None:
        for dependency in service.after:
            if dependency in there:
                add(lab.service(dependency))
        if service not in ordered:
            ordered.append(service)

    for name in names or [s.name for s in lab.services]:
        add(lab.service(name))
    return ordered


def _bring_up(
    lab: Lab, service: Service, reporter: UpReporter, cancelled: threading.Event, *, start: bool
) -> str:
    context = lab.context(service)
    begun = time.monotonic()
    try:
        if start:
            reporter.service(service.name, "starting")
            lab.runtime.start(service, context)
        version = wait_until_usable(lab, service, cancelled)
        service.setup(context)
    except LabError as error:
        stopped = error.exit_code is ExitCode.INTERRUPTED
        reporter.service(service.name, "stopped" if stopped else "failed")
        raise
    reporter.service(service.name, "ready", f"{version} in {time.monotonic() - begun:.1f} s")
    return version


def wait_until_usable(lab: Lab, service: Service, cancelled: threading.Event | None = None) -> str:
    """Wait until a service that was started answers its probe; what it said of itself.

    Raises LabError (NOT_READY) when it does not within its time, or was given up.
    """
    cancelled = cancelled or threading.Event()
    context = lab.context(service)
    begun = time.monotonic()
    seconds = 0.0
    while True:
        try:
            return service.probe(context)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        if lab.runtime.state(service.name).state == "FATAL":
            raise _failure(lab, service, "died again and again and was given up")
        seconds = max(seconds, start_seconds(service, context.settings))
        if time.monotonic() - begun > seconds:
            raise _failure(
                lab,
                service,
                f"was not usable after {seconds:.0f} s ({reason})",
                f"on a slow machine set start_seconds in lab.toml, [services.{service.name}]",
            )
        if cancelled.wait(PROBE_INTERVAL):
            raise LabError(f"{service.title} was still starting", exit_code=ExitCode.INTERRUPTED)


def start_seconds(service: Service, settings: ServiceSettings) -> float:
    """How long `service` may take until it is usable: what `lab.toml` says, else its own limit.

    Its own limit is for a machine that is not busy; `when_busy` says how much longer it may be.
    """
    if settings.start_seconds is not None:
        return settings.start_seconds
    return when_busy(service.ready_seconds)


def _failure(lab: Lab, service: Service, what: str, *hints: str) -> LabError:
    log = lab.runtime.log_file(service.name) or f"labctl logs {service.name}"
    return LabError(
        f"{service.title} {what}",
        hint="; ".join(
            (f"whole log: {log}", *hints, "what is up stays up: `labctl up` goes on from there")
        ),
        details=tuple(lab.runtime.tail(service.name, 12)),
        exit_code=ExitCode.NOT_READY,
    )
