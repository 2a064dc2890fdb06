"""Status of a lab: running services, their start, resource use and deaths."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.probe_errors import why_unusable
from labctl.lab.lifecycle.probing import probe, stranger
from labctl.runtimes.runtime_protocols import Death, ProcessState, Usage
from labctl.services.service import Service

__all__ = ["LabStatus", "ServiceStatus", "read_status", "service_versions"]


@dataclass(frozen=True)
class ServiceStatus:
    name: str
    title: str
    state: str
    """ready, starting, restarting, not answering, disk full, failed or stopped."""
    detail: str
    """The service's own description, or the reason why it is not usable."""
    pid: int | None
    started_at: float | None
    """Seconds since the epoch."""
    memory_bytes: int
    """Memory of the process and its children, or of the container."""
    restarts: int
    """Number of times it died and came back since the lab was started."""
    last_death_at: float | None
    last_death_cause: str
    """Cause of its death, if known: lack of memory, of heap, or of disk space."""
    urls: dict[str, str]


@dataclass(frozen=True)
class LabStatus:
    lab: str
    profile: str
    runtime: str
    running: bool
    ready: bool
    services: list[ServiceStatus]

    def problems(self) -> list[str]:
        """Return the services that are not usable, each with the reason."""
        return [
            f"service {s.name} is {s.state}" + (f": {s.detail}" if s.detail else "")
            for s in self.services
            if s.state != "ready"
        ]


def read_status(lab: Lab) -> LabStatus:
    """Ask the runtime and every service. Raises LabError when the lab does not exist."""
    lab.require_here().state.require()
    states = lab.runtime.states()
    deaths = lab.runtime.inspector.deaths()

    def of(service: Service) -> ServiceStatus:
        name = service.name
        return _service_status(lab, service, states.get(name), deaths.get(name, []), usages)

    # One more thread than services, for the usages: each of the others waits for them at its end.
    with ThreadPoolExecutor(max_workers=len(lab.services) + 1) as pool:
        usages = pool.submit(lab.runtime.inspector.usages)
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
    """Return what each service says of itself; nothing if the profile has no services here."""
    if lab.promoted is not None:
        return {}
    return {service.name: service.detail for service in read_status(lab).services}


def _unusable(service: Service, process: ProcessState, deaths: list[Death]) -> str:
    """Return the state of a service whose process runs but whose probe fails."""
    if process.started_at and time.time() - process.started_at > service.ready_seconds:
        return "not answering"
    return "restarting" if deaths else "starting"


def _full_disk(lab: Lab, name: str) -> str | None:
    """Return a message for a service whose data has no disk space left; else None."""
    space = lab.runtime.inspector.space(name)
    if space is None or not space.is_full:
        return None
    return (
        f"{space.free_bytes / 1024**2:.1f} MiB are free where its data is, {space.folder}: "
        "free some space, and it goes on by itself"
    )


def _service_status(
    lab: Lab,
    service: Service,
    process: ProcessState | None,
    deaths: list[Death],
    usages: Future[dict[str, Usage]],
) -> ServiceStatus:
    state, detail = "stopped", ""
    if process is not None and process.running:
        try:
            detail = probe(lab, service, process)
            state = "ready"
        except Exception as error:
            state = _unusable(service, process, deaths)
            detail = why_unusable(error)
    elif process is not None and process.state == "BACKOFF":
        state, detail = "restarting", stranger(lab, service)
    elif process is not None and process.state == "FATAL":
        state = "failed"
        detail = stranger(lab, service) or f"given up; labctl logs {service.name}"
    # A service that still answers accepts no changes any more.
    if process is not None and (said := _full_disk(lab, service.name)):
        detail = said if state == "ready" or not detail else f"{said} ({detail})"
        state = "disk full"
    usage = usages.result().get(service.name)
    return ServiceStatus(
        name=service.name,
        title=service.title,
        state=state,
        detail=detail,
        pid=process.pid if process else None,
        started_at=process.started_at if process else None,
        memory_bytes=usage.memory_bytes if usage else 0,
        restarts=len(deaths),
        last_death_at=deaths[-1].at if deaths else None,
        last_death_cause=deaths[-1].cause if deaths else "",
        urls=dict(service.urls(lab.endpoints, lab.ports[service.name])),
    )
