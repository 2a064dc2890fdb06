"""The lake API of a lab: switched on and off beside `lab.toml`, and how it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labctl.config.model import lab_file
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.lab.lab import Lab
from labctl.lab.starting import UpReporter
from labctl.lab.status import ServiceStatus, read_status
from labctl.lab.up import Started, up
from labctl.services import load_config
from labctl.services.api import PREFIX, SERVICE, Api, lake_database
from labctl.services.cache import SERVICE as CACHE

__all__ = ["ApiStatus", "SwitchedOff", "api_of", "api_status", "switch_off", "switch_on"]

_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class SwitchedOff:
    """What was stopped."""

    stopped: tuple[str, ...]
    by_file: bool
    """Whether `lab.toml` switches the API on, so that the next `up` starts it again."""


@dataclass(frozen=True)
class ApiStatus:
    """How the service is, and what it says of what it needs."""

    service: ServiceStatus
    workers: int
    cached: bool
    """Whether the lab has a cache for it."""
    health: str
    """UP, DEGRADED (slower, without the cache), DOWN; empty where nobody answers."""
    components: Mapping[str, str]


def switch_on(lab: Lab, reporter: UpReporter, *, cached: bool = True) -> Started:
    """Start the API of a lab that runs, with the cache if `cached`.

    The lab's state keeps what `lab.toml` does not switch on, so that later starts bring it, too.
    Raises LabError when the lab does not run or has not the API's tables.
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
    """Stop the API, and the cache that came with it. What `lab.toml` switches on comes back."""
    with lab.require_here().state.changing(existing=True):
        kept = _kept(lab)
        ours = [SERVICE.name, *(name for name in kept if name != SERVICE.name)]
        states = lab.runtime.states()
        stopped = [name for name in ours if name in states and states[name].running]
        for name in stopped:
            lab.runtime.stop(name)
        _keep(lab, [])
    by_file = SERVICE.needed(load_config(lab_file(lab.project, lab.name)))
    return SwitchedOff(tuple(stopped), by_file)


def _kept(lab: Lab) -> Sequence[str]:
    kept: list[str] = lab.state.load().get("switched_on", [])
    return kept


def _keep(lab: Lab, names: Sequence[str]) -> None:
    lab.state.save(switched_on=list(dict.fromkeys(names)))


def api_of(lab: Lab) -> Api:
    """Where it answers. Raises LabError (NOT_READY) for a lab that has none or does not run."""
    endpoint = lab.require_here().require_running().endpoints.others.get(SERVICE.name)
    if not isinstance(endpoint, Api):
        raise LabError(
            f"Lab {lab.name!r} has no lake API",
            hint="`labctl api up` switches it on",
            exit_code=ExitCode.NOT_READY,
        )
    return endpoint


def api_status(lab: Lab) -> ApiStatus:
    """Ask the runtime, and the service itself. Raises LabError as `api_of` does."""
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
    """What it says of Athena and the cache, which is 503 where Athena does not answer."""
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
