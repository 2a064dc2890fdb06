"""Running docker and similar commands, with errors that say what to do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from labctl.errors import ExitCode, LabError

__all__ = ["image_id", "image_label", "remove_image", "require_engine", "run"]

TAIL = 12
"""Number of lines of a failed command's output that its error shows."""


def require_engine() -> None:
    """Raise LabError (ENVIRONMENT) unless a Docker engine answers."""
    if shutil.which("docker") is None:
        raise LabError(
            "Images need Docker, and there is no `docker` on this machine",
            hint="install Docker, or run .ci/engine on Debian",
            exit_code=ExitCode.ENVIRONMENT,
        )
    done = subprocess.run(
        ["docker", "version", "--format", "{{.Server.Version}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise LabError(
            "The Docker engine does not answer",
            hint="start it, and see that this user may use it (`docker info`)",
            details=tuple(done.stderr.strip().splitlines()[-3:]),
            exit_code=ExitCode.ENVIRONMENT,
        )


def image_label(reference: str, label: str) -> str | None:
    """Return the value of a local image's label; None if there is no such image."""
    return _inspect(reference, f'{{{{index .Config.Labels "{label}"}}}}')


def image_id(reference: str) -> str | None:
    """Return the id of a local image; None if there is no such image."""
    return _inspect(reference, "{{.Id}}")


def _inspect(reference: str, template: str) -> str | None:
    done = subprocess.run(
        ["docker", "image", "inspect", "--format", template, reference],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def remove_image(identifier: str) -> None:
    """Remove an image without a name, unless something still uses it."""
    subprocess.run(["docker", "image", "rm", identifier], capture_output=True, check=False)


def run(
    argv: Sequence[str],
    *,
    what: str,
    hint: str,
    cwd: Path | None = None,
    line: Callable[[str], None] = lambda _line: None,
) -> None:
    """Run a command to its end, passing each line that it prints to `line`.

    Raises LabError with `what`, `hint` and the last lines if the command fails. On an interrupt,
    it ends the command and its children.
    """
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    tail: deque[str] = deque(maxlen=TAIL)
    try:
        for text in process.stdout:
            tail.append(text.rstrip())
            line(text)
        process.wait()
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        process.stdout.close()
    if process.returncode != 0:
        raise LabError(what, hint=hint, details=tuple(tail))
