"""Notes every death of a service, and why: an event listener that supervisord runs.

Appends one JSON line a death to a file: service, time, cause where it is known, whether it was
given up. What was given up while its disk was full is started again once there is room.
Runs as a script of its own so that it costs no imports: what it shares with others is on its
command line. https://supervisord.org/events.html
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
"""How long after the kernel has killed something a death may be put down to that."""
LAST_WORDS_BYTES = 65536


class Causes(NamedTuple):
    """What a death may be put down to (labctl/runtimes/model.py)."""

    full_below: int
    """Bytes free below which a disk is full."""
    out_of_memory: str
    last_words: Mapping[str, str]
    """What a process says before it ends, and why it then ends."""


def kernel_kills() -> int:
    """How many processes this machine's kernel has killed for lack of memory, so far."""
    lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def killed_by_kernel() -> set[int] | None:
    """Which processes, by the kernel's log; None where this user may not read that."""
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
                continue  # overwritten meanwhile; the next read goes on behind it
            found |= {int(pid) for pid in re.findall(rb"[Kk]illed process (\d+)", record)}
    except BlockingIOError:
        return found
    finally:
        os.close(log)


@dataclass(frozen=True)
class _Place:
    """A place in a log file."""

    inode: int = 0
    offset: int = 0


class Listener:
    """What the events of one lab mean."""

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
        """Services given up while their disk was full."""

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
        """What to say of a death just after the kernel has killed something."""
        killed = self._killed()
        if killed and pid:
            return self._causes.out_of_memory if int(pid) in killed else ""
        return f"perhaps {self._causes.out_of_memory}"

    def _last_words(self, service: str) -> str:
        """Why a process ended, by what it has said since the last look; empty: it did not say."""
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
        """Start what was given up for lack of space, where there is some now."""
        for service in [name for name in self.waiting if not self._is_full(name)]:
            try:
                self._start(service)
            except Exception as error:  # tried again at the next tick
                print(f"{service} cannot be started: {error}", file=sys.stderr)
                continue
            self.waiting.discard(service)

    def _write(self) -> None:
        """What cannot be written now, on a full disk, is tried again at the next event."""
        if not self._unwritten:
            return
        with suppress(OSError):
            with self._deaths.open("a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in self._unwritten))
            self._unwritten.clear()


def start_given_up(service: str) -> None:
    """Have supervisord start a service that it has given up, and none that was stopped."""
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
        # `expected` would be an exit asked for; supervisord sends no EXITED for its own stops.
        values = dict(pair.split(":", 1) for pair in payload.split())
        listener.handle(header["eventname"], values)
        sys.stdout.write("RESULT 2\nOK")
        sys.stdout.flush()


if __name__ == "__main__":
    deaths, full_below, out_of_memory, *words = sys.argv[1:]
    causes = Causes(int(full_below), out_of_memory, dict(zip(words[::2], words[1::2], strict=True)))
    listen(Listener(Path(deaths), causes, start=start_given_up))
