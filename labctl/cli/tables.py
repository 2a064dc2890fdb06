"""`labctl tables`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, group
from labctl.cli.importing import FolderArgument, ForceOption, WriteOption, finish
from labctl.importing import import_tables, open_project

__all__ = ["app"]

app = group("tables")


class _TableType(StrEnum):
    COPY_ON_WRITE = "COPY_ON_WRITE"
    MERGE_ON_READ = "MERGE_ON_READ"


@command(app, "import", example="labctl tables import ~/hudi_deltastreamer --write")
def import_command(
    invocation: Invocation,
    folder: FolderArgument,
    table_type: Annotated[
        _TableType | None,
        typer.Option(
            help="Type of the tables whose files do not say it: DeltaStreamer's command line did.",
            case_sensitive=False,
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
    found = import_tables(folder, project, None if table_type is None else table_type.value)
    finish(invocation, found, project, write=write, force=force)
