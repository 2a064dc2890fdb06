"""Start services, each as soon as possible, and wait until they are usable."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

from labctl.artifacts import Progress, SilentProgress
from labctl.config.services import ServiceSettings
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.busy import when_busy
from labctl.lab.lifecycle.probe_errors import why_unusable
from labctl.lab.lifecycle.probing import probe
from labctl.services.service import Service

__all__ = [
    "SilentReporter",
    "UpReporter",
    "bring_up",
    "start_seconds",
    "start_services",
    "wait_until_usable",
]

PROBE_INTERVAL = 0.1
"""Seconds between two probes of a service that is not usable yet."""


class UpReporter(Progress, Protocol):
    """Receiver of the progress of `up`. Several threads call it."""

    def service(self, name: str, state: str, detail: str = "") -> None:
        """Report a service's `state`: waiting, starting, ready, stopped or failed."""


class SilentReporter(SilentProgress):
    """An `UpReporter` that reports nothing, for a service that is restarted during a run."""

    def service(self, name: str, state: str, detail: str = "") -> None: ...


def start_services(
    lab: Lab, wanted: list[Service], idle: list[Service], reporter: UpReporter
) -> dict[str, str]:
    """Start `idle`, each once the services that it needs are usable.

    Waits until all `wanted` services are usable.
    """
    if not wanted:
        return {}
    cancelled = threading.Event()
    futures: dict[str, Future[str]] = {}

    def bring_up_next(service: Service) -> str:
        dependencies = [name for name in service.depends_on if name in futures]
        start = service in idle
        beside = start and service.starts_beside
        if beside:
            _start(lab, service, reporter)
        else:
            reporter.service(service.name, "waiting", ", ".join(dependencies))
        for dependency in dependencies:
            if futures[dependency].exception():
                if beside:
                    lab.runtime.stop(service.name)
                reporter.service(service.name, "stopped", f"it needs {dependency}")
                raise LabError(f"{service.title} was not started: it needs {dependency}")
        if cancelled.is_set():
            raise LabError(f"{service.title} was not started", exit_code=ExitCode.INTERRUPTED)
        return bring_up(lab, service, reporter, cancelled, start=start and not beside)

    # One thread per service: a service that waits never takes the thread of the one it needs.
    with ThreadPoolExecutor(max_workers=len(wanted)) as pool:
        try:
            for service in wanted:
                futures[service.name] = pool.submit(bring_up_next, service)
            wait(futures.values())
        except BaseException:
            cancelled.set()
            wait(futures.values())
            for service in reversed(idle):
                if service.name in futures and futures[service.name].exception():
                    lab.runtime.stop(service.name)
            raise
    failed = [error for future in futures.values() if (error := future.exception())]
    if failed:
        raise _all_of(failed)
    return {name: future.result() for name, future in futures.items()}


def _all_of(failed: Sequence[BaseException]) -> BaseException:
    """Return the first failure, with the others as details. Dependencies come first."""
    first, *others = failed
    if not isinstance(first, LabError):
        return first
    return LabError(
        first.what,
        hint=first.hint,
        details=(*first.details, *(str(getattr(other, "what", other)) for other in others)),
        exit_code=first.exit_code,
    )


def bring_up(
    lab: Lab, service: Service, reporter: UpReporter, cancelled: threading.Event, *, start: bool
) -> str:
    """Make `service` usable; return what its probe said. Without `start` it runs already."""
    context = lab.context(service)
    begun = time.monotonic()
    if start:
        _start(lab, service, reporter)
    try:
        if not start and service.suspension is not None:
            service.suspension.resume(context)
        version = wait_until_usable(lab, service, cancelled)
        service.setup(context)
    except LabError as error:
        stopped = error.exit_code is ExitCode.INTERRUPTED
        reporter.service(service.name, "stopped" if stopped else "failed")
        raise
    reporter.service(service.name, "ready", f"{version} in {time.monotonic() - begun:.1f} s")
    return version


def _start(lab: Lab, service: Service, reporter: UpReporter) -> None:
    reporter.service(service.name, "starting")
    try:
        lab.runtime.start(service, lab.context(service))
    except LabError:
        reporter.service(service.name, "failed")
        raise


def wait_until_usable(lab: Lab, service: Service, cancelled: threading.Event | None = None) -> str:
    """Wait until a started service answers its probe; return what it said of itself.

    Raises LabError (NOT_READY) if it does not answer in time, or was given up.
    """
    cancelled = cancelled or threading.Event()
    context = lab.context(service)
    begun = time.monotonic()
    seconds = 0.0
    while True:
        process = lab.runtime.state(service.name)
        try:
            return probe(lab, service, process)
        except Exception as error:
            reason = why_unusable(error)
        if process.state == "FATAL":
            raise _failure(lab, service, f"died again and again and was given up ({reason})")
        seconds = max(seconds, start_seconds(service, context.settings))
        if time.monotonic() - begun > seconds:
            raise _failure(
                lab,
                service,
                f"was not usable after {seconds:.0f} s ({reason})",
                f"on a slow machine set start_seconds in lab.toml, [services.{service.name}]",
            )
        if cancelled.wait(PROBE_INTERVAL):
            raise LabError(f"{service.title} was still starting", exit_code=ExitCode.INTERRUPTED)


def start_seconds(service: Service, settings: ServiceSettings) -> float:
    """Return the seconds that `service` may take to start: from `lab.toml`, else its own limit.

    Its own limit is for a machine that is not busy; `when_busy` extends it.
    """
    if settings.start_seconds is not None:
        return settings.start_seconds
    return when_busy(service.ready_seconds)


def _failure(lab: Lab, service: Service, what: str, *hints: str) -> LabError:
    log = lab.runtime.logs.file(service.name) or f"labctl logs {service.name}"
    return LabError(
        f"{service.title} {what}",
        hint="; ".join(
            (f"whole log: {log}", *hints, "what is up stays up: `labctl up` goes on from there")
        ),
        details=tuple(lab.runtime.logs.tail(service.name, 12)),
        exit_code=ExitCode.NOT_READY,
    )
