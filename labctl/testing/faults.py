"""Faults put into a running lab, whichever runtime it is on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from labctl.lab.lab import Lab
from labctl.runtimes.compose.runtime import ComposeRuntime
from labctl.runtimes.native.supervisor import LAB_MARK

__all__ = ["Faults", "processes_of"]

DEATH_SECONDS = 60.0


@dataclass(frozen=True)
class Faults:
    """What may happen to the services of `lab`."""

    lab: Lab

    def kill(self, service: str) -> None:
        """`kill -9` the service's process; its runtime starts it again."""
        if isinstance(runtime := self.lab.runtime, ComposeRuntime):
            runtime.kill(service)
        else:
            self._process(service).kill()

    def power_cut(self) -> None:
        """Everything dies at once, and what would start it again dies too.

        Not the container engine, which is not the lab's: it starts its containers again.
        """
        if isinstance(runtime := self.lab.runtime, ComposeRuntime):
            for service in self.lab.services:
                runtime.kill(service.name)
            return
        killed = processes_of(self.lab)
        for process in killed:
            process.kill()
        psutil.wait_procs(killed, timeout=DEATH_SECONDS)

    @contextmanager
    def paused(self, service: str) -> Iterator[None]:
        """The service stands still: its connections stay open, and nothing answers."""
        if isinstance(runtime := self.lab.runtime, ComposeRuntime):
            with runtime.paused(service):
                yield
            return
        root = self._process(service)
        family = [root, *root.children(recursive=True)]
        for process in family:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in reversed(family):
                process.send_signal(signal.SIGCONT)

    @contextmanager
    def away(self, service: str) -> Iterator[None]:
        """The service is killed, and not started again until the block ends."""
        found, runtime = self.lab.service(service), self.lab.runtime
        self.kill(service)
        runtime.stop(service)
        try:
            yield
        finally:
            runtime.start(found, self.lab.context(found))

    @contextmanager
    def cut_off(self, service: str) -> Iterator[None]:
        """The service runs on and no packet reaches it. In containers only: raises TypeError."""
        runtime = self.lab.runtime
        if not isinstance(runtime, ComposeRuntime):
            raise TypeError("only a container can be taken off its network")
        with runtime.disconnected(service):
            yield

    def _process(self, service: str) -> psutil.Process:
        pid = self.lab.runtime.states()[service].pid
        assert pid is not None, f"{service} does not run"  # noqa: S101 - a test's own fault
        return psutil.Process(pid)


def processes_of(lab: Lab) -> list[psutil.Process]:
    """Every process of the lab, its supervisor first: nobody restarts the others then."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(LAB_MARK) == str(lab.state.folder):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return sorted(found, key=lambda process: process.create_time())
