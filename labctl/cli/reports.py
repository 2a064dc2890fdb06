"""Parts shared by measuring commands: the seed of a run, and writing its report."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from labctl.cli.output import stderr
from labctl.errors import ExitCode, LabError

__all__ = ["chosen_seed", "write_file", "write_report"]

_SEEDS = 2**32


class Report(Protocol):
    """The report of a run."""

    def to_json(self) -> str:
        """Return the report as JSON."""


def chosen_seed(given: int | None) -> int:
    """Return the given seed, or a random one that is printed on standard error."""
    chosen = random.randrange(_SEEDS) if given is None else given  # noqa: S311 - not a secret
    stderr.print(f"seed {chosen}", highlight=False)
    return chosen


def write_report(
    report: Report, render_html: Callable[[], str], *, write: Path | None, html: Path | None
) -> None:
    """Write a run's report as JSON to `write` and as a page to `html`, unless they are None."""
    if write is not None:
        write_file(write, report.to_json())
    if html is not None:
        write_file(html, render_html())


def write_file(path: Path, text: str) -> None:
    """Write a report. Raises LabError (USAGE) when the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(
            f"{path} cannot be written: {error.strerror}", exit_code=ExitCode.USAGE
        ) from None
    stderr.print(f"wrote {path}", highlight=False)
