"""Event listener of supervisord that records every death of a service and its cause.

It appends one JSON line per death to a file: service, time, cause if known, and whether the service
was given up. It restarts services that were given up while their disk was full once there is space.
It runs as a separate script that imports nothing of labctl, to start quickly; its command line
passes the shared constants. https://supervisord.org/events.html
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = ["Causes", "Listener", "kernel_kills", "killed_by_kernel", "listen"]

RECENT_SECONDS = 10.0
"""Seconds after a kernel kill during which a death may be attributed to it."""
LAST_WORDS_BYTES = 65536


class Causes(NamedTuple):
    """Possible causes of a death (labctl/runtimes/runtime_protocols.py)."""

    full_below: int
    """Free bytes below which a disk counts as full."""
    out_of_memory: str
    last_words: Mapping[str, str]
    """Causes by the first words of a process's last log line."""


def kernel_kills() -> int:
    """Return how many processes the kernel has killed so far for lack of memory."""
    lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def killed_by_kernel() -> set[int] | None:
    """Return the killed processes' ids from the kernel's log; None if it is not readable."""
    found: set[int] = set()
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        while True:
            try:
                record = os.read(log, 8192)
            except BrokenPipeError:
                continue  # overwritten in the meantime; the next read continues after it
            found |= {int(pid) for pid in re.findall(rb"[Kk]illed process (\d+)", record)}
    except BlockingIOError:
        return found
    finally:
        os.close(log)


@dataclass(frozen=True)
class _Place:
    """A position in a log file."""

    inode: int = 0
    offset: int = 0


class Listener:
    """The handler of one lab's events."""

    def __init__(
        self,
        deaths: Path,
        causes: Causes,
        *,
        start: Callable[[str], None],
        kills: Callable[[], int] = kernel_kills,
        killed: Callable[[], set[int] | None] = killed_by_kernel,
    ) -> None:
        self._deaths = deaths
        self._causes = causes
        self._start = start
        self._kills = kills
        self._killed = killed
        self._seen_kills = kills()
        self._last_kill = -RECENT_SECONDS
        self._read: dict[str, _Place] = {}
        self._unwritten: list[str] = []
        self.waiting: set[str] = set()
        """Services that were given up while their disk was full."""

    def handle(self, event: str, values: dict[str, str]) -> None:
        self._look_for_kills()
        if event.startswith("TICK"):
            self._go_on()
        else:
            self._died(values["processname"], values.get("pid"), event == "PROCESS_STATE_FATAL")
        self._write()

    def _died(self, service: str, pid: str | None, gave_up: bool) -> None:
        is_full = self._is_full(service)
        if gave_up and is_full:
            self.waiting.add(service)
        cause = "its disk was full" if is_full else ""
        if said := self._last_words(service):
            cause = said
        elif time.monotonic() - self._last_kill < RECENT_SECONDS:
            cause = self._blame(pid) or cause
        death = {"service": service, "at": time.time(), "gave_up": gave_up}
        self._unwritten.append(json.dumps(death | ({"cause": cause} if cause else {})))

    def _look_for_kills(self) -> None:
        if (kills := self._kills()) != self._seen_kills:
            self._seen_kills, self._last_kill = kills, time.monotonic()

    def _blame(self, pid: str | None) -> str:
        """Return the likely cause of a death shortly after a kernel kill."""
        killed = self._killed()
        if killed and pid:
            return self._causes.out_of_memory if int(pid) in killed else ""
        return f"perhaps {self._causes.out_of_memory}"

    def _last_words(self, service: str) -> str:
        """Return why a process ended, from its log since the last call; "" if unknown."""
        try:
            with (self._deaths.parent / "logs" / f"{service}.log").open("rb") as log:
                status = os.fstat(log.fileno())
                since = self._read.get(service, _Place())
                known = since.offset if since.inode == status.st_ino else 0
                log.seek(max(known, status.st_size - LAST_WORDS_BYTES))
                words = log.read()
                self._read[service] = _Place(status.st_ino, log.tell())
        except OSError:
            return ""
        causes = self._causes.last_words.items()
        lines = b"\n" + words
        return next((why for begins, why in causes if f"\n{begins}".encode() in lines), "")

    def _is_full(self, service: str) -> bool:
        try:
            free = shutil.disk_usage(self._deaths.parent / "data" / service).free
        except OSError:
            return False  # it keeps nothing
        return free < self._causes.full_below

    def _go_on(self) -> None:
        """Start services that were given up for lack of space and now have some."""
        for service in [name for name in self.waiting if not self._is_full(name)]:
            try:
                self._start(service)
            except Exception as error:  # tried again at the next tick
                print(f"{service} cannot be started: {error}", file=sys.stderr)
                continue
            self.waiting.discard(service)

    def _write(self) -> None:
        """Write pending deaths; on a full disk, retry at the next event."""
        if not self._unwritten:
            return
        with suppress(OSError):
            with self._deaths.open("a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in self._unwritten))
            self._unwritten.clear()


def start_given_up(service: str) -> None:
    """Have supervisord start a service that it has given up, but not a stopped one."""
    from supervisor import childutils

    supervisor = childutils.getRPCInterface(os.environ).supervisor
    if supervisor.getProcessInfo(service)["statename"] == "FATAL":
        supervisor.startProcess(service, False)


def listen(listener: Listener) -> None:
    """Serve supervisord's event protocol on standard input and output until it ends."""
    while True:
        sys.stdout.write("READY\n")
        sys.stdout.flush()
        header = dict(pair.split(":", 1) for pair in sys.stdin.readline().split())
        if not header:
            return
        payload = sys.stdin.read(int(header["len"]))
        # No check of `expected`: supervisord sends no EXITED for processes that it stops itself.
        values = dict(pair.split(":", 1) for pair in payload.split())
        listener.handle(header["eventname"], values)
        sys.stdout.write("RESULT 2\nOK")
        sys.stdout.flush()


if __name__ == "__main__":
    deaths, full_below, out_of_memory, *words = sys.argv[1:]
    causes = Causes(int(full_below), out_of_memory, dict(zip(words[::2], words[1::2], strict=True)))
    listen(Listener(Path(deaths), causes, start=start_given_up))
