"""`labctl init`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result
from labctl.errors import ExitCode, LabError
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.existing import existing_source
from labctl.scaffolding.new_source import named_source
from labctl.scaffolding.project import (
    NewProject,
    Written,
    lab_name,
    new_project,
    require_no_project,
    write_project,
)
from labctl.sources import ENGINES

__all__ = ["init_command"]


@command(root, "init", example="labctl init shop --source orders=postgres")
def init_command(
    invocation: Invocation,
    folder: Annotated[Path, typer.Argument(help="The project's folder; made if need be.")] = Path(),
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ENGINE",
            help=f"A source with an example table; ENGINE is one of {', '.join(ENGINES)}. "
            "Repeat it for more.",
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="A data set that labctl comes with, and the sources it fills."),
    ] = None,
    from_database: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]DSN",
            envvar="LABCTL_FROM_DATABASE",
            help="Make a source after a database that is there, which is only read: "
            "postgresql://, mysql:// or mssql://USER:PASSWORD@HOST:PORT/DATABASE. "
            "Repeat it for more.",
        ),
    ] = None,
    copy_rows: Annotated[
        int, typer.Option(min=0, help="Of --from-database: rows of each table that come along.")
    ] = 0,
    name: Annotated[
        str | None, typer.Option(help="Name of the lab [default: the folder's].")
    ] = None,
) -> None:
    """Make a new project: lab.toml, connectors, tables, SQL, a test. Asks for what is not given.

    A folder that has a lab.toml is refused, and no file is ever overwritten.
    """
    require_no_project(folder)
    if copy_rows and not from_database:
        raise LabError(
            "--copy-rows has no database to copy from",
            hint="name it with --from-database",
            exit_code=ExitCode.USAGE,
        )
    chosen = lab_name(name or folder.resolve().name)
    if not (source or dataset or from_database):
        source = [_ask(chosen)]
    sources = [existing_source(one, copy_rows=copy_rows) for one in from_database or ()]
    sources += [example_source(*named_source(text)) for text in source or ()]
    project = new_project(chosen, sources, dataset or ())
    written = write_project(folder, project)
    commands = _next(folder, project)
    data = {
        "folder": folder.resolve(),
        "name": project.name,
        "written": list(written.written),
        "kept": list(written.kept),
        "notes": list(project.notes),
        "next": commands,
    }
    print_result(invocation.format, data, lambda: _render(folder, project, written, commands))


def _ask(name: str) -> str:
    """Name and engine of the first source, from a terminal. Raises LabError where there is none."""
    if not _at_terminal():
        raise LabError(
            "The project has no source yet, and there is no terminal to ask at",
            hint=f"say --source orders=ENGINE with one of {', '.join(ENGINES)}, --dataset NAME, "
            "or --from-database DSN",
            exit_code=ExitCode.USAGE,
        )
    typer.echo(f"A project for the lab {name!r}.", err=True)
    engine = typer.prompt(f"Database ({', '.join(ENGINES)})", default="postgres", err=True)
    source = typer.prompt("What to call it", default="orders", err=True)
    return f"{source}={engine}"


def _at_terminal() -> bool:
    return sys.stdin.isatty()


def _next(folder: Path, project: NewProject) -> list[str]:
    """Return the commands to type now: three, unless a data set has to be loaded."""
    first = [f"cd {shlex.quote(str(folder))}"] if folder.resolve() != Path.cwd() else []
    start = ["labctl up", *(["labctl seed"] if project.data_sets else []), "pytest"]
    shown = "labctl status"
    if project.table is not None:
        shown = shlex.join(["labctl", "query", f"SELECT * FROM {project.table}"])  # noqa: S608
    return [*first, *start] if first else [*start, shown]


def _render(folder: Path, project: NewProject, written: Written, commands: list[str]) -> str:
    lines = [f"{folder / name}" for name in written.written]
    lines += [f"{folder / name} was there, and is left as it is" for name in written.kept]
    lines += ["", *project.notes] if project.notes else []
    return "\n".join([*lines, "", "Next:", *(f"  {line}" for line in commands)])
