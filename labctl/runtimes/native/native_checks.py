"""Checks that this machine can run the native lab, made before anything is started."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from labctl.artifacts import ArtifactStore, default_cache
from labctl.runtimes.runtime_protocols import Check, Level
from labctl.services.service import Service
from labctl.state.lab_state import LabState, state_home

__all__ = ["GIB", "check_machine", "check_parts", "free_space", "python"]

GIB = 1024**3
STATE_NEEDED = 2 * GIB
CACHE_NEEDED = 3 * GIB
"""Bytes for the unpacked parts and, temporarily, for building MinIO."""


def check_machine(
    state: LabState, artifacts: ArtifactStore, services: Sequence[Service], *, running: bool
) -> list[Check]:
    """Check the machine before `up` starts `services`; a `running` lab has its memory."""
    needed = sum(service.native_form.memory_mib for service in services) * 1024**2
    return [
        _platform(),
        python(),
        _memory(needed, running=running),
        *_disk(state, artifacts, services),
        *_root(services),
    ]


def check_parts(artifacts: ArtifactStore, services: Sequence[Service]) -> list[Check]:
    """Check whether all parts of `services` are in the cache."""
    missing = _missing(artifacts, services)
    if not missing:
        return [Check("parts", Level.OK, f"all that `up` needs is in {default_cache()}")]
    return [
        Check(
            "parts",
            Level.WARN,
            f"not fetched yet: {', '.join(missing)}",
            "`labctl up` fetches them, or `labctl tools artifacts fetch` now",
        )
    ]


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


def python() -> Check:
    """Report the Python version; the package cannot be installed on an unsupported one."""
    return Check("python", Level.OK, f"{platform.python_version()} ({sys.executable})")


def _memory(needed: int, *, running: bool) -> Check:
    available = psutil.virtual_memory().available
    detail = f"{available / GIB:.1f} GiB available, {needed / GIB:.1f} GiB needed"
    if available >= needed or running:
        return Check("memory", Level.OK, detail)
    return Check(
        "memory",
        Level.FAIL,
        f"too little memory: {detail}",
        "close other programs, or stop another lab with `labctl down --lab NAME`",
    )


def _disk(state: LabState, artifacts: ArtifactStore, services: Sequence[Service]) -> list[Check]:
    cache_needed = CACHE_NEEDED if _missing(artifacts, services) else 0.0
    return [
        free_space("disk for the lab", state_home(), 0.0 if state.exists else STATE_NEEDED),
        free_space("disk for parts", default_cache(), cache_needed),
    ]


def free_space(name: str, folder: Path, needed: float) -> Check:
    """Check that `needed` bytes are free on the disk that holds or will hold `folder`."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free
    detail = f"{free / GIB:.1f} GiB free at {folder}, {needed / GIB:.1f} GiB needed"
    if free >= max(needed, 0.2 * GIB):
        return Check(name, Level.OK, detail)
    return Check(
        name, Level.FAIL, f"too little disk: {detail}", "free some space, or set XDG_*_HOME"
    )


def _root(services: Sequence[Service]) -> list[Check]:
    refusing = [service.title for service in services if service.native_form.refuses_root]
    if os.geteuid() != 0 or not refusing:
        return []
    titles = ", ".join(refusing)
    if shutil.which("setpriv"):
        return [Check("root", Level.OK, f"{titles} will run as an unprivileged user")]
    return [
        Check(
            "root",
            Level.FAIL,
            f"{titles} refuses to run as root, and there is no `setpriv` to change user with",
            "run labctl as an ordinary user, or install util-linux",
        )
    ]


def _missing(artifacts: ArtifactStore, services: Sequence[Service]) -> list[str]:
    """Return parts that `up` would fetch, without those that only other commands need."""
    needed = {name for service in services for name in service.native_form.artifacts}
    statuses = [artifacts.status(name) for name in artifacts.lock.artifacts if name in needed]
    return [status.name for status in statuses if status.state in ("missing", "damaged")]
