"""Schemas that a project brings itself: `up` applies them, and again after each change."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labctl.config.lab_config import Source
from labctl.errors import ExitCode, LabError
from labctl.lab.clients.client_environment import client_environment
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, connect
from labctl.sources.scripts import read_script, run_statements
from labctl.sources.sql_statements import Statement

__all__ = [
    "AppliedSchema",
    "apply_schema",
    "check_schemas",
    "is_schema_applied",
    "sources_with_schema",
]

_KEPT = "schemas"
"""Key of lab.json: by source, the digest of its schema file, and of its rows once loaded."""
_OUTPUT_LINES = 12


@dataclass(frozen=True)
class AppliedSchema:
    """A file or command that was applied to a source."""

    source: str
    kind: Literal["schema_file", "rows_file", "migrate"]
    what: str
    """The file or the command, as lab.toml has it."""


def sources_with_schema(lab: Lab) -> list[str]:
    """Return the sources whose tables the project makes itself, in the order of lab.toml."""
    if lab.promoted is not None:
        return []
    return [name for name, source in lab.config.sources.items() if source.makes_tables]


def check_schemas(lab: Lab) -> None:
    """Check the files that are to be applied, before anything starts.

    Raises LabError (USAGE) for a file that is missing or is not SQL.
    """
    for name in sources_with_schema(lab):
        source = lab.config.sources[name]
        for file in filter(None, (source.schema_file, source.rows_file)):
            path = lab.project / file
            if not path.is_file():
                raise LabError(
                    f"{lab.project / 'lab.toml'}: sources.{name}: there is no {path}",
                    hint="write the file, or take the key out",
                    exit_code=ExitCode.USAGE,
                )
            # A rows file may be large, so it is read only once, when it is run.
            if file == source.schema_file and not _is_applied(lab, name, file):
                _ = read_script(path, source.engine)


def is_schema_applied(lab: Lab, name: str) -> bool:
    """Return whether a source's schema file, if it has one, is the one that was applied last."""
    file = lab.config.sources[name].schema_file
    return file is None or ((lab.project / file).is_file() and _is_applied(lab, name, file))


def apply_schema(lab: Lab, name: str) -> list[AppliedSchema]:
    """Update a source's tables to what the project defines; return what was done, if anything.

    A schema file is applied if its content differs from what was applied last, a rows file once in
    a lab's life. A migration tool knows its pending steps itself, so it always runs. Raises
    LabError with file and line of the statement that fails, or with the tool's output.
    """
    source = lab.config.sources[name]
    done: list[AppliedSchema] = []
    if source.schema_file is not None and _run_file(lab, name, source.schema_file, once=False):
        done.append(AppliedSchema(name, "schema_file", source.schema_file))
    if source.migrate is not None:
        _migrate(lab, name, source, source.migrate)
        done.append(AppliedSchema(name, "migrate", source.migrate))
    if source.rows_file is not None and _run_file(lab, name, source.rows_file, once=True):
        done.append(AppliedSchema(name, "rows_file", source.rows_file))
    return done


def _run_file(lab: Lab, name: str, file: str, *, once: bool) -> bool:
    path = lab.project / file
    kept, digest = _kept(lab, name), _digest(path)
    if kept.get(file) == digest or (once and file in kept):
        return False
    statements: list[Statement] = read_script(path, lab.config.sources[name].engine)
    with connect(lab.endpoints, name) as database:
        run_statements(database, path, statements)
    everything = lab.state.load().get(_KEPT, {})
    lab.state.save(**{_KEPT: {**everything, name: {**kept, file: digest}}})
    return True


def _is_applied(lab: Lab, name: str, file: str) -> bool:
    return _kept(lab, name).get(file) == _digest(lab.project / file)


def _kept(lab: Lab, name: str) -> dict[str, str]:
    found: dict[str, Any] = lab.state.load().get(_KEPT, {}) if lab.state.exists else {}
    return dict(found.get(name, {}))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _migrate(lab: Lab, name: str, source: Source, command: str) -> None:
    """Run the project's own tool in its folder, pointed at the source."""
    found = client_environment(lab)
    database = lab.endpoints.sources[name].database
    named = ENGINES[source.engine].database_variable
    if named is not None:
        found[named] = database
    # Programs installed beside labctl are found even if its environment is not active.
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=lab.project,
        env={**os.environ, **found, "PATH": beside, "LABCTL_SOURCE": name},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode != 0:
        raise LabError(
            f"{lab.project / 'lab.toml'}: sources.{name}.migrate: `{command}` exited with "
            f"{ended.returncode}",
            details=tuple(ended.stdout.splitlines()[-_OUTPUT_LINES:]),
            hint="correct it, then `labctl up`; connectors were not applied",
        )
