"""The watch loop: read the files when something changes, and carry out the steps for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from watchfiles import watch

from labctl.config.lab_config import lab_file
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import bronze_writer
from labctl.watching.applying import carry_out
from labctl.watching.checking import check_project, read_project
from labctl.watching.places import Places, Use, digest_of, find_places
from labctl.watching.planning import Kind, Step, plan
from labctl.watching.running import Look, Running

__all__ = ["Outcome", "Watcher"]

_STEP_MS = 50
"""Quiet time before a look, in milliseconds: editors write a file in several steps."""
_GROUP_MS = 400
"""Longest time before a look while files keep changing, in milliseconds."""
_TICK_MS = 500
"""Milliseconds between two looks without changes: for missing files, and for a busy lab."""
_GONE_SECONDS = 0.4
"""Seconds that a missing file still counts as present: editors replace files that way."""
_TABLES = 4
"""Number of tables that restart at a time."""
_BUSY_SECONDS = 2.0
"""Seconds between two tries while another command changes the lab."""


@dataclass(frozen=True)
class Outcome:
    """The result of applying saved files."""

    files: tuple[Path, ...]
    said: str
    """Description of what was done, or of the error."""
    seconds: float
    error: LabError | None = None


class Watcher:
    """A loop that applies a project's files to its running lab as they are saved.

    Only the files' content counts. It does not matter how an editor writes a file, or which
    temporary files it creates.
    """

    def __init__(
        self, find: Callable[[], Lab], tell: Callable[[Outcome], None], *, name: str | None = None
    ) -> None:
        """Read the files of a lab; `find` reads them again, `name` is the user's name of the lab.

        Raises LabError if the lab does not run, or if one of its files cannot be used.
        """
        self._find = find
        self._tell = tell
        lab = find().require_here().require_running()
        self._lab_file = lab_file(lab.project, name)
        self._project = lab.project
        self._config = lab.config
        self.places = self._find_places()
        self._seen: Look = self._read()
        self._running = Running(read_project(lab), self._seen)
        self._gone: dict[Path, float] = {}
        self._again_at: float | None = None
        """Time of the next look without changes, after the lab was busy; None if it was not."""
        self._is_interrupted = False

    def run(self, stop: threading.Event | None = None) -> None:
        """Run the loop until `stop` is set. Raises KeyboardInterrupt when the user ends it."""
        while stop is None or not stop.is_set():
            folders = self.places.folders
            for _ in _moves(folders, stop):
                self.look()
                if self.places.folders != folders:
                    break  # there are others to watch now
            else:
                self.places = self._find_places()

    def look(self) -> None:
        """Look at every file once, and carry out the steps for the changed ones."""
        begun = time.monotonic()
        before, now = self._seen, self._look()
        is_due = self._again_at is not None and begun >= self._again_at
        if now == before and not is_due:
            return
        self._seen, self._again_at = now, None
        changed = self._running.changed(now)
        if not changed:
            moved = [p for p in before.keys() | now.keys() if before.get(p) != now.get(p)]
            self._say(moved, "as it was before", begun)
            return
        try:
            lab = self._find().require_running()
            after = check_project(lab, changed)
            steps = plan(self._running.project, after, changed, bronze_writer(lab))
        except LabError as error:
            self._say(changed, error.what, begun, error)
            return
        failed = self._carry_out(lab, steps, begun, is_due=is_due)
        self._running.note(now, changed, after, failed)
        self._config = lab.config

    def _carry_out(
        self, lab: Lab, steps: list[Step], begun: float, *, is_due: bool
    ) -> list[tuple[Step, LabError]]:
        """Carry out steps in order, tables in parallel; return failed steps with their errors."""
        failed = []
        for _, group in groupby(steps, key=lambda step: step.kind):
            for step, future in self._to_their_end(lab, list(group)):
                try:
                    self._say(step.files, _result(future), begun)
                except LabError as error:
                    failed.append((step, error))
                    if error.exit_code is ExitCode.BUSY:
                        self._again_at = time.monotonic() + _BUSY_SECONDS
                    # For a lab that is still busy, the message was shown before.
                    if not (is_due and error.exit_code is ExitCode.BUSY):
                        self._say(step.files, error.what, begun, error)
            if self._is_interrupted:
                raise KeyboardInterrupt
            begun = time.monotonic()
        return failed

    def _to_their_end(self, lab: Lab, steps: list[Step]) -> list[tuple[Step, Future[str]]]:
        """Carry out steps to their end, even if the user interrupts meanwhile."""
        tables = all(step.kind is Kind.TABLE for step in steps)
        with ThreadPoolExecutor(max_workers=_TABLES if tables else 1) as pool:
            # A lab object may hold content that it read before the step.
            futures = [pool.submit(carry_out, replace(lab), step) for step in steps]
            while not all(future.done() for future in futures):
                try:
                    wait(futures)
                except KeyboardInterrupt:
                    self._is_interrupted = True
        return list(zip(steps, futures, strict=True))

    def _look(self) -> Look:
        """Return every file; one that has been missing only for a moment counts as unchanged."""
        self.places = self._find_places()
        found, clock = self._read(), time.monotonic()
        missing = self._seen.keys() - found.keys()
        self._gone = {path: self._gone.get(path, clock) for path in missing}
        for path, since in self._gone.items():
            if clock - since < _GONE_SECONDS:
                found[path] = self._seen[path]
        return found

    def _read(self) -> dict[Path, tuple[Use, str]]:
        return {
            path: (use, digest)
            for path, use in self.places.uses.items()
            if (digest := digest_of(path)) is not None
        }

    def _find_places(self) -> Places:
        return find_places(self._project, self._config, self._lab_file)

    def _say(
        self, files: Iterable[Path], said: str, begun: float, error: LabError | None = None
    ) -> None:
        self._tell(Outcome(tuple(sorted(files)), said, time.monotonic() - begun, error))


def _result(future: Future[str]) -> str:
    """Return a step's result. Raises LabError, also for any other error, so the watch continues."""
    try:
        return future.result()
    except LabError:
        raise
    except Exception as error:
        raise LabError(f"{type(error).__name__}: {error}", hint="labctl status") from error


def _moves(folders: Iterable[Path], stop: threading.Event | None) -> Iterator[None]:
    """Yield when something changes in one of these folders, and periodically without changes.

    End when one of the folders no longer exists.
    """
    try:
        for _ in watch(
            *sorted(folders),
            watch_filter=None,
            recursive=False,
            step=_STEP_MS,
            debounce=_GROUP_MS,
            rust_timeout=_TICK_MS,
            yield_on_timeout=True,
            stop_event=stop,
        ):
            yield
    except FileNotFoundError:
        return
