"""The environment of a benchmark, without which its figures mean nothing."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

__all__ = ["Environment", "describe"]


@dataclass(frozen=True)
class Environment:
    """The machine, its load before the run, and the versions measured."""

    at: str
    """ISO 8601, UTC."""
    commit: str
    """Commit of the project; with `+` if tracked files differed from it."""
    cores: int
    memory_gib: float
    load_1_5_15: tuple[float, float, float]
    platform: str
    python: str
    services: dict[str, str]
    """Version that each service reported."""


def describe(
    project: Path, services: dict[str, str], load: tuple[float, float, float]
) -> Environment:
    """Return the current environment; `load` is the load before anything was started."""
    return Environment(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=_commit(project),
        cores=os.cpu_count() or 0,
        memory_gib=round(psutil.virtual_memory().total / 1024**3, 1),
        load_1_5_15=load,
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        services=services,
    )


def _commit(project: Path) -> str:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", project, *words], capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
    return (git("rev-parse", "--short", "HEAD") or "unknown") + changed
