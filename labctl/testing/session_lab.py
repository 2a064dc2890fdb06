"""The lab of a test session, already running or made for it, and the way back to its start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import labctl.engines
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
from labctl.lab.snapshots import (
    delete_snapshot,
    find_snapshot,
    restore_snapshot,
    save_snapshot,
    snapshots,
)
from labctl.lab.tables.verification import verify_lab
from labctl.runtimes.compose.compose_runtime import ComposeRuntime
from labctl.runtimes.compose.docker_engine import Engine, EngineMissingError
from labctl.runtimes.runtime_protocols import Level
from labctl.services.lab_services import load_config
from labctl.testing.reporter import TerminalReporter
from labctl.testing.workers import worker_name

__all__ = ["SessionLab", "make_lab", "plainly", "running_lab"]

_PROJECT_LENGTH = 17
"""Characters of the project's name in a lab's; `pytest-` and a worker's name need room, too."""


@dataclass
class SessionLab:
    """The lab of a session, and the snapshot that it goes back to."""

    lab: Lab
    is_own: bool
    """True if the lab was made for the session, and is removed at its end."""
    is_shared: bool = False
    """True if pytest-xdist's other workers use the lab, too."""
    start: str | None = None
    """The snapshot of its start; None as long as no test has asked for it."""
    start_stays: bool = False
    """True if that snapshot is kept for the next session."""
    is_touched: bool = False
    """True if a test has used the lab since it was last at its start."""

    @property
    def why_no_way_back(self) -> str | None:
        """Reason why the lab cannot go back to its start; None if it can."""
        if isinstance(self.lab.runtime, ComposeRuntime):
            return "a lab in containers has no snapshots to go back to"
        if self.is_shared:
            return (
                f"going back would take lab {self.lab.name} away from pytest-xdist's other "
                "workers: `--lab=` makes a lab for each"
            )
        return None

    def save_start(self) -> None:
        """Save the lab's present state as its start, unless a start is saved already."""
        if self.start is None:
            self.start = _save(self.lab, f"{self.lab.name}.start")
            self.is_touched = False

    def go_back(self) -> None:
        """Restore the lab to its start, with every service running."""
        self.save_start()
        if self.is_touched and self.start is not None:
            restore_snapshot(self.lab, find_snapshot(self.start))
            up(self.lab, SilentReporter())
        self.is_touched = False

    def end(self, *, keep: bool) -> None:
        """Remove the session's own lab, unless `keep` is set; restore another to its start."""
        if self.is_own and not keep and self.lab.state.exists:
            destroy(self.lab)
        if self.start is not None and not self.start_stays:
            if not self.is_own:
                self.go_back()
            delete_snapshot(self.start)


@contextmanager
def plainly() -> Iterator[None]:
    """Fail the test with the message of a LabError: its traceback says nothing more."""
    try:
        yield
    except LabError as error:
        lines = [error.what, *(f"  {line}" for line in error.details)]
        hint = [f"next: {error.hint}"] if error.hint else []
        pytest.fail("\n".join([*lines, *hint]), pytrace=False)


def running_lab(name: str, project: Path, config: pytest.Config) -> SessionLab:
    """Return the lab with that name. If it is not running, raise LabError with the next step."""
    lab = Lab.find(name=name, project=project)
    try:
        lab.require_running()
    except LabError as error:
        option = "" if name == lab.config.name else f" --lab {name}"
        raise LabError(
            error.what,
            hint=f"`labctl up{option}` starts it; `pytest --lab=` makes a lab for the tests alone",
            exit_code=error.exit_code,
        ) from None
    return SessionLab(lab, is_own=False, is_shared=worker_name(config) is not None)


def _import_clients() -> None:
    """Import the databases' clients, which the threads that start services would import.

    Before 3.11.8, CPython fails to parse modules in several threads at once (gh-106905). pytest
    parses each module of this package, to rewrite its assertions.
    """
    for module in walk_packages(labctl.engines.__path__, "labctl.engines."):
        if module.name.endswith("_client"):
            import_module(module.name)


def make_lab(project: Path, config: pytest.Config) -> SessionLab:
    """Make and start a lab from the snapshot of `--lab-snapshot`; save that if it does not exist.

    Raise LabError when the lab does not start; nothing is left of it then, unless `--lab-keep` is
    given.
    """
    profile, reporter = _profile(config, project), TerminalReporter(config)
    name, wanted = _session_name(project, config), config.getoption("--lab-snapshot")
    is_there = wanted in [snapshot.name for snapshot in snapshots()]
    left = Lab.find(name=name, project=project)
    if left.state.exists:
        destroy(left)
    try:
        if is_there:
            reporter.say(f"lab {name}: restoring snapshot {wanted}")
            empty = Lab.find(name=name, profile=profile, project=project)
            restore_snapshot(empty, find_snapshot(wanted))
        # Find the lab again: its passwords are those of the snapshot.
        lab = Lab.find(name=name, profile=profile, project=project)
        if isinstance(runtime := lab.runtime, ComposeRuntime):
            _start_containers(lab, runtime, reporter)
        _import_clients()
        up(lab, reporter)
        # Only one of several workers saves it.
        if wanted and not is_there and worker_name(config) in (None, "gw0"):
            reporter.say(f"lab {name}: saving snapshot {wanted}")
            is_there = bool(_save(lab, wanted))
    except BaseException:
        if left.state.exists and not config.getoption("--lab-keep"):
            destroy(Lab.find(name=name, project=project, even_damaged=True))
        raise
    return SessionLab(lab, is_own=True, start=wanted if is_there else None, start_stays=is_there)


def _save(lab: Lab, name: str) -> str:
    """Save a snapshot and return its name.

    Verification first waits for changes on their way: they need not arrive again after each
    restore.
    """
    with suppress(LabError):
        verify_lab(lab)
    return save_snapshot(lab, name, replace=True).name


def _session_name(project: Path, config: pytest.Config) -> str:
    """Return a name that differs per project and per pytest-xdist worker."""
    own = load_config(project / "lab.toml").name[:_PROJECT_LENGTH]
    return "-".join(filter(None, ("pytest", own, worker_name(config))))


def _profile(config: pytest.Config, project: Path) -> str:
    """Return the profile for `--lab-profile` and `--lab-runtime`. Raise LabError (USAGE)."""
    profiles = load_config(project / "lab.toml").profiles
    runtime = config.getoption("--lab-runtime")
    fitting = [name for name, profile in profiles.items() if profile.runtime == runtime]
    named = config.getoption("--lab-profile") or next(iter(fitting), None)
    if named not in fitting:
        raise LabError(
            f"lab.toml has no profile {f'{named!r} ' if named else ''}with runtime {runtime}",
            hint=f"defined: {', '.join(sorted(profiles))}",
            exit_code=ExitCode.USAGE,
        )
    if runtime == "compose":
        _require_engine()
        if config.getoption("--lab-snapshot"):
            raise LabError(
                "Labs in containers have no snapshots",
                hint="leave --lab-snapshot out, or --lab-runtime compose",
                exit_code=ExitCode.USAGE,
            )
    return named


def _require_engine() -> None:
    """Skip every test that needs containers where no engine runs them."""
    try:
        Engine().info()
    except EngineMissingError as error:
        pytest.skip(f"no Compose lab on this machine: {error}")


def _start_containers(lab: Lab, runtime: ComposeRuntime, reporter: TerminalReporter) -> None:
    """Start the lab's containers, or skip every test where something they need is missing."""
    from labctl.testing.containers import start_stack

    failed = [check for check in runtime.checks() if check.level is Level.FAIL]
    if failed:
        pytest.skip(f"no Compose lab on this machine: {failed[0].detail} ({failed[0].hint})")
    lab.state.create()
    runtime.fetch(lab.services, reporter)
    try:
        start_stack(runtime)
    except BaseException:
        runtime.remove()
        lab.state.remove()
        raise
