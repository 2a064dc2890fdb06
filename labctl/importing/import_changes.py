"""The changes of an import, and writing them."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.redaction import HIDDEN, is_secret
from labctl.scaffolding.project import lab_name
from labctl.state.file_changes import change_files

__all__ = ["UNFILLED", "Change", "Import", "ImportedFile", "is_unfilled"]

UNFILLED = "write the value itself instead of <…>"
_PLACEHOLDER = re.compile(r"<[^<>]+>")


def is_unfilled(value: str) -> bool:
    """Return whether a value still has a placeholder, such as `<your-bucket>`."""
    return _PLACEHOLDER.search(value) is not None


class Change(StrEnum):
    """The effect of an imported file on the project."""

    NEW = "new"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    """The project has a file of that name with other content."""


@dataclass(frozen=True)
class ImportedFile:
    """A file before and after its edits."""

    origin: Path
    target: Path
    before: str
    after: str
    edits: tuple[str, ...] = ()
    """Edits with their reasons, one sentence each."""

    @property
    def change(self) -> Change:
        try:
            there = self.target.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return Change.REPLACED if self.target.exists() else Change.NEW
        return Change.UNCHANGED if there == self.after else Change.REPLACED

    @property
    def diff(self) -> str:
        """Diff from the original file to the imported one, without passwords; empty if they are
        equal."""
        before, after = (
            [_without_secret(line) for line in text.splitlines()]
            for text in (self.before, self.after)
        )
        lines = difflib.unified_diff(before, after, str(self.origin), str(self.target), lineterm="")
        return "".join(f"{line}\n" for line in lines)


@dataclass
class Import:
    """The files of a folder, with problems to solve before writing them and notes for later."""

    files: list[ImportedFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Problems that prevent writing, each with its solution."""
    notes: list[str] = field(default_factory=list)
    """Points that a person should check; they do not prevent writing."""
    lab_toml: str = ""
    """Text to add to lab.toml."""

    def write(self, project: Path, *, force: bool = False) -> None:
        """Write every new or changed file into `project`: all of them, or none.

        A missing lab.toml is written, too. Raises LabError (USAGE) and writes nothing if there are
        problems, or if a file with other content exists and `force` is false.
        """
        if self.problems:
            raise LabError(
                f"Nothing was written: {self.problems[0]}",
                details=tuple(self.problems[1:]),
                hint="correct the files in their folder, and import them again",
                exit_code=ExitCode.USAGE,
            )
        replaced = [file.target for file in self.files if file.change is Change.REPLACED]
        if replaced and not force:
            raise LabError(
                f"Nothing was written: {replaced[0]} is there, with other content",
                details=tuple(f"and {path}" for path in replaced[1:]),
                hint="--force replaces it; move it away to keep it",
                exit_code=ExitCode.USAGE,
            )
        written = {
            file.target: file.after.encode()
            for file in self.files
            if file.change is not Change.UNCHANGED
        }
        if self.lab_toml and not (toml := project / "lab.toml").exists():
            written[toml] = self.new_lab_toml(project).encode()
        change_files(project, written)

    def new_lab_toml(self, project: Path) -> str:
        """Return the text of a new lab.toml: its lab has the folder's name, if a lab can have it.

        Two labs of one name would be the same lab.
        """
        try:
            name = f'name = "{lab_name(project.resolve().name)}"\n\n'
        except LabError:
            name = ""
        return f"{name}{self.lab_toml}"


_JSON_PAIR = re.compile(r'(\s*"([^"]+)"\s*:\s*)"(.*)"(,?\s*)$')
_USER = re.compile(r"//[^/@\s]*@")


def _without_secret(line: str) -> str:
    """Return a line of a connector or properties file with its secrets hidden."""
    line = _USER.sub(f"//{HIDDEN}@", line)
    if (pair := _JSON_PAIR.match(line)) and is_secret(pair[2]) and "${" not in pair[3]:
        return f'{pair[1]}"{HIDDEN}"{pair[4]}'
    key, separator, value = line.partition("=")
    if separator and is_secret(key) and value.strip() and not line.lstrip().startswith(("#", '"')):
        return f"{key}={HIDDEN}"
    return line
