"""A project of a test module's own, as `labctl init` writes it, and its lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from labctl.engine_names import EngineName
from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.new_source import NewSource, NewTable
from labctl.scaffolding.project import new_project, write_project
from labctl.sources import TableRef, connect
from labctl.tables import LabTable

__all__ = ["OwnProject", "own_project", "own_source", "unstarted_project"]


@dataclass(frozen=True)
class OwnProject:
    """A project, and its command line."""

    folder: Path

    @cached_property
    def lab(self) -> Lab:
        return Lab.find(project=self.folder)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start `labctl` with these words; its output is one text."""
        return self._started(words, stderr=subprocess.STDOUT)

    def run(self, *words: str, code: ExitCode = ExitCode.OK) -> str:
        """Return what `labctl` prints; fail if it exits with another code."""
        return "".join(self._ended(words, code))

    def _started(self, words: Sequence[str], stderr: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "labctl", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def _ended(self, words: Sequence[str], code: ExitCode) -> tuple[str, str]:
        """Return its output and its messages."""
        process = self._started(words, stderr=subprocess.PIPE)
        output, messages = process.communicate()
        assert process.returncode == code, f"labctl {' '.join(words)}: {output}{messages}"
        return output, messages

    def table(self, engine: str, name: str) -> LabTable:
        """Return a table of the source `of-ENGINE`."""
        of = [table for table in self.lab.tables if table.source == f"of-{engine}"]
        return next(table for table in of if table.source_name == name)

    def execute(self, engine: str, *statements: str) -> None:
        with connect(self.lab.endpoints, f"of-{engine}") as database:
            for statement in statements:
                database.execute(statement)

    def verified(self, *tables: str, code: ExitCode = ExitCode.OK) -> Mapping[str, Any]:
        """Return how each table compares with its source, by its name in silver."""
        output, _ = self._ended(("-o", "json", "verify", *tables), code)
        return {table["silver"]: table["diff"] for table in json.loads(output)["tables"]}


def own_source(
    engine: EngineName, statements: Sequence[str], keys: Mapping[str, Sequence[str]]
) -> NewSource:
    """Return the source `of-ENGINE` with a table for each of `keys`, which has the table's key.

    In its statements, `{schema}` stands for the name of its schema.
    """
    example = example_source(f"of-{engine}", engine)
    (schema,) = example.schemas
    tables = tuple(NewTable(TableRef(schema, name), tuple(key)) for name, key in keys.items())
    end = "\nGO\n" if engine == "sqlserver" else ";\n"
    made = "".join(statement.replace("{schema}", schema) + end for statement in statements)
    return replace(example, tables=tables, schema_sql=made)


@contextmanager
def own_project(*sources: NewSource) -> Iterator[OwnProject]:
    """Yield a project with these sources, whose lab is up; its lab is destroyed at the end."""
    with unstarted_project("own", *sources) as project:
        project.run("up")
        yield project


@contextmanager
def unstarted_project(name: str, *sources: NewSource) -> Iterator[OwnProject]:
    """Yield a project of this name in a home of its own; its lab is destroyed at the end."""
    with TemporaryDirectory(prefix="labctl-") as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", f"{home}/state")
        project = OwnProject(Path(home) / name)
        write_project(project.folder, new_project(name, sources))
        try:
            yield project
        finally:
            project.run("destroy", "--yes")
