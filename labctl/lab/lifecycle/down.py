"""Stopping a lab, and removing it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace

from labctl.config.lab_config import ComposeProfile
from labctl.lab.lab import Lab
from labctl.runtimes.runtime_protocols import SupervisorTimeoutError
from labctl.services import connect_service
from labctl.services.service import Service
from labctl.services.state_database import STATE_SERVICE
from labctl.sources import ENGINES

__all__ = ["destroy", "down"]


def down(lab: Lab) -> bool:
    """Stop every service in reverse order and keep the data. Return False if nothing ran."""
    with lab.require_here().state.changing(existing=True):
        return _stop(lab)


def destroy(lab: Lab) -> None:
    """Stop the lab and delete its data, secrets and logs. Its lab.json may be damaged."""
    with lab.require_here().state.changing(existing=True):
        if lab.runtime.faults.owns_supervisor:
            _kill(lab)
        _stop(lab)
        for profile in _profiles(lab):
            replace(lab, profile=profile).runtime.remove()
        lab.state.remove()


def _profiles(lab: Lab) -> list[str]:
    """Return the profiles that may have left something outside the lab's folder.

    A profile that lab.toml no longer has cannot be asked. If lab.json does not say which profiles
    the lab used, all profiles with containers are asked, if the lab has ever had containers.
    """
    recorded = lab.state.load_if_readable()
    if recorded is not None:
        return [name for name in recorded.get("profiles", []) if name in lab.config.profiles]
    if not lab.state.compose_variables.exists():
        return []
    return [n for n, p in lab.config.profiles.items() if isinstance(p, ComposeProfile)]


def _stop(lab: Lab) -> bool:
    """Stop each service before those it needs; all at once if the supervisor does not answer."""
    try:
        was_running = bool(lab.runtime.states())
        if was_running:
            _stop_services(lab)
    except SupervisorTimeoutError:
        was_running = True
    lab.runtime.shutdown()
    return was_running


def _kill(lab: Lab) -> None:
    """Kill the services, without letting them save their data."""
    # This database server would leave shared memory behind.
    with suppress(SupervisorTimeoutError):
        lab.runtime.stop(STATE_SERVICE)
    lab.runtime.faults.kill_all()


def _stop_services(lab: Lab) -> None:
    """Stop each service as soon as no service that needs it runs."""
    stopping: dict[str, Future[None]] = {}

    def stop(service: Service, needing: Sequence[Future[None]]) -> None:
        wait(needing)
        lab.runtime.stop(service.name)

    with ThreadPoolExecutor(max_workers=len(lab.services)) as pool:
        for service in reversed(lab.services):
            needing = [
                stopping[other.name]
                for other in lab.services
                if other.name in stopping and _needs(other, service)
            ]
            stopping[service.name] = pool.submit(stop, service, needing)
    for stopped in stopping.values():
        stopped.result()


def _needs(one: Service, other: Service) -> bool:
    """Return whether `one` needs `other`. Connect starts without databases, then reads them."""
    return other.name in one.depends_on or (
        one.name == connect_service.SERVICE.name and other.name in ENGINES
    )
