"""Artefacts that are programs built from Go modules."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from labctl.artifacts import pypi, system
from labctl.artifacts.job import Job, Provenance, folder_size
from labctl.artifacts.lock import GoArtifact
from labctl.errors import LabError

__all__ = ["fetch"]

_INLINED = ("github.com/klauspost/...",)
"""Packages for compression and checksums, which MinIO applies to each object."""
HINT = "check the network and Go's proxy settings, then run the command again: it continues"


def fetch(artifact: GoArtifact, job: Job) -> Provenance:
    """Build the program into the tree, with the machine's Go or else a fetched toolchain."""
    go = _toolchain(artifact, job)
    module = f"{artifact.module}@{artifact.version}"
    environment = _environment(job)
    job.begin("downloading the source", artifact.size)
    modules = job.work / "modules"
    described = job.run(
        [str(go), "mod", "download", "-modcacherw", "-json", module],
        what=f"go could not download {module}",
        hint=HINT,
        env=environment,
        measure=lambda _log: min(folder_size(modules / "cache"), artifact.size),
    )
    _require_sum(json.loads(described)["Sum"], artifact, modules)
    job.begin("building", None, "packages")
    job.run(
        # -v names each package as it is built; there is no other progress information.
        [
            *(str(go), "install", "-v", "-modcacherw", "-trimpath"),
            *_compiler(artifact.module),
            *("-ldflags=-s -w", module),
        ],
        what=f"go could not build {module}",
        hint=HINT,
        env=environment,
        measure=lambda log: log.read_bytes().count(b"\n"),
    )
    if artifact.check:
        program, *arguments = artifact.check
        job.prove([str(job.tree / program), *arguments])
    return Provenance(artifact.version)


def _toolchain(artifact: GoArtifact, job: Job) -> Path:
    if found := system.find_go(artifact.go):
        return found.path
    folder = job.work / "toolchain"
    if not folder.exists():
        partial = job.work / "toolchain.part"
        shutil.rmtree(partial, ignore_errors=True)
        pypi.fetch_into(artifact.toolchain, partial, job)
        partial.rename(folder)
    return folder / "bin" / "go"


def _compiler(module: str) -> list[str]:
    """Return compiler options that inline functions only where it makes the program faster.

    With them MinIO compiles in three quarters of the time and is as fast. Most of its code is
    clients of other services, which it seldom uses.
    """
    own = "/".join(module.split("/")[:2])
    inlined = ("std", f"{own}/...", *_INLINED)
    # No debug information: the linker would drop it anyway (-w).
    return [
        "-gcflags=all=-l -dwarf=false",
        *(f"-gcflags={packages}=-dwarf=false" for packages in inlined),
    ]


def _environment(job: Job) -> dict[str, str]:
    """Return variables that keep all Go caches in the work folder, for the next attempt."""
    return {
        "GOPATH": str(job.work / "gopath"),
        "GOMODCACHE": str(job.work / "modules"),
        "GOCACHE": str(job.work / "compiled"),
        "GOBIN": str(job.tree / "bin"),
        "GOTOOLCHAIN": "local",
        "GOOS": "linux",
        "GOARCH": "amd64",
        "CGO_ENABLED": "0",
        # Takes a quarter less time than the default, with a peak of 2 GB of memory.
        "GOGC": os.environ.get("GOGC", "400"),
    }


def _require_sum(found: str, artifact: GoArtifact, modules: Path) -> None:
    if found == artifact.h1:
        return
    shutil.rmtree(modules)
    raise LabError(
        f"{artifact.module} {artifact.version} is not the module that the lock asks for, "
        "and was removed",
        hint="run the command again; if it happens twice, something between this machine and "
        "the registry changes files, or the lock is wrong",
        details=(f"expected  {artifact.h1}", f"found     {found}"),
    )
