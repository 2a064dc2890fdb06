"""`labctl table import`."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from labctl.cli.app import Invocation
from labctl.cli.importing import FolderArgument, ForceOption, WriteOption, finish
from labctl.errors import ExitCode, LabError
from labctl.importing import import_tables, open_project
from lakecontract.properties import TableType

__all__ = ["import_command"]


def import_command(
    invocation: Invocation,
    folder: FolderArgument,
    table_type: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[PATTERN=]TYPE",
            help="COPY_ON_WRITE or MERGE_ON_READ, for files that do not say it, as DeltaStreamer's "
            "command line did; repeatable, with a pattern of file names such as '*_cow*'.",
        ),
    ] = None,
    write: WriteOption = False,
    force: ForceOption = False,
) -> None:
    """Bring in properties files that were written for Hudi's DeltaStreamer or HoodieStreamer.

    Shows each file's difference and why, and what to decide first. Nothing is written without
    --write, and nothing with it while something is left to decide.
    """
    project = open_project()
    found = import_tables(folder, project, [_type_of(text) for text in table_type or ()])
    finish(invocation, found, project, write=write, force=force)


def _type_of(text: str) -> tuple[str, TableType]:
    """Return a pattern of file names and a table type. Raises LabError (USAGE)."""
    pattern, _, kind = text.rpartition("=")
    for known in get_args(TableType):
        if kind.upper() == known:
            return pattern or "*", known
    raise LabError(
        f"--table-type {text}: {kind!r} is no table type",
        hint=f"write {' or '.join(get_args(TableType))}, or PATTERN=TYPE",
        exit_code=ExitCode.USAGE,
    )
