"""Control groups that make the kernel kill a process for lack of memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.errors import ExitCode, LabError
from labctl.runtimes.native.families import still_there

__all__ = ["run_out_of_memory"]

_LIMIT_BYTES = 16 * 1024**2
_DEATH_SECONDS = 60.0
_GROUPS = Path("/sys/fs/cgroup")
_FILL = 'echo $$ > "$1/cgroup.procs" && exec tail /dev/zero'
_FIRST = "1000"
"""oom_score_adj with which the kernel kills a process before any other of the group."""


def run_out_of_memory(process: psutil.Process) -> None:
    """Have the kernel kill `process`, and wait until it has.

    Its existing memory counts for its old group, so another process fills the new group. Raises
    LabError (USAGE) if this user may not create a control group.
    """
    with _group() as folder:
        (folder / "cgroup.procs").write_text(str(process.pid))
        Path(f"/proc/{process.pid}/oom_score_adj").write_text(_FIRST)
        with subprocess.Popen(
            ["sh", "-c", _FILL, "sh", str(folder)], stderr=subprocess.DEVNULL
        ) as filler:
            try:
                left = still_there([process], seconds=_DEATH_SECONDS)
            finally:
                filler.kill()
    if left:
        raise LabError(f"The kernel did not kill process {process.pid} for lack of memory")


@contextmanager
def _group() -> Iterator[Path]:
    """Yield a new control group with little memory; move its processes to the root at the end."""
    root, limit = _GROUPS / "memory", "memory.limit_in_bytes"
    if not root.is_dir():  # version 2 has all limits in one tree
        root, limit = _GROUPS, "memory.max"
    folder = root / f"labctl-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        raise LabError(
            f"This user may make no control group in {root}: {error.strerror}",
            hint="it takes root",
            exit_code=ExitCode.USAGE,
        ) from None
    try:
        (folder / limit).write_text(str(_LIMIT_BYTES))
        for swapping, value in (("memory.swappiness", "0"), ("memory.swap.max", "0")):
            if (folder / swapping).exists():
                (folder / swapping).write_text(value)
        yield folder
    finally:
        _remove(folder)


@retry(
    retry=retry_if_exception_type(OSError),
    wait=wait_fixed(0.1),
    stop=stop_after_delay(_DEATH_SECONDS),
    reraise=True,
)
def _remove(folder: Path) -> None:
    for pid in (folder / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            (folder.parent / "cgroup.procs").write_text(pid)
    folder.rmdir()
