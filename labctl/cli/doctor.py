"""`labctl doctor`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import psutil
import typer
from rich.console import Group
from rich.text import Text

from labctl.cli.app import Invocation, command, root, version_line
from labctl.cli.output import print_result
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.observe.doctor import diagnose
from labctl.overview import status_of
from labctl.runtimes.runtime_protocols import Check, Level

__all__ = ["doctor_command"]

STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


@command(root, "doctor", example="labctl doctor")
def doctor_command(
    invocation: Invocation,
    report: Annotated[
        bool, typer.Option("--report", help="Print all that a report of a fault needs.")
    ] = False,
) -> None:
    """Look for what would keep the lab from running. Exits with 5 if it finds something.

    In the text of --report your home folder is called ~. It has no passwords of the lab, but an
    error message may quote a value: read it before you send it.
    """
    lab = invocation.lab()
    checks = diagnose(lab)
    if report:
        text = report_text(lab, checks)
        print_result(invocation.format, {"report": text}, lambda: Text(text))
    else:
        print_result(
            invocation.format,
            {"checks": checks},
            lambda: Group(*(_line(check, invocation.addressed) for check in checks)),
        )
    if any(check.level is Level.FAIL for check in checks):
        raise typer.Exit(int(ExitCode.ENVIRONMENT))


def report_text(lab: Lab, checks: Sequence[Check]) -> str:
    """Return a report in Markdown: versions, the machine, checks, and what is not ready."""
    profile = lab.config.profiles[lab.profile]
    sources = Counter(source.engine for source in lab.config.sources.values())
    lines = [
        version_line(),
        f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 1024**3:.1f} GiB",
        f"profile {lab.profile} ({profile.runtime})",
        f"sources: {', '.join(f'{count} {engine}' for engine, count in sources.items())}; "
        f"tables: {_number_of_tables(lab)}",
        f"services: {', '.join(service.name for service in lab.services)}",
        "",
        *(f"{check.level:<5}{check.name}: {check.detail}" for check in checks),
    ]
    try:
        status = status_of(lab)
    except LabError as error:  # it was never started, or a file of it cannot be used
        lines += ["", f"no status: {error}"]
    else:
        for title, sentences in (("not ready", "problems"), ("not what the files say", "differs")):
            if status[sentences]:
                lines += ["", f"{title}:", *(f"  {sentence}" for sentence in status[sentences])]
    text = _without_home("\n".join(lines))
    return f"```\n{text}\n```"


def _number_of_tables(lab: Lab) -> str:
    try:
        return str(len(lab.tables))
    except LabError as error:
        return f"unknown, {error}"


def _without_home(text: str) -> str:
    """Return a text in which the user's home folder is called ~."""
    home = Path.home()
    return text if len(home.parts) < 2 else text.replace(str(home), "~")


def _line(check: Check, addressed: Callable[[str], str]) -> Text:
    text = Text.assemble(
        (f"{check.level:<5}", STYLES[check.level]), f"{check.name}: {check.detail}"
    )
    if check.hint:
        text.append(f"\n     {addressed(check.hint)}", style="dim")
    return text
