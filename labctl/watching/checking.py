"""Checking that a project's files can be used, before the running lab is changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from labctl.application import APPLICATION, PACKAGE, require_contract
from labctl.errors import ExitCode, LabError
from labctl.lab.connectors.connector_states import check_files, check_sink_files
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.own_schema import check_schemas
from labctl.shipped import own_or_shipped
from labctl.watching.places import Role, Use
from labctl.watching.planning import Project, TableFacts
from lakecontract.properties import included_files

__all__ = ["check_project", "read_project"]

_LAST_LINES = 6
_UNCHANGED = "nothing was applied; correct the file and save it"


def check_project(lab: Lab, changed: Mapping[Path, Use]) -> Project:
    """Check the `changed` files, and return the content of all of the project's files.

    Raises LabError (USAGE) with file and line for a file that cannot be used.
    """
    for path, use in changed.items():
        if path.is_file() and use.role in (Role.SPARK, Role.WORKER):
            _check_settings(path, use.role)
    if any(use.role is Role.CODE for use in changed.values()):
        _check_code(lab, [path for path, use in changed.items() if use.role is Role.CODE])
    check_schemas(lab)
    check_files(lab)
    check_sink_files(lab)
    return read_project(lab)


def read_project(lab: Lab) -> Project:
    """Return the content of the project's files. Raises LabError (USAGE) for an unusable file."""
    tables = {
        table.name: TableFacts(
            address=f"{table.source}.{table.db_schema}.{table.source_name}",
            topic=table.topic,
            digest=table.properties.digest,
            files=frozenset(
                path.resolve()
                for path in (table.properties.file, *included_files(table.properties.file))
            ),
        )
        for table in lab.tables
    }
    return Project(lab.config, tables, frozenset(sink.file.name for sink in lab.sinks))


def _check_settings(path: Path, role: Role) -> None:
    """Raise LabError (USAGE) for a line that is no setting; skip Log4j's files."""
    if path.suffix not in (".conf", ".properties") or path.name.startswith("log4j2"):
        return
    for number, line in enumerate(
        path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
    ):
        text = line.strip()
        if not text or text[0] in "#!":
            continue
        if role is Role.SPARK and not (text.startswith("spark.") and len(text.split(None, 1)) == 2):
            raise _wrong(f"{path}:{number}: `{text}` is not `spark.KEY VALUE`")
        if role is Role.WORKER and not ("=" in text and text.partition("=")[0].strip()):
            raise _wrong(f"{path}:{number}: `{text}` is not `KEY=VALUE`")


def _check_code(lab: Lab, paths: list[Path]) -> None:
    """Compile the changed files of the application, and import all of it."""
    for path in paths:
        if not path.is_file():
            continue
        try:
            compile(path.read_bytes(), str(path), "exec")
        except SyntaxError as error:
            raise _wrong(f"{path}:{error.lineno}: {error.msg}") from None
        except ValueError as error:  # a null byte
            raise _wrong(f"{path}:1: {error}") from None
    folder = own_or_shipped(lab.project, APPLICATION).parent
    if not (folder / PACKAGE).is_dir():
        return
    # labctl's own package always fits.
    require_contract(lab.project)
    program = f"import sys; sys.path.insert(0, sys.argv[1]); import {PACKAGE}.spark_process"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise _wrong(f"{folder / PACKAGE}: {lines[-1]}", *lines[-_LAST_LINES:-1])


def _wrong(what: str, *details: str) -> LabError:
    return LabError(what, details=details, hint=_UNCHANGED, exit_code=ExitCode.USAGE)
