"""The state folder of a lab: what it is called, which ports it holds, who may change it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError

__all__ = ["LabState", "lab_names", "state_home"]

SOCKET_PATH_LIMIT = 99
"""Bytes in the path of the supervisor's socket: 107 (sun_path, unix(7)) less the process id that
supervisord appends while it binds."""


def state_home() -> Path:
    """The folder of all labs: `$XDG_STATE_HOME/labctl`."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "labctl"


def lab_names() -> list[str]:
    """Names of the labs that have state on this machine."""
    home = state_home()
    return sorted(p.parent.name for p in home.glob("*/lab.json")) if home.is_dir() else []


@dataclass(frozen=True)
class LabState:
    """One lab's folder.

    lab.json      project, profile and ports, written when the lab is made
    secrets/      generated passwords and the files connectors refer to
    data/<svc>/   what a service keeps
    conf/<svc>/   configuration written for it at every start
    tmp/<svc>/    its temporary files, emptied whenever it starts
    logs/         one file a service, and the supervisor's own
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
    def supervisor_socket(self) -> Path:
        return self.folder / "supervisor.sock"

    @property
    def deaths(self) -> Path:
        """One JSON line for every death of a service that nobody asked for."""
        return self.folder / "deaths.jsonl"

    def data(self, service: str) -> Path:
        return self.folder / "data" / service

    def conf(self, service: str) -> Path:
        return self.folder / "conf" / service

    def temp(self, service: str) -> Path:
        """Temporary files of a native service: emptied whenever it starts."""
        return self.folder / "tmp" / service

    def log(self, service: str) -> Path:
        return self.logs / f"{service}.log"

    @property
    def exists(self) -> bool:
        return (self.folder / "lab.json").is_file()

    def require(self) -> LabState:
        """This lab, or a LabError when there is none of that name."""
        if self.exists:
            return self
        names = lab_names()
        raise LabError(
            f"There is no lab named {self.name!r} on this machine",
            hint=f"labs here: {', '.join(names)}" if names else "start one with `labctl up`",
            exit_code=ExitCode.USAGE,
        )

    def create(self) -> None:
        """Make the folders. Raises LabError when the path is too long for a unix socket."""
        length = len(os.fsencode(self.supervisor_socket))
        if length > SOCKET_PATH_LIMIT:
            raise LabError(
                f"The state folder's path is too long for a unix socket: {self.supervisor_socket} "
                f"({length} bytes, {SOCKET_PATH_LIMIT} allowed)",
                hint="set XDG_STATE_HOME to a shorter path",
                exit_code=ExitCode.ENVIRONMENT,
            )
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.secrets, self.logs):
            folder.mkdir(exist_ok=True, mode=0o700)

    def load(self) -> dict[str, Any]:
        """What lab.json holds; empty when the lab has not been made yet."""
        path = self.folder / "lab.json"
        if not path.is_file():
            return {}
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise LabError(
                f"{path} is damaged: {error}",
                hint=f"`labctl destroy --lab {self.name}` removes the lab and its data",
                exit_code=ExitCode.ENVIRONMENT,
            ) from None
        return data

    def save(self, **values: Any) -> None:
        """Merge `values` into lab.json."""
        write_private(
            self.folder / "lab.json", json.dumps(self.load() | values, indent=2, sort_keys=True)
        )

    def remove(self) -> None:
        """Delete the lab's folder and everything in it."""
        shutil.rmtree(self.folder, ignore_errors=False)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lab while it is changed. Raises LabError (BUSY) when another command does."""
        self.create()
        with (self.folder / "lock").open("a+", encoding="utf-8") as handle:
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
            handle.truncate(0)
            handle.write(f"process {os.getpid()}")
            handle.flush()
            yield
            if self.folder.exists():
                handle.truncate(0)


def write_private(path: Path, text: str) -> None:
    """Write `text` where only this user can read it, replacing the file at once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text)
    staged.replace(path)
