"""Exhausted resources of a container: memory, heap, disk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import docker.errors

from labctl.errors import ExitCode, LabError
from labctl.runtimes.compose.shell import run_in_shell
from labctl.runtimes.runtime_protocols import LAST_WORDS, OUT_OF_MEMORY, DiskSpace

__all__ = ["cause_of_death", "free_space_of", "run_out_of_memory", "volume_folder"]

_BEFORE, _AFTER = 10.0, 2.0
"""Seconds before and after a death in which to search for its cause."""


def cause_of_death(client: Any, container: Any, at: float) -> str:
    """Return why a container died at `at`, from engine events or its log; "" if unknown.

    The container's state has the cause too, but only until the container restarts.
    """
    around = {"since": int(at - _BEFORE), "until": int(min(at + _AFTER, time.time()))}
    filters = {"container": container.id, "event": "oom"}
    if any(True for _ in client.events(**around, filters=filters, decode=True)):
        return OUT_OF_MEMORY
    lines = b"\n" + container.logs(**around, tail=200)
    return next((why for said, why in LAST_WORDS.items() if f"\n{said}".encode() in lines), "")


def free_space_of(container: Any) -> DiskSpace | None:
    """Query the free space of a running container's volume from inside the container."""
    mounts = [mount for mount in container.attrs["Mounts"] if mount["Type"] == "volume"]
    if not mounts or container.status != "running":
        return None
    folder = str(mounts[0]["Destination"])
    try:
        code, said = container.exec_run(["stat", "-f", "-c", "%a %S", folder])
    except docker.errors.APIError:
        return None  # it ended before
    match said.split():
        case [blocks, size] if code == 0:
            return DiskSpace(folder, int(blocks) * int(size))
        case _:
            return None  # it ended in the meantime: an engine then reports success and no output


def run_out_of_memory(container: Any) -> None:
    """Fill a container's memory limit with a process that the kernel kills last.

    The process ends with the container. Raises LabError (USAGE) if the container has no limit or
    no shell.
    """
    if not container.attrs["HostConfig"]["Memory"]:
        raise LabError(
            f"{container.name} may take all the memory of its machine: it has no limit",
            hint="set mem_limit in a Compose file of the profile",
            exit_code=ExitCode.USAGE,
        )
    first = "for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || echo 1000 > $p/oom_score_adj; done"
    run_in_shell(container, f"{first}; exec tail /dev/zero")


def volume_folder(container: Any) -> Path:
    """Return the folder of a container's volume. Raise LabError if this user cannot access it."""
    mounts = [mount for mount in container.attrs["Mounts"] if mount["Type"] == "volume"]
    folder = Path(mounts[0]["Source"]) if mounts else None
    try:
        if folder is not None and folder.is_dir():
            return folder
    except PermissionError:
        pass
    raise LabError(
        f"{container.name} has no volume that this user reaches on this machine",
        exit_code=ExitCode.USAGE,
    )
