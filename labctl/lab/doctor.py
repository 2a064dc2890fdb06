"""Whether this machine can run the lab, found out before anything is started."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from labctl.artifacts import default_cache
from labctl.lab.lab import Lab
from labctl.lab.ports import is_free, owner_of
from labctl.lab.state import state_home

__all__ = ["Check", "Level", "check_machine", "diagnose"]

GIB = 1024**3
MEMORY_NEEDED = 4.5 * GIB
"""What the whole lab takes (docs/benchmarks)."""
STATE_NEEDED = 2 * GIB
CACHE_NEEDED = 3 * GIB
"""Parts, unpacked, and what building MinIO takes for a while."""


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One finding, and what to do about it."""

    name: str
    level: Level
    detail: str
    hint: str | None = None


def check_machine(lab: Lab) -> list[Check]:
    """What must hold before `up` starts anything."""
    return [_platform(), _python(), _memory(lab), *_disk(lab), *_root()]


def diagnose(lab: Lab) -> list[Check]:
    """Everything `labctl doctor` looks at: the machine, the parts, the ports, the services."""
    return [*check_machine(lab), *_artifacts(lab), *_ports(lab), *_services(lab)]


def _platform() -> Check:
    found = f"{platform.system()} {platform.machine()}"
    if found == "Linux x86_64":
        return Check("platform", Level.OK, found)
    return Check(
        "platform",
        Level.FAIL,
        f"{found} is not supported by the native runtime",
        "the parts that are fetched are built for Linux x86-64",
    )


def _python() -> Check:
    return Check("python", Level.OK, f"{platform.python_version()} ({sys.executable})")


def _memory(lab: Lab) -> Check:
    available = psutil.virtual_memory().available
    detail = f"{available / GIB:.1f} GiB available, {MEMORY_NEEDED / GIB:.1f} GiB needed"
    if available >= MEMORY_NEEDED or lab.running:
        return Check("memory", Level.OK, detail)
    return Check(
        "memory",
        Level.FAIL,
        f"too little memory: {detail}",
        "close other programs, or stop another lab with `labctl down --lab NAME`",
    )


def _disk(lab: Lab) -> list[Check]:
    cache_needed = CACHE_NEEDED if _missing(lab) else 0.0
    return [
        _free_space("disk for the lab", state_home(), 0.0 if lab.state.exists else STATE_NEEDED),
        _free_space("disk for parts", default_cache(), cache_needed),
    ]


def _free_space(name: str, folder: Path, needed: float) -> Check:
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free
    detail = f"{free / GIB:.1f} GiB free at {folder}, {needed / GIB:.1f} GiB needed"
    if free >= max(needed, 0.2 * GIB):
        return Check(name, Level.OK, detail)
    return Check(
        name, Level.FAIL, f"too little disk: {detail}", "free some space, or set XDG_*_HOME"
    )


def _root() -> list[Check]:
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv"):
        return [Check("root", Level.OK, "PostgreSQL will run as an unprivileged user")]
    return [
        Check(
            "root",
            Level.FAIL,
            "PostgreSQL refuses to run as root, and there is no `setpriv` to change user with",
            "run labctl as an ordinary user, or install util-linux",
        )
    ]


def _missing(lab: Lab) -> list[str]:
    return [s.name for s in lab.artifacts.statuses() if s.state in ("missing", "damaged")]


def _artifacts(lab: Lab) -> list[Check]:
    missing = _missing(lab)
    if not missing:
        return [Check("parts", Level.OK, f"all fetched, in {default_cache()}")]
    return [
        Check(
            "parts",
            Level.WARN,
            f"not fetched yet: {', '.join(missing)}",
            "`labctl up` fetches them, or `labctl artifacts fetch` now",
        )
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
