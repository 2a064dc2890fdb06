"""The history of a soak run: one line of JSON for every step of every transaction and fault.

A transaction is `invoked`, and then `ok`, `failed` (the database refused it: nothing was
committed) or `unknown` (the connection was lost: it may be committed). An unknown one is invoked
again until it is ok: repeating it changes nothing if it was committed.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Literal, Self

__all__ = ["History", "Outcome"]

Outcome = Literal["invoked", "ok", "failed", "unknown"]


class History(AbstractContextManager["History"]):
    """A history that is written to a file, or only counted if there is no path. Thread-safe."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: IO[str] | None = None
        self._mutex = threading.Lock()
        self._begun = time.monotonic()
        self.counts: dict[Outcome, int] = {"invoked": 0, "ok": 0, "failed": 0, "unknown": 0}
        """Number of transactions by outcome."""

    def __enter__(self) -> Self:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def transaction(self, outcome: Outcome, **facts: object) -> None:
        """Record a step of a transaction."""
        with self._mutex:
            self.counts[outcome] += 1
            self._write({"what": outcome, **facts})

    def event(self, what: str, **facts: object) -> None:
        """Record any other event: a fault, its end, a recovery."""
        with self._mutex:
            self._write({"what": what, **facts})

    def _write(self, facts: Mapping[str, Any]) -> None:
        if self._file is not None:
            at = round(time.monotonic() - self._begun, 3)
            self._file.write(json.dumps({"at": at, **facts}) + "\n")
