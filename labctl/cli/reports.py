"""Parts shared by measuring commands: the seed of a run, its report and its page."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Protocol

import typer

from labctl.cli.app import Invocation
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode, LabError

__all__ = [
    "HtmlOption",
    "PageOption",
    "ReportArgument",
    "WriteOption",
    "chosen_seed",
    "make_page",
    "write_file",
    "write_report",
]

WriteOption = Annotated[Path | None, typer.Option(help="Write the report (JSON) to it.")]
HtmlOption = Annotated[Path | None, typer.Option(help="Write the report as a page, too.")]
ReportArgument = Annotated[Path, typer.Argument(help="A run's report (JSON).")]
PageOption = Annotated[
    Path | None, typer.Option(help="The page [default: beside the report, as .html].")
]

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


def make_page(
    invocation: Invocation, render_html: Callable[[], str], *, report: Path, write: Path | None
) -> None:
    """Write the page of a kept `report` to `write`, or beside the report; print its path."""
    page = write or report.with_suffix(".html")
    write_file(page, render_html())
    print_result(invocation.format, {"page": page}, lambda: str(page))


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
