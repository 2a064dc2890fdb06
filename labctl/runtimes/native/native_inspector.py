"""Facts about services that are processes: memory, CPU time, deaths, disk space, builds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from math import isfinite
from typing import Any

import psutil

from labctl.artifacts import ArtifactStore
from labctl.runtimes.native.families import families_below
from labctl.runtimes.native.supervisor import ProcessSupervisor
from labctl.runtimes.runtime_protocols import Death, DiskSpace, Usage
from labctl.services.service import Service
from labctl.state.lab_state import LabState

__all__ = ["NativeInspector"]


class NativeInspector:
    """The facts about services under one supervisor."""

    def __init__(
        self, state: LabState, supervisor: ProcessSupervisor, artifacts: ArtifactStore
    ) -> None:
        self._state = state
        self._supervisor = supervisor
        self._artifacts = artifacts

    def usages(self) -> dict[str, Usage]:
        """Return usages; memory is the proportional set size, so shared pages count once."""
        pids = {name: state.pid for name, state in self._supervisor.states().items() if state.pid}
        supervisor = self._supervisor.pid() if pids else None
        if supervisor is None:
            return {}
        families = families_below(supervisor, pids.values())
        return {name: _usage(families[pid]) for name, pid in pids.items()}

    def deaths(self) -> dict[str, list[Death]]:
        before = self._state.load().get("deaths_before", 0)
        deaths: dict[str, list[Death]] = {}
        path = self._state.deaths
        lines = path.read_bytes().splitlines() if path.is_file() else []
        for death in filter(None, map(_death, lines[before:])):
            if not death["gave_up"]:
                noted = Death(float(death["at"]), str(death.get("cause", "")))
                deaths.setdefault(death["service"], []).append(noted)
        return deaths

    def space(self, name: str) -> DiskSpace | None:
        folder = self._state.data(name)
        try:
            return DiskSpace(str(folder), shutil.disk_usage(folder).free)
        except OSError:
            return None

    def build(self, service: Service) -> str:
        """Return the version of the service's main part, the last one in its record."""
        names = service.native_form.artifacts
        return self._artifacts.version(names[-1]) if names else ""


def _death(line: bytes) -> dict[str, Any] | None:
    """Parse a line of the file of deaths; return None for a truncated or damaged line."""
    try:
        death = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match death:
        case {"service": str(), "at": float() as at, "gave_up": bool()} if isfinite(at):
            return dict(death)
    return None


def _usage(family: Sequence[psutil.Process]) -> Usage:
    memory = 0
    seconds: dict[str, float] = {}
    for process in family:
        try:
            times = process.cpu_times()
            seconds[f"{process.pid} {process.create_time()}"] = times.user + times.system
            memory += process.memory_full_info().pss
        except psutil.Error:
            continue
    return Usage(memory, seconds)
