"""Artefacts that are Debian packages, run from one folder with their own libraries."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from labctl.artifacts.apt import Apt
from labctl.artifacts.checksum import require, sha256_of
from labctl.artifacts.job import Job, Provenance
from labctl.artifacts.lock import DebianArtifact, LockedFile

__all__ = ["command", "fetch", "identity"]

LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
LOADER = LIBRARIES / "ld-linux-x86-64.so.2"
UNUSED = ("doc", "info", "lintian", "locale", "man", "i18n")
"""Folders in usr/share that programs do not need at run time."""


def command(tree: Path, program: str) -> list[str]:
    """Return the command for `program` in a tree, with the tree's own loader and libraries."""
    return [str(tree / LOADER), "--library-path", str(tree / LIBRARIES), str(tree / program)]


def fetch(artifact: DebianArtifact, job: Job) -> Provenance:
    """Download the locked packages with apt and unpack them into the tree.

    A moving suite drops versions. If a locked version is gone, this takes the current version,
    which the archive's signed index vouches for, and notes that in the result.
    """
    packages = job.work / "packages"
    moved: dict[str, str] = {}
    if not _complete(packages, artifact.files, job):
        apt = Apt(job, artifact.suite)
        apt.update()
        apt.download(_requests(apt, artifact), packages, artifact.download_size)
        moved = _check(packages, artifact.files, job)
    job.begin("unpacking", None)
    for package in sorted(packages.glob("*.deb")):
        _dpkg_deb(job, "-x", str(package), str(job.tree))
    for folder in UNUSED:
        shutil.rmtree(job.tree / "usr/share" / folder, ignore_errors=True)
    job.prove([*command(job.tree, artifact.program), artifact.version_option])
    return _provenance(artifact, moved)


def identity(package: Path, job: Job) -> tuple[str, str]:
    """Return the name and version of a .deb file."""
    fields = _dpkg_deb(job, "-f", str(package), "Package", "Version").splitlines()
    name, version = (field.partition(": ")[2] for field in fields)
    return name, version


def _requests(apt: Apt, artifact: DebianArtifact) -> list[str]:
    """Return the packages to request from apt: locked versions, or their replacements."""
    available = apt.versions([file.name for file in artifact.files])
    if any(file.name not in available for file in artifact.files):
        # A library was renamed: only the archive's current dependencies list what is needed.
        return apt.closure(artifact.package)
    return [
        f"{file.name}={file.version}" if file.version in available[file.name] else file.name
        for file in artifact.files
    ]


def _complete(packages: Path, files: Iterable[LockedFile], job: Job) -> bool:
    """Return whether an earlier attempt left all locked packages; delete any other package."""
    wanted = {file.sha256 for file in files}
    for package in packages.glob("*.deb"):
        job.check()
        sha256 = sha256_of(package)
        if sha256 in wanted:
            wanted.remove(sha256)
        else:
            package.unlink()
    return not wanted


def _check(packages: Path, files: Iterable[LockedFile], job: Job) -> dict[str, str]:
    """Check packages against the lock; return unlocked versions by package name."""
    locked = {(file.name, file.version): file.sha256 for file in files}
    moved: dict[str, str] = {}
    for package in packages.glob("*.deb"):
        name, version = identity(package, job)
        if sha256 := locked.get((name, version)):
            require(package, sha256, what=f"{name} {version}")
        else:
            moved[name] = version
    return moved


def _provenance(artifact: DebianArtifact, moved: dict[str, str]) -> Provenance:
    if not moved:
        return Provenance(artifact.version)
    names = ", ".join(f"{name} {version}" for name, version in sorted(moved.items()))
    return Provenance(
        version=moved.get(artifact.package, artifact.version),
        verified_by="archive",
        note=f"Debian {artifact.suite} no longer has the locked version of some packages; these "
        f"were verified by the archive's signature, not by the lock: {names}",
    )


def _dpkg_deb(job: Job, *arguments: str) -> str:
    return job.run(
        ["dpkg-deb", *arguments],
        what="dpkg-deb cannot read a package it was given",
        hint="run the command again; if it fails again, check the disk",
    )
