"""Faults on purpose in processes of this user."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import ClassVar

import psutil

from labctl.errors import ExitCode, LabError
from labctl.runtimes.native.families import family_of
from labctl.runtimes.native.launch import ADDED_ENVIRONMENT, MOVED
from labctl.runtimes.native.memory import run_out_of_memory
from labctl.runtimes.native.supervisor import ProcessSupervisor
from labctl.services.service import Context, Service
from labctl.state.lab_state import LabState, write_private

__all__ = ["NativeFaults", "moved_file"]

_Start = Callable[[Service, Context], None]
"""Function that starts a service with a context."""


def moved_file(state: LabState, name: str) -> Path:
    """Return the file that gives a service another command line for a while; see `moved`."""
    return state.conf(name) / MOVED


class NativeFaults:
    """The faults of services that are processes under one supervisor."""

    owns_supervisor: ClassVar[bool] = True
    cuts_off: ClassVar[bool] = False

    def __init__(self, state: LabState, supervisor: ProcessSupervisor, start: _Start) -> None:
        self._state = state
        self._supervisor = supervisor
        self._start = start

    def kill(self, name: str) -> None:
        for process in self._running_family(name):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def kill_all(self, *, but: Collection[str] = ()) -> None:
        self._supervisor.kill_all(but=but)

    def kill_supervisor(self) -> None:
        self._supervisor.kill()

    def out_of_memory(self, name: str) -> None:
        run_out_of_memory(self._running_family(name)[0])

    @contextmanager
    def with_environment(self, name: str, env: Mapping[str, str]) -> Iterator[None]:
        added = self._state.conf(name) / ADDED_ENVIRONMENT
        write_private(added, json.dumps(dict(env)))
        try:
            self._restart(name)
            yield
        finally:
            added.unlink()
            self._restart(name)

    @contextmanager
    def moved(self, service: Service, own: Context, other: Context) -> Iterator[None]:
        process = service.native_form.process(other)
        file = moved_file(self._state, service.name)
        self._supervisor.stop_process(service.name)
        try:
            told = {"argv": process.argv, "env": dict(process.env)}
            write_private(file, json.dumps(told))
            self._start(service, other)
            yield
        finally:
            self._supervisor.stop_process(service.name)
            file.unlink(missing_ok=True)
            self._start(service, own)

    def _restart(self, name: str) -> None:
        self._supervisor.stop_process(name)
        self._supervisor.start_process(name)

    def paused_supervisor(self) -> AbstractContextManager[None]:
        return self._supervisor.paused()

    @contextmanager
    def paused(self, name: str) -> Iterator[None]:
        family = self._running_family(name)
        for process in family:
            process.suspend()
        try:
            yield
        finally:
            for process in reversed(family):
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    @contextmanager
    def cut_off(self, name: str) -> Iterator[None]:
        raise LabError(
            f"{name} cannot be cut off: all native services are on one loopback interface",
            hint="a lab of a Compose profile can do it",
            exit_code=ExitCode.USAGE,
        )
        yield

    def _running_family(self, name: str) -> list[psutil.Process]:
        """Return a service's process and descendants. Raise LabError if it does not run."""
        pid = self._supervisor.state(name).pid
        if pid is None:
            raise LabError(f"{name} does not run", hint="labctl up", exit_code=ExitCode.NOT_READY)
        return family_of(pid)
