"""Checks that this machine can run the lab in containers, made before anything is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from labctl.config.lab_config import ComposeProfile
from labctl.errors import LabError
from labctl.runtimes.compose.docker_engine import INSTALL_HINT, Engine, compose_version
from labctl.runtimes.native.native_checks import GIB, free_space, python
from labctl.runtimes.runtime_protocols import Check, Level
from labctl.services.lab_services import SERVICES, container_forms

__all__ = ["check_engine"]

OLDEST_ENGINE = (20, 10)
OLDEST_COMPOSE = (2, 0)
MEMORY_NEEDED = {"official": 6.5 * GIB, "local": 5.0 * GIB}
"""Memory that the containers use, by kind of images; real SQL Server alone needs 2 GiB."""
IMAGES_NEEDED = 8 * GIB


def check_engine(
    engine: Engine, profile: ComposeProfile, *, running: Callable[[], bool]
) -> list[Check]:
    """Check the engine and machine before `up`; a `running` lab already has its memory."""
    try:
        info, compose = engine.info(), compose_version()
    except LabError as error:
        return [python(), Check("engine", Level.FAIL, error.what, error.hint)]
    return [
        python(),
        _version("engine", str(info.get("ServerVersion", "")), OLDEST_ENGINE),
        _version("compose", compose, OLDEST_COMPOSE),
        _architecture(str(info.get("Architecture", "")), profile),
        _memory(info, MEMORY_NEEDED[profile.images], running=running()),
        *_disk(info),
    ]


def _version(name: str, found: str, oldest: tuple[int, int]) -> Check:
    numbers = tuple(int(part) for part in found.lstrip("v").split(".")[:2] if part.isdigit())
    wanted = ".".join(map(str, oldest))
    if numbers >= oldest:
        return Check(name, Level.OK, found)
    return Check(name, Level.FAIL, f"{found or 'unknown'}, {wanted} needed", INSTALL_HINT)


def _architecture(found: str, profile: ComposeProfile) -> Check:
    if found in ("x86_64", "amd64"):
        return Check("architecture", Level.OK, found)
    if profile.images == "local":
        return Check(
            "architecture", Level.FAIL, f"{found}: local images hold programs for x86-64 only"
        )
    missing = ", ".join(
        service.title for service, form in container_forms(SERVICES) if form.x86_only
    )
    return Check(
        "architecture",
        Level.WARN,
        f"{found}: there is no image of {missing} for it",
        "lay compose/stand-in.yaml over the Compose file, as docs/compose.md shows",
    )


def _memory(info: dict[str, Any], needed: float, *, running: bool) -> Check:
    total = int(info.get("MemTotal", 0))
    detail = f"the engine has {total / GIB:.1f} GiB, {needed / GIB:.1f} GiB needed"
    if total >= needed or running:
        return Check("memory", Level.OK, detail)
    return Check(
        "memory", Level.FAIL, f"too little memory: {detail}", "give Docker more, or stop other labs"
    )


def _disk(info: dict[str, Any]) -> list[Check]:
    """Check the disk space; return no check if the engine's data is on another machine."""
    root = Path(str(info.get("DockerRootDir", "")))
    try:
        return [free_space("disk for images", root, IMAGES_NEEDED)] if root.is_dir() else []
    except PermissionError:
        return []
