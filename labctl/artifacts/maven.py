"""Artefacts that are files of Maven components."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from labctl.artifacts.checksum import sha256_of
from labctl.artifacts.job import Job, Provenance
from labctl.artifacts.lock import MavenArtifact, MavenFile
from labctl.artifacts.unpacking import unpack

if TYPE_CHECKING:
    from jgo.maven import MavenContext

__all__ = ["context", "fetch"]

PARALLEL = 8


def context(repo_cache: Path | None = None) -> MavenContext:
    """Return jgo's resolver: the user's configured Maven repositories first, then jgo's default."""
    # Imported here: every command imports this module, few fetch, and jgo is slow to import.
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    resolver = MavenContext(repo_cache=repo_cache, timeout=30)
    resolver.remote_repos = {**GlobalSettings.load().repositories, **resolver.remote_repos}
    return resolver


def fetch(artifact: MavenArtifact, job: Job) -> Provenance:
    """Download the locked files into the tree; unpack archives."""
    job.begin("downloading", artifact.download_size)
    maven = context()
    with ThreadPoolExecutor(PARALLEL, thread_name_prefix=job.artifact) as pool:
        pending = [pool.submit(_obtain, file, maven, job) for file in artifact.files]
        try:
            obtained = [future.result() for future in pending]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    target = job.tree / artifact.folder
    target.mkdir(exist_ok=True)
    for path in obtained:
        job.check()
        if path.name.endswith(".tar.gz"):
            unpack(path, target, check=job.check)
        else:
            path.rename(target / path.name)
    return Provenance(artifact.version)


def _obtain(file: MavenFile, maven: MavenContext, job: Job) -> Path:
    """Return the verified file in the work folder; reuse, salvage or download it."""
    group, name = file.name.split(":")
    component = maven.project(group, name).at_version(file.version)
    filename = component.artifact(file.classifier, file.packaging).filename
    target = job.work / filename
    if _have(target, file) or _salvage(target, file, job):
        job.advance(file.size)
    else:
        # Imported here: every command imports this module, and few need HTTP.
        from labctl.artifacts.download import download

        path = f"{component.path_prefix.as_posix()}/{filename}"
        download([f"{repo}/{path}" for repo in maven.remote_repos.values()], target, file, job)
    return target


def _have(path: Path, file: MavenFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size and sha256_of(path) == file.sha256


def _salvage(target: Path, file: MavenFile, job: Job) -> bool:
    """Copy the file from an older or damaged tree of this artefact if it is intact there."""
    for tree in job.previous:
        for candidate in tree.rglob(target.name):
            if _have(candidate, file):
                shutil.copy2(candidate, target)
                return True
    return False
