"""Asking a service whether it is usable: the lab's own, and nobody else."""

from __future__ import annotations

from labctl.lab.lab import Lab
from labctl.runtimes.model import ProcessState
from labctl.services import Service

__all__ = ["probe", "stranger"]


def probe(lab: Lab, service: Service, process: ProcessState) -> str:
    """Return what a usable service says of itself; any exception means that it is not usable.

    First it checks who listens on the service's ports. Another program there, a service of another
    lab for example, would answer as well, or be told a password.
    """
    lab.runtime.require_own_listeners(service.name, process.pid if process.running else None)
    if not process.running:
        raise ConnectionError("its process does not run")
    return service.probe(lab.context(service))


def stranger(lab: Lab, service: Service) -> str:
    """Return which other program has a port of a service that does not run; empty without one."""
    try:
        lab.runtime.require_own_listeners(service.name, None)
    except ConnectionError as error:
        return str(error)
    return ""
