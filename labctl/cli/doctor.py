"""`labctl doctor`."""

from __future__ import annotations

from collections.abc import Callable

import typer
from rich.console import Group
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result
from labctl.errors import ExitCode
from labctl.lab.doctor import diagnose
from labctl.runtimes.model import Check, Level

__all__ = ["doctor_command"]

STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


@command(root, "doctor", example="labctl doctor")
def doctor_command(invocation: Invocation) -> None:
    """Look for what would keep the lab from running. Exits with 5 if it finds something."""
    checks = diagnose(invocation.lab())
    print_result(
        invocation.format,
        {"checks": checks},
        lambda: Group(*(_line(check, invocation.addressed) for check in checks)),
    )
    if any(check.level is Level.FAIL for check in checks):
        raise typer.Exit(int(ExitCode.ENVIRONMENT))


def _line(check: Check, addressed: Callable[[str], str]) -> Text:
    text = Text.assemble(
        (f"{check.level:<5}", STYLES[check.level]), f"{check.name}: {check.detail}"
    )
    if check.hint:
        text.append(f"\n     {addressed(check.hint)}", style="dim")
    return text
