"""Checks of whether the lab can run here, and whether it does."""

from __future__ import annotations

from labctl.errors import LabError
from labctl.lab.connectors.connector_slots import read_slots
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.probe_errors import why_unusable
from labctl.lab.lifecycle.probing import probe
from labctl.runtimes.runtime_protocols import Check, Level
from labctl.state.sockets import is_free, owner_of

__all__ = ["diagnose"]


def diagnose(lab: Lab) -> list[Check]:
    """Return all checks of `labctl doctor`: the machine, parts, ports, services and slots."""
    return [
        *lab.runtime.checks(),
        *lab.runtime.parts(),
        *_ports(lab),
        *_services(lab),
        *_slots(lab),
    ]


def _ports(lab: Lab) -> list[Check]:
    if lab.running:
        return []
    taken = [
        f"{port} ({service}, {endpoint}) by {owner_of(port)}"
        for service, ports in lab.ports.items()
        for endpoint, port in ports.items()
        if not is_free(port)
    ]
    if taken:
        return [Check("ports", Level.FAIL, f"taken: {'; '.join(taken)}", "stop what listens there")]
    return [Check("ports", Level.OK, "all free")]


def _services(lab: Lab) -> list[Check]:
    if not lab.running:
        return [Check("lab", Level.OK, f"{lab.name!r} is not running")]
    checks = []
    for service in lab.services:
        try:
            detail = probe(lab, service, lab.runtime.state(service.name))
            checks.append(Check(service.name, Level.OK, detail))
        except Exception as error:
            checks.append(
                Check(
                    service.name,
                    Level.FAIL,
                    why_unusable(error),
                    f"labctl logs {service.name}",
                )
            )
    return checks


def _slots(lab: Lab) -> list[Check]:
    """Check the logs that databases keep for connectors.

    The log could fill the disk, or the server could give up a slot.
    """
    if not lab.running:
        return []
    try:
        slots = read_slots(lab)
    except LabError:
        # The checks of the services report that the server does not answer.
        return []
    dangers = [danger for slot in slots if (danger := slot.danger())]
    kept = sum(slot.retained_bytes for slot in slots) / 1024**2
    if not dangers:
        return [Check("log kept", Level.OK, f"{kept:.0f} MiB are kept for connectors")]
    return [Check("log kept", Level.WARN, what, hint) for what, hint in dangers]
