"""Jobs and locked files for tests of the artefact store."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from pathlib import Path

from labctl.artifacts.fetch_progress import Unit
from labctl.artifacts.job import Job
from labctl.artifacts.lock import LockedFile


class Tally:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, str]] = []
        self.amounts: Counter[str] = Counter()
        self.finished: list[str] = []

    def begin(self, artifact: str, phase: str, total: int | None, unit: Unit) -> None:
        self.phases.append((artifact, phase))

    def advance(self, artifact: str, amount: int) -> None:
        self.amounts[artifact] += amount

    def finish(self, artifact: str) -> None:
        self.finished.append(artifact)


def make_job(work: Path, tally: Tally | None = None) -> Job:
    """A job of an artefact named "part"; its tree exists and is empty."""
    job = Job("part", work, (), tally or Tally(), threading.Event(), threading.Semaphore())
    job.tree.mkdir(parents=True)
    return job


def locked(name: str, content: bytes, version: str = "1.0") -> LockedFile:
    """A locked file with this content."""
    sha256 = hashlib.sha256(content).hexdigest()
    return LockedFile(name=name, version=version, sha256=sha256, size=len(content))
