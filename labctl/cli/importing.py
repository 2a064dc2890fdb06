"""Showing what an import would do, or did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from labctl.cli.app import Invocation
from labctl.cli.output import print_result
from labctl.counted import counted
from labctl.errors import ExitCode
from labctl.importing import Change, Import
from labctl.importing.project import Project

__all__ = ["FolderArgument", "ForceOption", "WriteOption", "finish"]

FolderArgument = Annotated[Path, typer.Argument(help="The folder that holds your files.")]
WriteOption = Annotated[
    bool,
    typer.Option(
        "--write/--dry-run", help="Write the files, or only show what would be [default: show]."
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace files of the project that have other content.")
]


def finish(
    invocation: Invocation, found: Import, project: Project, *, write: bool, force: bool
) -> None:
    """Print what was found, and write it if that was asked for and nothing is left to decide.

    lab.toml is written where there is none. Exits 2 while something has to be decided.
    """
    changes = {file.target: file.change for file in found.files}
    toml = project.folder / "lab.toml"
    new_project = bool(found.lab_toml) and not toml.exists()
    if write and not found.problems:
        found.write(project.folder, force=force)
    data = {
        "files": [
            {
                "from": file.origin,
                "to": file.target,
                "change": changes[file.target],
                "edits": list(file.edits),
                "diff": file.diff,
            }
            for file in found.files
        ],
        "problems": found.problems,
        "notes": found.notes,
        "lab_toml": found.new_lab_toml(project.folder) if new_project else found.lab_toml,
        "written": write and not found.problems,
    }
    print_result(invocation.format, data, lambda: _render(found, changes, toml, write, new_project))
    if found.problems:
        raise typer.Exit(int(ExitCode.USAGE))


def _render(
    found: Import, changes: dict[Path, Change], toml: Path, write: bool, new_project: bool
) -> RenderableType:
    parts: list[Any] = []
    for file in found.files:
        parts.append(Text(f"{file.origin} → {file.target}: {changes[file.target]}", "bold"))
        if changes[file.target] is Change.UNCHANGED:
            continue
        # Lines of this file, and of those beside it.
        parts += [Text(f"  {edit.replace(f'{file.origin.parent}/', '')}") for edit in file.edits]
        if file.diff:
            parts.append(Syntax(file.diff, "diff", background_color="default"))
    if found.notes:
        parts += [Text("To look at:", "bold"), *(Text(f"  {note}") for note in found.notes)]
    if found.lab_toml:
        where = f"{toml}, written" if new_project and write else f"To be added to {toml}"
        if new_project and not write:
            where = f"{toml} would be"
        text = found.new_lab_toml(toml.parent) if new_project else found.lab_toml
        parts += [Text(f"{where}:", "bold"), Text(text)]
    if found.problems:
        parts.append(Text("To be decided first; nothing is written until then:", "bold red"))
        parts += [Text(f"  {problem}") for problem in found.problems]
    elif write:
        count = sum(change is not Change.UNCHANGED for change in changes.values())
        parts.append(Text(f"{counted(count, 'file')} written"))
    else:
        parts.append(Text("Nothing was written: --write does it"))
    return Group(*parts)
