"""Output of commands: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from labctl.cli.format import Format
from labctl.errors import LabError
from labctl.json_text import to_json

__all__ = ["print_error", "print_result", "stderr", "stdout", "to_json"]

_UNBOUND = 200
"""Characters of a line where no terminal sets its width."""

# Without emoji: `:key:` in a value is no picture of a key, and the table of them is slow to load.
stdout = Console(
    soft_wrap=True,
    emoji=False,
    width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _UNBOUND,
)
stderr = Console(stderr=True, soft_wrap=True, emoji=False)


def print_result(
    format_: Format,
    data: Any,
    render: Callable[[], RenderableType | None],
    *,
    csv: Callable[[], str] | None = None,
) -> None:
    """Print `data` as JSON, what `render` makes of it as text, or its rows as `csv`."""
    if format_ is Format.JSON:
        sys.stdout.write(to_json(data) + "\n")
        return
    if format_ is Format.CSV and csv is not None:
        sys.stdout.write(csv())
        return
    renderable = render()
    if renderable is not None:
        stdout.print(renderable)


def print_error(error: LabError, format_: Format, *, hint: str) -> None:
    """Print one error: what happened, details, what to do (`hint`, unless it is empty)."""
    if format_ is Format.JSON:
        payload = {
            "error": {
                "message": error.what,
                "hint": hint or None,
                "details": list(error.details),
                "exit_code": int(error.exit_code),
            }
        }
        sys.stderr.write(to_json(payload) + "\n")
        return
    stderr.print(Text.assemble(("error: ", "bold red"), error.what))
    for line in error.details:
        stderr.print(Text(f"  {line}", style="dim"))
    if hint:
        stderr.print(Text.assemble(("next:  ", "bold"), hint))
