"""What an import would do, and doing it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.home.changes import change_files
from labctl.kafkaconnect.redaction import HIDDEN, is_secret

__all__ = ["UNFILLED", "Change", "Import", "ImportedFile", "is_unfilled"]

UNFILLED = "write the value itself instead of <…>"
_PLACEHOLDER = re.compile(r"<[^<>]+>")


def is_unfilled(value: str) -> bool:
    """Whether a value still has a placeholder, `<your-bucket>`."""
    return _PLACEHOLDER.search(value) is not None


class Change(StrEnum):
    """What writing a file means for the project."""

    NEW = "new"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    """A file of that name is there, with other content."""


@dataclass(frozen=True)
class ImportedFile:
    """A file as it was found, and as the project gets it."""

    origin: Path
    target: Path
    before: str
    after: str
    edits: tuple[str, ...] = ()
    """What was changed and why, one sentence each."""

    @property
    def change(self) -> Change:
        try:
            there = self.target.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return Change.REPLACED if self.target.exists() else Change.NEW
        return Change.UNCHANGED if there == self.after else Change.REPLACED

    @property
    def diff(self) -> str:
        """From the file found to the one written, without the values of passwords; empty where it
        is taken as it is."""
        before, after = (
            [_without_secret(line) for line in text.splitlines()]
            for text in (self.before, self.after)
        )
        lines = difflib.unified_diff(before, after, str(self.origin), str(self.target), lineterm="")
        return "".join(f"{line}\n" for line in lines)


@dataclass
class Import:
    """The files of a folder, what is to be decided before they can be written, and what after."""

    files: list[ImportedFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What keeps them from being written, each with what to do."""
    notes: list[str] = field(default_factory=list)
    """What a person should look at; it keeps nothing from being written."""
    lab_toml: str = ""
    """What to add to lab.toml."""

    def write(self, project: Path, *, force: bool = False) -> None:
        """Write every file that is not there already into `project`: all of them, or none.

        lab.toml is among them where there is none. Raises LabError (USAGE), nothing written, while
        there are problems, or where a file of another content is there without `force`.
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
            written[toml] = self.lab_toml.encode()
        change_files(project, written)


_JSON_PAIR = re.compile(r'(\s*"([^"]+)"\s*:\s*)"(.*)"(,?\s*)$')
_USER = re.compile(r"//[^/@\s]*@")


def _without_secret(line: str) -> str:
    """A line of a connector or properties file as it may be shown."""
    line = _USER.sub(f"//{HIDDEN}@", line)
    if (pair := _JSON_PAIR.match(line)) and is_secret(pair[2]) and "${" not in pair[3]:
        return f'{pair[1]}"{HIDDEN}"{pair[4]}'
    key, separator, value = line.partition("=")
    if separator and is_secret(key) and value.strip() and not line.lstrip().startswith(("#", '"')):
        return f"{key}={HIDDEN}"
    return line
