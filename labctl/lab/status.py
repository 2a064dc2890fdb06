"""How a lab is: what runs, since when, how much it takes, what died."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psutil

from labctl.lab.lab import Lab
from labctl.runtimes.native.supervisor import ProcessState
from labctl.services import Service

__all__ = ["LabStatus", "ServiceStatus", "read_status", "service_versions"]


@dataclass(frozen=True)
class ServiceStatus:
    name: str
    title: str
    state: str
    """ready, starting, restarting, failed or stopped."""
    detail: str
    """What the service said of itself, or why it is not usable."""
    pid: int | None
    started_at: float | None
    """Seconds since the epoch."""
    memory_bytes: int
    """Proportional set size of the process and its children."""
    restarts: int
    """Times it died and came back since the lab was started."""
    last_death_at: float | None
    urls: dict[str, str]


@dataclass(frozen=True)
class LabStatus:
    lab: str
    profile: str
    runtime: str
    running: bool
    ready: bool
    services: list[ServiceStatus]


def read_status(lab: Lab) -> LabStatus:
    """Ask the supervisor and every service. Raises LabError when the lab does not exist."""
    lab.require_here().state.require()
    states = lab.supervisor.states()
    deaths = _deaths(lab)

    def of(service: Service) -> ServiceStatus:
        return _service_status(lab, service, states.get(service.name), deaths[service.name])

    with ThreadPoolExecutor(max_workers=len(lab.services)) as pool:
        services = list(pool.map(of, lab.services))
    return LabStatus(
        lab=lab.name,
        profile=lab.profile,
        runtime=lab.config.profiles[lab.profile].runtime,
        running=bool(states),
        ready=all(s.state == "ready" for s in services),
        services=services,
    )


def service_versions(lab: Lab) -> dict[str, str]:
    """What each service says of itself; of a profile without services here, nothing."""
    if lab.config.profiles[lab.profile].runtime != "native":
        return {}
    return {service.name: service.detail for service in read_status(lab).services}


def _service_status(
    lab: Lab, service: Service, process: ProcessState | None, deaths: list[float]
) -> ServiceStatus:
    state, detail = "stopped", ""
    if process is not None and process.running:
        try:
            detail = service.probe(lab.context(service))
            state = "ready"
        except Exception as error:
            state = "restarting" if deaths else "starting"
            detail = f"{type(error).__name__}: {error}"
    elif process is not None and process.state == "BACKOFF":
        state = "restarting"
    elif process is not None and process.state == "FATAL":
        state, detail = "failed", f"given up; labctl logs {service.name}"
    return ServiceStatus(
        name=service.name,
        title=service.title,
        state=state,
        detail=detail,
        pid=process.pid if process else None,
        started_at=process.started_at if process else None,
        memory_bytes=_memory(process.pid) if process and process.pid else 0,
        restarts=len(deaths),
        last_death_at=deaths[-1] if deaths else None,
        urls=dict(service.urls(lab.endpoints, lab.ports[service.name])),
    )


def _memory(pid: int) -> int:
    """Proportional set size: shared pages are counted once over the whole family."""
    total = 0
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total


def _deaths(lab: Lab) -> dict[str, list[float]]:
    """Times of death by service, since the lab was last started."""
    since = float(lab.state.load().get("started_at", 0))
    deaths: dict[str, list[float]] = {service.name: [] for service in lab.services}
    path = lab.state.deaths
    if not path.is_file():
        return deaths
    for line in path.read_text(encoding="utf-8").splitlines():
        death: dict[str, Any] = json.loads(line)
        if death["at"] >= since and not death["gave_up"] and death["service"] in deaths:
            deaths[death["service"]].append(float(death["at"]))
    return deaths
