"""A clock for one process that can be set while it runs: libfaketime, loaded before libc.

https://github.com/wolfcw/libfaketime
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.state.lab_state import write_private

__all__ = ["Clock", "require_shiftable"]

_OF_DEBIAN = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
_IN_PACKAGE = Path("vendor", "libfaketime", "src", "libfaketime.so.1")
_CACHE_SECONDS = 1
"""Longest time for which a process may use an old setting of its clock."""


@dataclass(frozen=True)
class Clock:
    """The clock of the processes that are started with `environment`. It is correct at first."""

    file: Path

    def set(self, *, hours: float) -> None:
        """Set the clock so many hours ahead of this machine's, or behind, within a second or
        two."""
        replacement = self.file.with_suffix(".new")
        write_private(replacement, f"{hours * 3600:+.0f}\n")
        # PostgreSQL runs as another user when this one is root.
        replacement.chmod(0o644)
        replacement.replace(self.file)

    def environment(self) -> dict[str, str]:
        """Return the processes' variables. Raise LabError (USAGE) if libfaketime is missing."""
        self.set(hours=0)
        return {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_CACHE_DURATION": str(_CACHE_SECONDS),
            # The monotonic clock goes on, as it does when a clock is set.
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",
        }


def require_shiftable(service: str) -> None:
    """Raise LabError (USAGE) for a service that asks the kernel for the time by itself."""
    if service == "objectstore":
        raise LabError(
            "MinIO cannot be given a clock of its own: a Go program asks the kernel, not libc",
            exit_code=ExitCode.USAGE,
        )


def _library() -> Path:
    # Not imported: the package imports others that are not needed here.
    package = importlib.util.find_spec("libfaketime")
    folders = (package.submodule_search_locations or []) if package else []
    for library in (*(Path(folder) / _IN_PACKAGE for folder in folders), _OF_DEBIAN):
        if library.is_file():
            return library
    raise LabError(
        "libfaketime is not installed, which gives a process a clock of its own",
        hint="pip install libfaketime, or apt install libfaketime",
        exit_code=ExitCode.USAGE,
    )
