"""Progress on stderr: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from labctl.cli.output import stderr

__all__ = ["ConsoleProgress"]

MIB = 1024**2


class ConsoleProgress(AbstractContextManager["ConsoleProgress"]):
    """Shows parts being fetched, rows being loaded, and services coming up.

    Safe to call from several threads.
    """

    def __init__(self) -> None:
        self._live = stderr.is_terminal
        self._tasks: dict[str, TaskID] = {}
        self._units: dict[str, str] = {}
        self._mutex = threading.Lock()
        self._bars = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=stderr,
            disable=not self._live,
        )

    def __enter__(self) -> ConsoleProgress:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, artifact: str, phase: str, total: int | None, unit: str) -> None:
        """Begin a phase of work on `artifact`; `total` is None while it is unknown."""
        words = f"{artifact}: {phase}"
        with self._mutex:
            self._units[artifact] = unit
            if artifact in self._tasks:
                task = self._tasks[artifact]
                self._bars.reset(task, total=total)
                self._bars.update(task, description=words)
            else:
                self._tasks[artifact] = self._bars.add_task(words, total=total, note="")
        if not self._live:
            stderr.print(words, highlight=False)

    def advance(self, artifact: str, amount: int) -> None:
        """`amount` more units are done; units of no phase are not shown."""
        with self._mutex:
            if artifact not in self._tasks:
                return
            self._bars.advance(self._tasks[artifact], amount)
            done, unit = self._task(artifact).completed, self._units[artifact]
            note = f"{done / MIB:.0f} MiB" if unit == "bytes" else f"{done:.0f} {unit}"
            self._bars.update(self._tasks[artifact], note=note)

    def finish(self, artifact: str) -> None:
        """Work on `artifact` is done."""
        with self._mutex:
            if artifact not in self._tasks:
                return
            total = self._task(artifact).total or self._task(artifact).completed or 1
            self._bars.update(self._tasks[artifact], total=total, completed=total)

    def _task(self, name: str) -> Task:
        return self._bars.tasks[self._bars.task_ids.index(self._tasks[name])]

    def service(self, name: str, state: str, detail: str = "") -> None:
        """Show a service's state on its way up."""
        words = f"{name}: {state}" + (f" ({detail})" if detail else "")
        if not self._live:
            if state in ("ready", "failed"):
                stderr.print(words, highlight=False)
            return
        with self._mutex:
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(words, total=None, note="")
            ended = state in ("ready", "failed")
            self._bars.update(
                self._tasks[name],
                description=words,
                total=1 if ended else None,
                completed=1 if ended else 0,
            )
