"""State of a lab's lake API, which can be switched on and off without editing `lab.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labctl.config.lab_config import lab_file
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import UpReporter
from labctl.lab.lifecycle.up import Started, up
from labctl.lab.observe.service_status import ServiceStatus, read_status
from labctl.services.api_service import PREFIX, SERVICE, Api, lake_database
from labctl.services.cache_service import SERVICE as CACHE
from labctl.services.lab_services import load_config

__all__ = ["ApiStatus", "SwitchedOff", "api_of", "api_status", "switch_off", "switch_on"]

_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class SwitchedOff:
    """Result of `switch_off`."""

    stopped: tuple[str, ...]
    by_file: bool
    """True if `lab.toml` switches the API on, so that the next `up` starts it again."""


@dataclass(frozen=True)
class ApiStatus:
    """State of the API's service, and the health that it reports for its components."""

    service: ServiceStatus
    workers: int
    cached: bool
    """True if the lab has a cache for the API."""
    health: str
    """UP, DEGRADED (slower, without the cache) or DOWN; empty if the service is not ready."""
    components: Mapping[str, str]


def switch_on(lab: Lab, reporter: UpReporter, *, cached: bool = True) -> Started:
    """Start the API of a running lab, and its cache if `cached`.

    The lab's state records the services that `lab.toml` does not switch on, so that later starts
    include them. Raises LabError if the lab does not run or lacks the API's tables.
    """
    lab.require_here().require_running()
    require_extra("lakeapi")
    lake_database(lab.project, lab.config)
    wanted = [CACHE.name, SERVICE.name] if cached else [SERVICE.name]
    there = {service.name for service in lab.services}
    if missing := [name for name in wanted if name not in there]:
        with lab.state.changing(existing=True):
            _keep(lab, [*_kept(lab), *missing])
        lab = replace(lab, config=lab.config.switching_on(missing))
    return up(lab, reporter, wanted)


def switch_off(lab: Lab) -> SwitchedOff:
    """Stop the API, and the cache that `switch_on` added. Return what was stopped.

    Services that `lab.toml` switches on come back with the next `up`.
    """
    with lab.require_here().state.changing(existing=True):
        kept = _kept(lab)
        ours = [SERVICE.name, *(name for name in kept if name != SERVICE.name)]
        states = lab.runtime.states()
        stopped = [name for name in ours if name in states and states[name].running]
        for name in stopped:
            lab.runtime.stop(name)
        _keep(lab, [])
    by_file = SERVICE.enabled(load_config(lab_file(lab.project, lab.name)))
    return SwitchedOff(tuple(stopped), by_file)


def _kept(lab: Lab) -> Sequence[str]:
    kept: list[str] = lab.state.load().get("switched_on", [])
    return kept


def _keep(lab: Lab, names: Sequence[str]) -> None:
    lab.state.save(switched_on=list(dict.fromkeys(names)))


def api_of(lab: Lab) -> Api:
    """Return the API's endpoint.

    Raises LabError (NOT_READY) if the lab has no API or does not run.
    """
    endpoint = lab.require_here().require_running().endpoints.others.get(SERVICE.name)
    if not isinstance(endpoint, Api):
        raise LabError(
            f"Lab {lab.name!r} has no lake API",
            hint="`labctl tools api up` switches it on",
            exit_code=ExitCode.NOT_READY,
        )
    return endpoint


def api_status(lab: Lab) -> ApiStatus:
    """Ask the runtime and the API for the API's state. Raises LabError as `api_of` does."""
    endpoint = api_of(lab)
    (service,) = [one for one in read_status(lab).services if one.name == SERVICE.name]
    told = _health(endpoint) if service.state == "ready" else {}
    return ApiStatus(
        service=service,
        workers=lab.config.api.workers,
        cached=lab.config.cache.enabled,
        health=str(told.get("status", "")),
        components={
            name: " ".join(filter(None, (part["status"], part.get("detail"))))
            for name, part in told.get("components", {}).items()
        },
    )


def _health(endpoint: Api) -> dict[str, Any]:
    """Return the API's health report, which comes with status 503 if Athena does not answer."""
    import requests

    try:
        answer = requests.get(f"{endpoint.url}{PREFIX}/health", timeout=_TIMEOUT_SECONDS)
        told: dict[str, Any] = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise LabError(
            f"The lake API does not answer: {error}",
            hint=f"labctl logs {SERVICE.name}",
            exit_code=ExitCode.NOT_READY,
        ) from None
    return told
