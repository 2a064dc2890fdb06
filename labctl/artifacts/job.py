"""The input and the result of an artefact's fetcher."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from labctl.artifacts.fetch_progress import Progress, Unit
from labctl.errors import LabError

__all__ = ["CancelledError", "Job", "Provenance", "folder_size"]

POLL_SECONDS = 0.1


class CancelledError(Exception):
    """Another artefact failed or the user interrupted: stop, and keep the downloads."""


@dataclass(frozen=True)
class Provenance:
    """The version of an installed artefact and how it was verified."""

    version: str
    verified_by: Literal["lock", "archive"] = "lock"
    """"archive": by the registry's signature, because the locked version is no longer there."""
    note: str | None = None


@dataclass(frozen=True)
class Job:
    """The fetch of one artefact."""

    artifact: str
    work: Path
    """Folder for downloads; kept if the fetch does not finish, so that the next one resumes."""
    previous: tuple[Path, ...]
    """Older or damaged trees of the same artefact, whose intact files may be reused."""
    progress: Progress
    cancelled: threading.Event
    connections: threading.Semaphore
    """Semaphore held during a download; it limits the connections of all jobs together."""

    @property
    def tree(self) -> Path:
        """An empty folder to build the artefact in."""
        return self.work / "tree"

    def begin(self, phase: str, total: int | None, unit: Unit = "bytes") -> None:
        """Start a phase. Raise CancelledError if the fetch is to stop."""
        self.check()
        self.progress.begin(self.artifact, phase, total, unit)

    def advance(self, amount: int) -> None:
        """Report progress in the current phase. Raise CancelledError if the fetch is to stop."""
        self.check()
        self.progress.advance(self.artifact, amount)

    def check(self) -> None:
        """Raise CancelledError if the fetch is to stop."""
        if self.cancelled.is_set():
            raise CancelledError

    def run(
        self,
        argv: list[str],
        *,
        what: str,
        hint: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        measure: Callable[[Path], int] = lambda _log: 0,
    ) -> str:
        """Run a client program to its end and return its stdout; write its stderr to a log file.

        Raises LabError with `what` and `hint` if it fails. `measure(log)` is polled and returns
        how much of the phase is done. On CancelledError the client is ended first.
        """
        log = self.work / f"{Path(argv[0]).name}.log"
        output = log.with_suffix(".out")
        with log.open("wb") as stderr, output.open("wb") as stdout:
            try:
                process = subprocess.Popen(
                    argv,
                    cwd=cwd or self.work,
                    env={**os.environ, **(env or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                )
            except OSError as error:
                raise LabError(what, hint=hint, details=(str(error),)) from error
            try:
                self._follow(process, lambda: measure(log))
            finally:
                _end(process)
        text = output.read_text(errors="replace")
        if process.returncode != 0:
            lines = (text + log.read_text(errors="replace")).splitlines()
            raise LabError(what, hint=hint, details=tuple(lines[-8:]))
        return text

    def prove(self, argv: list[str]) -> None:
        """Run a program of the finished tree; raise LabError if it does not work here."""
        name = Path(argv[-2]).name
        self.run(
            argv,
            what=f"the fetched {name} does not run on this machine",
            hint=f"install {name} so that it is on the PATH, or look at the messages",
        )

    def _follow(self, process: subprocess.Popen[bytes], measure: Callable[[], int]) -> None:
        done = 0
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
            now = max(done, measure())
            self.advance(now - done)
            done = now
            if process.returncode is not None:
                return


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children, unless it has already ended."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def folder_size(folder: Path) -> int:
    """Return the bytes of all files below `folder`, which may change during the call."""
    total = 0
    # Unlike Path.rglob, os.walk skips a folder that was deleted during the walk.
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(parent, name).lstat().st_size
    return total
