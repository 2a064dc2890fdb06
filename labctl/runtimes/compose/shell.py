"""Scripts that a fault runs inside a container."""

from __future__ import annotations

from typing import Any

from labctl.errors import ExitCode, LabError

__all__ = ["run_in_shell"]

_NOT_RUN = (126, 127)
_NOT_THERE = (b"not found", b"no such file")


def run_in_shell(container: Any, script: str) -> None:
    """Run a script as root in a container, which may end by it.

    Raises LabError (USAGE) if the image has no shell or the script lacks a program.
    """
    code, output = container.exec_run(["sh", "-c", script], user="0")
    # Without a message, 126 is a container that ended in the meantime.
    if code in _NOT_RUN and any(words in output for words in _NOT_THERE):
        raise LabError(
            f"{container.name} cannot be given this fault: its image has no shell, or a program is "
            "missing in it",
            details=tuple(output.decode(errors="replace").strip().splitlines()),
            hint="use an image with `sh`; a service that runs natively needs none",
            exit_code=ExitCode.USAGE,
        )
