"""Whether the lab can run here, and whether it does."""

from __future__ import annotations

from labctl.lab.lab import Lab
from labctl.lab.ports import is_free, owner_of
from labctl.runtimes.model import Check, Level

__all__ = ["diagnose"]


def diagnose(lab: Lab) -> list[Check]:
    """Everything `labctl doctor` looks at: the machine, the parts, the ports, the services."""
    return [*lab.runtime.checks(), *lab.runtime.parts(), *_ports(lab), *_services(lab)]


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
            detail = service.probe(lab.context(service))
            checks.append(Check(service.name, Level.OK, detail))
        except Exception as error:
            checks.append(
                Check(
                    service.name,
                    Level.FAIL,
                    f"{type(error).__name__}: {error}",
                    f"labctl logs {service.name}",
                )
            )
    return checks
