"""Probe of a service, which trusts only the lab's own process."""

from __future__ import annotations

from labctl.lab.lab import Lab
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.services.service import Service

__all__ = ["probe", "stranger"]


def probe(lab: Lab, service: Service, process: ProcessState) -> str:
    """Return what a usable service says of itself; any exception means that it is not usable.

    The probe first checks which process listens on the service's ports: another program, such as a
    service of another lab, could answer as well, or receive a password.
    """
    lab.runtime.require_own_listeners(service.name, process.pid if process.running else None)
    if not process.running:
        raise ConnectionError("its process does not run")
    if service.checked_by_container and process.healthy is not None:
        if not process.healthy:
            raise ConnectionError("its container's health check does not pass")
        return "healthy"
    return service.probe(lab.context(service))


def stranger(lab: Lab, service: Service) -> str:
    """Return which other program has a port of a stopped service; empty if there is none."""
    try:
        lab.runtime.require_own_listeners(service.name, None)
    except ConnectionError as error:
        return str(error)
    return ""
