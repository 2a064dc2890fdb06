"""Measuring CPU and memory of the lab's services on this machine during a run."""

from __future__ import annotations

import threading
from collections import defaultdict

import psutil

from labctl.lab.lab import Lab
from labctl.latency.latency_report import ServiceUsage

__all__ = ["ServiceSampler"]

_SAMPLE_SECONDS = 2.0
"""Seconds between two samples. Sampling every process costs some milliseconds. Usage between the
last sample and a process's end is not counted."""


class ServiceSampler:
    """A thread that samples the services until it is stopped."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._cpu: dict[str, float] = defaultdict(float)
        self._peak: dict[str, int] = defaultdict(int)
        self._known: dict[tuple[str, str], float] = {}
        self._own = psutil.Process()
        self._own_begin = _cpu_seconds(self._own)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="usage", daemon=True)

    def start(self) -> None:
        """Start the thread; count usage from now on."""
        self._sample(count=False)
        self._own_begin = _cpu_seconds(self._own)
        self._thread.start()

    def stop(self) -> None:
        """Stop sampling; safe to repeat."""
        self._stop.set()
        self._thread.join()

    def usage(self) -> tuple[list[ServiceUsage], float]:
        """Return each service's usage so far, and the CPU seconds of this process itself."""
        self._sample(count=True)
        usage = [
            ServiceUsage(
                service=name,
                cpu_seconds=round(self._cpu[name], 2),
                peak_memory_bytes=self._peak[name],
            )
            for name in self._peak
        ]
        return usage, round(_cpu_seconds(self._own) - self._own_begin, 2)

    def _run(self) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            self._sample(count=True)

    def _sample(self, *, count: bool) -> None:
        usages = self._lab.runtime.inspector.usages()
        for name in (service.name for service in self._lab.services):
            if (usage := usages.get(name)) is None:
                continue
            self._peak[name] = max(self._peak[name], usage.memory_bytes)
            for counter, seconds in usage.cpu_seconds.items():
                if count:
                    self._cpu[name] += seconds - self._known.get((name, counter), 0.0)
                self._known[name, counter] = seconds


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
