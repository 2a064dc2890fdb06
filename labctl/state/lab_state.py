"""The state folder of a lab: its name, its ports, and the lock for changing it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Annotated, Any, TextIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from labctl.errors import ExitCode, LabError
from labctl.state.folders import has_ended
from labctl.state.ownership import make_own, require_own

__all__ = [
    "COPIED",
    "RESTORING",
    "SAVED",
    "STATE_VERSION",
    "LabState",
    "lab_names",
    "state_home",
    "sync_folder",
    "write_private",
]

STATE_VERSION = 4
"""Version of lab.json and of the lab's other files. Increase it whenever this labctl cannot use an
older lab as it is: labs of every other version are refused."""
DESTROYED = ".destroyed"
"""Folder next to the labs. A destroyed lab is moved here first, so that it disappears at once."""
SAVED = ("data", "secrets")
"""The folders of a lab that a snapshot holds. labctl writes all others when services start."""
COPIED = "restoring.new"
"""Folder in the lab's folder for a snapshot that is being copied."""
RESTORING = "restoring"
"""Name of the same folder once the copy is complete; it then replaces the lab's own folders."""

_VARIABLE = "XDG_STATE_HOME"

SOCKET_PATH_LIMIT = 99
"""Maximum bytes in the path of the supervisor's socket: 107 (sun_path, unix(7)) minus the process
id that supervisord appends while it binds."""


def state_home() -> Path:
    """Return the folder of all labs: `$XDG_STATE_HOME/labctl`."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "labctl"


def lab_names() -> list[str]:
    """Return the names of the labs on this machine. Raise LabError if another user owns the
    folder of all labs."""
    home = state_home()
    require_own(home, variable=_VARIABLE)
    found = home.glob("[!.]*/lab.json") if home.is_dir() else ()
    return sorted(path.parent.name for path in found)


class _Recorded(BaseModel):
    """The schema of lab.json. Unknown keys of a newer command are kept."""

    model_config = ConfigDict(extra="allow", strict=True)

    version: int = Field(default=1, ge=1)
    name: str | None = None
    project: str | None = None
    profile: str | None = None
    profiles: list[str] = []
    ports: dict[str, dict[str, Annotated[int, Field(ge=1, le=65535)]]] = {}
    deaths_before: int = Field(default=0, ge=0)
    wished_ports: dict[str, dict[str, int]] = {}
    seeded: dict[str, Any] = {}
    switched_on: list[str] = []


@dataclass(frozen=True)
class LabState:
    """A lab's folder.

    lab.json      version, project, profile and ports, written whenever the lab is started, and the
                  services switched on in addition to lab.toml
    secrets/      generated passwords and the files connectors refer to
    data/<svc>/   a service's data
    data/.notes/  labctl's own notes about what the services have stored
    conf/<svc>/   a service's configuration, written at every start
    tmp/<svc>/    a service's temporary files, deleted whenever it starts
    logs/         one file per service, and the supervisor's log
    """

    name: str

    @property
    def folder(self) -> Path:
        return state_home() / self.name

    @property
    def secrets(self) -> Path:
        return self.folder / "secrets"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def compose_variables(self) -> Path:
        """Variables for the Compose file; exists once the lab was started in containers."""
        return self.folder / "compose.env"

    @property
    def own_containers(self) -> Path:
        """Compose file of the user's own services; it holds secrets. Exists if there are any."""
        return self.folder / "own-services.json"

    @property
    def supervisor_socket(self) -> Path:
        return self.folder / "supervisor.sock"

    @property
    def deaths(self) -> Path:
        """File with one JSON line per unexpected death of a service."""
        return self.folder / "deaths.jsonl"

    @property
    def sql_history(self) -> Path:
        """Input history of `labctl athena shell`."""
        return self.folder / "sql_history"

    def count_deaths(self) -> int:
        """Return the lines in `deaths` so far. A time would not do: the clock may be set back."""
        return self.deaths.read_bytes().count(b"\n") if self.deaths.is_file() else 0

    def data(self, service: str) -> Path:
        return self.folder / "data" / service

    def notes(self, profile: str) -> Path:
        """Return the folder of labctl's own notes about the data of the lab in a profile.

        A snapshot has them with the data. Each profile has data of its own.
        """
        return self.data(".notes") / profile

    def conf(self, service: str) -> Path:
        return self.folder / "conf" / service

    def temp(self, service: str) -> Path:
        """Return the folder of a native service's temporary files, emptied whenever it starts."""
        return self.folder / "tmp" / service

    def log(self, service: str) -> Path:
        return self.logs / f"{service}.log"

    @property
    def exists(self) -> bool:
        return (self.folder / "lab.json").is_file()

    def require(self) -> LabState:
        """Return this lab. Raise LabError if it does not exist or belongs to another user."""
        self._require_own()
        if self.exists:
            return self
        names = lab_names()
        raise LabError(
            f"There is no lab named {self.name!r} on this machine",
            hint=f"labs here: {', '.join(names)}" if names else "start one with `labctl up`",
            exit_code=ExitCode.USAGE,
        )

    def create(self) -> None:
        """Create the folders. Raise LabError if the path is too long for a unix socket, or if
        another user owns them."""
        length = len(os.fsencode(self.supervisor_socket))
        if length > SOCKET_PATH_LIMIT:
            raise LabError(
                f"The state folder's path is too long for a unix socket: {self.supervisor_socket} "
                f"({length} bytes, {SOCKET_PATH_LIMIT} allowed)",
                hint="set XDG_STATE_HOME to a shorter path",
                exit_code=ExitCode.ENVIRONMENT,
            )
        for folder in (state_home(), self.folder, self.secrets, self.logs):
            make_own(folder, variable=_VARIABLE)

    def _require_own(self) -> None:
        for folder in (state_home(), self.folder):
            require_own(folder, variable=_VARIABLE)

    def load(self) -> dict[str, Any]:
        """Return lab.json; empty if the lab does not exist yet.

        Raises LabError (ENVIRONMENT) if the file is damaged, belongs to another user, or is of
        another version.
        """
        self._require_own()
        path = self.folder / "lab.json"
        try:
            values: dict[str, Any] = json.loads(path.read_bytes())
            version = _Recorded.model_validate(values).version
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise LabError(
                f"{path} is damaged: {_reason(error)}",
                hint=(
                    f"to keep the lab's data: `labctl down --lab {self.name}`, delete that file, "
                    f"then `labctl up --lab {self.name}`, which may choose other ports; "
                    f"`labctl destroy --lab {self.name}` removes the lab and its data"
                ),
                exit_code=ExitCode.ENVIRONMENT,
            ) from None
        if version != STATE_VERSION:
            age = "a newer" if version > STATE_VERSION else "an older"
            raise LabError(
                f"Lab {self.name!r} was last started by {age} labctl: {path} has version "
                f"{version}, this labctl reads version {STATE_VERSION}",
                hint=(
                    f"use that labctl, or `labctl destroy --lab {self.name}`, "
                    "which removes the lab and its data"
                ),
                exit_code=ExitCode.ENVIRONMENT,
            )
        return values

    def load_if_readable(self) -> dict[str, Any] | None:
        """Return the result of `load`; None if lab.json cannot be read.

        For commands that must work even then: those that stop or remove the lab, or that use
        other labs.
        """
        try:
            return self.load()
        except LabError:
            return None

    def save(self, **values: Any) -> None:
        """Merge `values` into lab.json."""
        merged = self.load() | {"version": STATE_VERSION} | values
        write_private(self.folder / "lab.json", json.dumps(merged, indent=2, sort_keys=True))

    def remove(self) -> None:
        """Delete the lab's folder and everything in it. Raise LabError if files remain.

        One rename removes the lab: another command sees all of it or nothing. It can create a new
        lab of the same name in a separate folder.
        """
        waiting = state_home() / DESTROYED
        waiting.mkdir(exist_ok=True, mode=0o700)
        mine = waiting / f"{self.name}.{time.time_ns()}.{os.getpid()}"
        self.folder.rename(mine)
        shutil.rmtree(mine, ignore_errors=True)
        if mine.exists():
            raise LabError(
                f"Lab {self.name!r} is gone, but not all of its files could be deleted",
                hint=f"delete {mine}",
            )

    def remove_leftovers(self) -> None:
        """Delete what killed commands left behind while destroying or restoring a lab.

        The caller must hold the lab. Folders that another process is still deleting are skipped.
        """
        for folder in (state_home() / DESTROYED).glob("*.*"):
            if has_ended(folder):
                shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.folder / COPIED, ignore_errors=True)
        if not (self.folder / RESTORING).exists():
            for part in SAVED:
                for old in self.folder.glob(f".{part}.*"):
                    shutil.rmtree(old, ignore_errors=True)

    @contextmanager
    def changing(self, *, existing: bool = False) -> Iterator[None]:
        """Lock the lab while it is changed. Raise LabError (BUSY) if another command holds it.

        Creates the lab's folder. With `existing`, raises LabError instead if there is no such
        lab.
        """
        with self._locked(existing=existing) as handle:
            with suppress(OSError):  # the disk is full, and the lab may be stopped nevertheless
                os.ftruncate(handle.fileno(), 0)
                os.write(handle.fileno(), f"process {os.getpid()}".encode())
            self.remove_leftovers()
            yield
            os.ftruncate(handle.fileno(), 0)

    @contextmanager
    def _locked(self, *, existing: bool) -> Iterator[TextIO]:
        path = self.folder / "lock"
        while True:
            self.require() if existing else self.create()
            try:
                handle = path.open("a+", encoding="utf-8")
            except FileNotFoundError:
                continue  # destroyed since the line before
            with handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    handle.seek(0)
                    raise LabError(
                        f"Lab {self.name!r} is being changed by another command "
                        f"({handle.read().strip() or 'unknown process'})",
                        hint="wait for it to finish, then try again",
                        exit_code=ExitCode.BUSY,
                    ) from None
                # If another command destroyed the lab meanwhile, the locked file is no longer here.
                if path.exists() and os.path.samestat(path.stat(), os.fstat(handle.fileno())):
                    yield handle
                    return


def _reason(error: Exception) -> str:
    """Return in one line why lab.json cannot be read."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    return str(error)


def write_private(path: Path, text: str) -> None:
    """Write `text` to a file that only this user can read, replacing it atomically.

    The text is on disk when this returns: after a power cut the file is the old one or the new
    one. Temporary files that killed commands left for the same file are removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        staged.replace(path)
    except OSError as error:
        staged.unlink(missing_ok=True)
        error.filename = str(path)
        raise
    for other in path.parent.glob(f".{escape(path.name)}.*.*"):
        writer = other.name.split(".")[-2]
        if writer.isdecimal() and not Path("/proc", writer).exists():
            other.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the directory entries of `folder` to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
