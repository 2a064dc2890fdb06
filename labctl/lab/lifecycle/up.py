"""Start of a lab: parts, ports, secrets, then every service as soon as it may start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import requests

from labctl.application import require_contract
from labctl.config.lab_config import lab_file
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import Applied
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import (
    apply_and_wait,
    check_files,
    check_sink_files,
    give_logins,
    lab_files,
    restart_failed_tasks,
)
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.own_schema import (
    AppliedSchema,
    apply_schema,
    check_schemas,
    sources_with_schema,
)
from labctl.lab.lifecycle.ports import PortTakenError, Reservation
from labctl.lab.lifecycle.starting import UpReporter, bring_up, start_services
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lab.snapshots import finish_restore
from labctl.lab.tables.table_requests import restart_table
from labctl.runtimes.runtime_protocols import Level
from labctl.services import silver_service
from labctl.services.service import Service

__all__ = ["Started", "reserve_ports", "restart_service", "up"]

CONNECT_SECONDS = 180.0
"""Seconds that Connect may take to answer. It does not answer while it stops a task, and a task
without a login for its schema history asks Kafka for a minute before it ends."""
CHOICES = 20
"""Maximum number of choices of ports: a port that was free when chosen is seldom gone then."""


@dataclass(frozen=True)
class Started:
    """Result of `up`."""

    seconds: float
    versions: dict[str, str]
    """Version that each service reports of itself, by service."""
    schemas: tuple[AppliedSchema, ...] = ()
    """The project's own schemas that were applied."""
    connectors: tuple[Applied, ...] = ()
    """Connectors that were applied, for the sources with such a schema."""
    tables: tuple[str, ...] = ()
    """Silver tables that were restarted, because their properties had changed."""
    started: tuple[str, ...] = ()
    """Services that were started, or started again."""

    @property
    def is_unchanged(self) -> bool:
        """True if everything ran already, and by the project's files."""
        applied = any(connector.change != "unchanged" for connector in self.connectors)
        return not (self.started or self.schemas or self.tables or applied)


def up(
    lab: Lab,
    reporter: UpReporter,
    names: Sequence[str] = (),
    *,
    meanwhile: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> Started:
    """Start services and wait until they are usable: all, or `names` and their dependencies.

    Safe to repeat. If one fails, all services that do not need it are still started, and everything
    that runs stays up: the next call continues from there. If the user interrupts, the services
    that this call started and that are not usable yet are stopped; usable ones stay up.

    Services that do not need a slow build start while it runs; if one of them fails, the others are
    not started. `meanwhile` then receives the services that are usable already. The user's own
    services start last, when the tables that the project describes are there and captured.

    Raises LabError (NOT_READY) with what failed, and why.
    """
    begun = time.monotonic()
    wanted = _with_dependencies(lab, names)
    _require_one_profile(lab)
    _require_one_project(lab)
    check_files(lab)
    check_schemas(lab)
    if any(service.name == "silver" for service in wanted):
        check_sink_files(lab)
        require_contract(lab.project)
    with lab.require_here().state.changing():
        if finish_restore(lab.state):
            lab = replace(lab)  # what it has read so far is from before the restore
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
        own = [s for s in lab.services if s.is_own and (s in wanted or s in running)]
        pipeline = [service for service in wanted if not service.is_own]
        if not states:
            # Processes that a killed supervisor left would still hold the lab's own ports.
            lab.runtime.end_strays()
        with Reservation() as reserved:
            reserve_ports(lab, reserved, running, idle)
            with lab.runtime.fetching(wanted, reporter) as parts:
                first = _first(pipeline, parts.first())
                _write_state(lab, fresh=not states)
                # The user's are declared first, too: a mistake in one of them ends it here.
                begun_now: list[str] = []
                start = partial(_start, lab, reporter=reporter, reserved=reserved, begun=begun_now)
                versions = start(first, running, idle, declared=own)
                if rest := [service for service in pipeline if service not in first]:
                    meanwhile(versions)
                    parts.rest()
                    others = [*running, *first]
                    versions |= start(rest, others, idle, declared=own)
        if "connect" in versions:
            client = connect_client(lab.endpoints.connect, seconds=CONNECT_SECONDS)
            give_logins(client)
            # A task whose database or registry was still starting has failed by now.
            restart_failed_tasks(client)
        schemas = _apply_schemas(lab, versions, reporter)
        connectors = _apply_connectors(lab, versions)
        tables = _restart_changed_tables(lab, versions)
        if own:
            # Those whose definition has changed were stopped meanwhile.
            states = lab.runtime.states()
            idle = [s for s in own if s.name not in states or not states[s.name].running]
            versions |= start(own, [*running, *pipeline], idle)
    seconds = time.monotonic() - begun
    return Started(
        seconds, versions, tuple(schemas), tuple(connectors), tuple(tables), tuple(begun_now)
    )


def _first(wanted: Sequence[Service], complete: Sequence[Service]) -> list[Service]:
    """Return the services of `wanted` whose parts and dependencies are all `complete`.

    `wanted` is in dependency order.
    """
    names = {service.name for service in wanted}
    first: list[Service] = []
    for service in wanted:
        lacking = names.intersection(service.depends_on).difference(one.name for one in first)
        if service in complete and not lacking:
            first.append(service)
    return first


def _start(
    lab: Lab,
    wanted: Sequence[Service],
    running: Sequence[Service],
    idle: Sequence[Service],
    *,
    declared: Sequence[Service] = (),
    reporter: UpReporter,
    reserved: Reservation,
    begun: list[str],
) -> dict[str, str]:
    """Start those of `wanted` that are `idle`, and those of `running` that have changed.

    The runtime stops a running service whose definition has changed, wanted or not. `declared` are
    declared, too, and started later. Returns the versions of all wanted and started services, and
    adds the names of the started ones to `begun`.
    """
    with _no_idle_runtime_left(lab):
        known = [s for s in lab.services if s in wanted or s in running or s in declared]
        changed = lab.runtime.declare([(s, lab.context(s)) for s in known])
        reserved.release([service.name for service in known])
        again = [s for s in running if s.name in changed and s not in declared]
        now = [s for s in _with_dependencies(lab, ()) if s in wanted or s in again]
        versions = start_services(lab, now, [*idle, *again], reporter)
        begun += [service.name for service in now if service in (*idle, *again)]
        return versions


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
    """Have the project's own tables captured.

    The connectors of other sources wait for `seed` or `apply`.
    """
    sources = [lab.config.sources[name] for name in sources_with_schema(lab)]
    made = {source.connector for source in sources if source.engine in versions}
    if not made or "connect" not in versions:
        return []
    files = [file for file in lab_files(lab) if file.name in made or not file.is_source]
    return apply_and_wait(lab, files)


def _restart_changed_tables(lab: Lab, versions: Mapping[str, str]) -> list[str]:
    """Have each table run by its present properties; return the tables that ran by others."""
    if silver_service.SERVICE.name not in versions:
        return []
    try:
        running = silver_status(lab)["tables"]
    except requests.RequestException:
        return []  # it is busy; `labctl status` names what differs
    digests = {name: state.get("configuration") for name, state in running.items()}
    changed = [
        table.name
        for table in lab.tables
        if digests.get(table.name) not in (None, table.properties.digest)
    ]
    for name in changed:
        restart_table(lab, name)
    return changed


def restart_service(lab: Lab, name: str, reporter: UpReporter) -> str:
    """Restart one service and wait until it is usable; return what it says of itself."""
    service = lab.service(name)
    with lab.require_running().state.changing():
        lab.runtime.stop(name)
        return bring_up(lab, service, reporter, threading.Event(), start=True)


def _require_one_profile(lab: Lab) -> None:
    """Raise LabError (BUSY) if the lab already runs on another profile."""
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
    """Raise LabError (BUSY) if the lab runs for a project in another folder.

    That may be another checkout of the same project.
    """
    made_in = Path(lab.state.load().get("project", lab.project))
    # A project that was moved is the same project at another path.
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
        "wished_ports": {s.name: dict(s.ports) for s in lab.services if s.is_own},
    }
    if fresh:
        values["deaths_before"] = lab.state.count_deaths()
    lab.state.save(**values)
    lab.runtime.write_secrets()


def reserve_ports(
    lab: Lab, reserved: Reservation, running: Sequence[Service], idle: Sequence[Service]
) -> None:
    """Reserve the lab's ports. Raises PortTakenError for a port of a service that is to start.

    If two labs choose a port at once, the first one gets it, and the other chooses again.
    """
    recorded = lab.state.load().get("ports", {})
    # A running service that gets another port is started again.
    moved = [s for s in running if lab.ports[s.name] != recorded.get(s.name)]
    own = lab.runtime.own_ports()
    own |= {port for s in running for port in recorded.get(s.name, {}).values()}
    needed = {service.name for service in (*idle, *moved)}
    choices = 0
    while True:
        try:
            reserved.take(lab.ports, but=own)
        except PortTakenError as taken:
            is_kept = taken.endpoint in recorded.get(taken.service, {})
            is_fixed = taken.endpoint in lab.config.settings(taken.service).ports
            choices += 1
            if is_kept and taken.service in lab.config.own_services:
                # The port of a service of the user's own is a wish.
                recorded = _without_port(recorded, taken.service, taken.endpoint)
                lab.state.save(ports=recorded)
                is_kept = False
            if choices < CHOICES and not (is_kept or is_fixed):
                lab.forget_ports()
            elif taken.service in needed:
                raise
            else:
                own.add(taken.port)
        else:
            return


def _without_port(ports: Mapping[str, Any], service: str, endpoint: str) -> dict[str, Any]:
    of_service = {name: port for name, port in ports[service].items() if name != endpoint}
    return {**ports, service: of_service}


@contextmanager
def _no_idle_runtime_left(lab: Lab) -> Iterator[None]:
    """Shut the supervisor down after a failure if it has no running service."""
    try:
        yield
    except BaseException:
        if not any(state.running for state in lab.runtime.states().values()):
            lab.runtime.shutdown()
        raise


def _with_dependencies(lab: Lab, names: Sequence[str]) -> list[Service]:
    """Return the services `names` (all if empty) and those they need, in dependency order."""
    ordered: list[Service] = []
    there = {service.name for service in lab.services}

    def add(service: Service) -> None:
        for dependency in service.depends_on:
            if dependency in there:
                add(lab.service(dependency))
        if service not in ordered:
            ordered.append(service)

    for name in names or [s.name for s in lab.services]:
        add(lab.service(name))
    return ordered
