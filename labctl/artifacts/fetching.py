"""Concurrent fetching of several artefacts."""

from __future__ import annotations

import platform
import shutil
import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from labctl.artifacts import debian, golang, maven, pypi
from labctl.artifacts.fetch_progress import Progress
from labctl.artifacts.job import CancelledError, Job, Provenance
from labctl.artifacts.lock import (
    Artifact,
    DebianArtifact,
    GoArtifact,
    MavenArtifact,
    PypiArtifact,
)
from labctl.artifacts.tree import publish, tree_path
from labctl.errors import ExitCode, LabError

__all__ = ["fetch_all"]

CONNECTIONS = 12


def fetch_all(
    artifacts: Mapping[str, Artifact],
    cache_dir: Path,
    progress: Progress,
    cancelled: threading.Event,
) -> None:
    """Fetch and install all `artifacts`; the caller must hold the cache's lock.

    The first failure, Ctrl-C or `cancelled` stops all fetches. Their downloads are kept for the
    next attempt.
    """
    _require_platform()
    connections = threading.BoundedSemaphore(CONNECTIONS)
    # Compiling takes longer than every download together.
    longest_first = sorted(artifacts, key=lambda name: not isinstance(artifacts[name], GoArtifact))
    with ThreadPoolExecutor(max(1, len(artifacts)), thread_name_prefix="artifact") as pool:
        try:
            futures = []
            for name in longest_first:
                artifact = artifacts[name]
                work = cache_dir / "work" / name / artifact.digest
                target = tree_path(cache_dir, name, artifact.digest)
                job = Job(name, work, _trees(target), progress, cancelled, connections)
                futures.append(pool.submit(_install, artifact, job, target))
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            cancelled.set()
    _raise_first(futures)


def _require_platform() -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise LabError(
            "the native runtime's parts are for Linux x86-64, and this is "
            f"{platform.system()} {platform.machine()}",
            hint="use another runtime of the lab",
            exit_code=ExitCode.ENVIRONMENT,
        )


def _raise_first(futures: list[Future[None]]) -> None:
    """Raise the error that occurred, not the cancellations that followed from it."""
    errors = [error for future in futures if (error := future.exception())]
    for error in sorted(errors, key=lambda error: isinstance(error, CancelledError)):
        raise error


def _trees(target: Path) -> tuple[Path, ...]:
    """Return the installed trees of this artefact, whatever their version and state."""
    return tuple(sorted(path for path in target.parent.glob("*") if path.is_dir()))


def _install(artifact: Artifact, job: Job, target: Path) -> None:
    try:
        _discard_other_versions(job.work)
        shutil.rmtree(job.tree, ignore_errors=True)
        job.tree.mkdir(parents=True)
        provenance = _fetch(artifact, job)
        publish(job, provenance, target)
        shutil.rmtree(job.work.parent)
    except OSError as error:
        raise LabError(
            f"cannot store {job.artifact} in the cache",
            hint="check free space and permissions of the cache folder, then run it again",
            details=(str(error),),
            exit_code=ExitCode.ENVIRONMENT,
        ) from error
    job.progress.finish(job.artifact)


def _discard_other_versions(work: Path) -> None:
    """Delete the work folders of unfinished fetches of other locked versions."""
    for other in work.parent.glob("*"):
        if other != work:
            shutil.rmtree(other)


def _fetch(artifact: Artifact, job: Job) -> Provenance:
    match artifact:
        case MavenArtifact():
            return maven.fetch(artifact, job)
        case PypiArtifact():
            return pypi.fetch(artifact, job)
        case DebianArtifact():
            return debian.fetch(artifact, job)
        case GoArtifact():
            return golang.fetch(artifact, job)
