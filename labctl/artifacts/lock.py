"""The lock: what every artefact consists of, by name, version and checksum."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from labctl.errors import ExitCode, LabError

__all__ = [
    "Artifact",
    "DebianArtifact",
    "GoArtifact",
    "Lock",
    "LockedFile",
    "MavenArtifact",
    "MavenFile",
    "PypiArtifact",
    "load_lock",
]

VERSION_OPTION = "--version"
"""What most programs are asked with for their version."""

LAYOUT = 1
"""To be raised when the shape of installed trees changes: older ones are then not current."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class LockedFile(_Record):
    """One downloaded file: its name and version in its own registry, and what it must be."""

    name: str
    version: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(gt=0)]
    """Bytes."""


class MavenFile(LockedFile):
    """A file of a Maven component; `name` is `group:artifact`."""

    packaging: str = "jar"
    classifier: str = ""


class _Artifact(_Record, ABC):
    version: str

    @property
    @abstractmethod
    def download_size(self) -> int:
        """Bytes to download."""

    @property
    def digest(self) -> str:
        """Changes whenever anything locked for this artefact does."""
        content = f"{LAYOUT}\n{self.model_dump_json()}"
        return hashlib.sha256(content.encode()).hexdigest()[:16]


class MavenArtifact(_Artifact):
    """Jars in one folder, or unpacked archives."""

    kind: Literal["maven"] = "maven"
    folder: str = ""
    """Folder inside the artefact that receives the files; "" for the artefact's own folder."""
    files: tuple[MavenFile, ...]

    @property
    def download_size(self) -> int:
        return sum(file.size for file in self.files)


class PypiArtifact(_Artifact):
    """A wheel, or one folder out of it."""

    kind: Literal["pypi"] = "pypi"
    folder: str = ""
    """The folder of the wheel that is the artefact; "" for all of it."""
    check: tuple[str, ...] = ()
    """A program of the artefact with arguments that must succeed, relative to its folder."""
    file: LockedFile

    @property
    def download_size(self) -> int:
        return self.file.size


class DebianArtifact(_Artifact):
    """A Debian package with the libraries it needs, unpacked into one folder."""

    kind: Literal["debian"] = "debian"
    suite: str
    package: str
    program: str
    """The executable the artefact is fetched for, relative to its folder."""
    version_option: str = Field(default=VERSION_OPTION, exclude_if=VERSION_OPTION.__eq__)
    """What it is asked with for its version. The usual one is left out, and no digest changes."""
    files: tuple[LockedFile, ...]

    @property
    def download_size(self) -> int:
        return sum(file.size for file in self.files)


class GoArtifact(_Artifact):
    """A program built from a Go module."""

    kind: Literal["go"] = "go"
    module: str
    h1: Annotated[str, Field(pattern=r"^h1:[A-Za-z0-9+/]{43}=$")]
    """Go's own checksum of the module; the module's go.sum pins everything below it."""
    size: int
    """Bytes of the module's source archive."""
    check: tuple[str, ...] = ()
    """The program with arguments that must succeed, relative to the artefact's folder."""
    go: str
    """Oldest Go release that builds it, such as "1.24"."""
    toolchain: PypiArtifact
    """The Go toolchain used where the machine has none that is new enough."""

    @property
    def download_size(self) -> int:
        return self.size


Artifact = MavenArtifact | PypiArtifact | DebianArtifact | GoArtifact


class Lock(_Record):
    """All artefacts by name."""

    format: Literal[1] = 1
    artifacts: Mapping[str, Annotated[Artifact, Field(discriminator="kind")]]


def load_lock(path: Path | None = None) -> Lock:
    """Read the lock at `path`, or the one that ships with labctl.

    Raises LabError (USAGE) if it is not a lock.
    """
    source = path or files("labctl.artifacts") / "lock.json"
    try:
        return Lock.model_validate_json(source.read_bytes())
    except FileNotFoundError as error:
        raise LabError(f"there is no lock file at {source}", exit_code=ExitCode.USAGE) from error
    except ValidationError as error:
        problems = tuple(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise LabError(
            f"the lock file {source} is not valid",
            hint="restore it from version control, or make it again with "
            "`python -m labctl.artifacts.relock`",
            details=problems[:10],
            exit_code=ExitCode.USAGE,
        ) from error
