"""Atomic changes of several files of a project.

labctl first writes a record with all new contents to disk, then changes the files, and finally
deletes the record. A killed command has therefore either changed nothing, or the next command that
reads the project completes the change. Records are kept in labctl's state folder, not in the
project, so that a project from someone else cannot contain one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, ValidationError

from labctl.errors import ExitCode, LabError
from labctl.state.lab_state import state_home, sync_folder, write_private

__all__ = ["change_files", "changed_files", "finish_changes"]

_RECORDS = ".changes"
"""Folder next to the labs, with one record per project that is being changed."""
_DIGITS = 32

Contents = Mapping[Path, bytes | None]
"""New content by file of the project; None deletes the file."""


class _Record(BaseModel):
    """A change that is in progress."""

    model_config = ConfigDict(strict=True, ser_json_bytes="base64", val_json_bytes="base64")

    project: str
    folder: int
    """Inode of the project's folder: another folder at the same path is another project."""
    files: dict[str, bytes | None]
    """Like `Contents`, keyed by path relative to the project."""


def change_files(project: Path, contents: Contents) -> None:
    """Change all files of `contents`, or none of them.

    Creates the folder `project` if it does not exist. Raises LabError (USAGE), with nothing
    changed, if a file is outside the project or cannot be written.
    """
    if not contents:
        return
    files = {_within(project, path): content for path, content in contents.items()}
    try:
        project.mkdir(parents=True, exist_ok=True)
        with _locked(project):
            _finish(project)
            folder = project.stat().st_ino
            record = _Record(project=str(project.absolute()), folder=folder, files=files)
            write_private(_path(project), record.model_dump_json())
            try:
                staged = _stage(project, record)
            except OSError:
                _path(project).unlink()
                raise
            _commit(project, record, staged)
    except OSError as error:
        raise LabError(
            f"{error.filename or project} cannot be written: {error.strerror}",
            hint="nothing was changed; make room, or name a folder that you may write to",
            exit_code=ExitCode.USAGE,
        ) from None


@contextmanager
def changed_files(project: Path, contents: Contents) -> Iterator[None]:
    """Change files like `change_files`, and restore them if the block raises."""
    before = {path: path.read_bytes() if path.is_file() else None for path in contents}
    change_files(project, contents)
    try:
        yield
    except BaseException:
        change_files(project, before)
        raise


def finish_changes(project: Path) -> bool:
    """Complete a change that a killed command left unfinished; return whether there was one.

    Waits for a command that is changing the project now. Raises LabError (ENVIRONMENT) if the
    change cannot be completed.
    """
    record = _path(project)
    if not record.exists():
        return False
    try:
        with _locked(project):
            return _finish(project)
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the record is damaged"
        raise LabError(
            f"A change of {project} was interrupted, and cannot be completed: {reason}",
            hint="make its files writable and repeat the command; or delete the record of the "
            f"change, {record}, and look at the project's files",
            exit_code=ExitCode.ENVIRONMENT,
        ) from None


def _finish(project: Path) -> bool:
    try:
        record = _Record.model_validate_json(_path(project).read_bytes())
    except FileNotFoundError:
        return False
    if record.folder != project.stat().st_ino:
        _path(project).unlink()
        return False
    _commit(project, record, _stage(project, record))
    return True


def _stage(project: Path, record: _Record) -> dict[Path, Path]:
    """Write new contents to staged files; return the target file of each staged file."""
    staged: dict[Path, Path] = {}
    try:
        for name, content in record.files.items():
            path = project / name
            if content is None:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(0, "a folder of that name is there", str(path))
            beside = path.with_name(f".{path.name}.new")
            staged[beside] = path
            beside.unlink(missing_ok=True)
            # Mode "x" does not follow a symbolic link.
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.is_file():
                shutil.copymode(path, beside)
    except OSError:
        for beside in staged:
            with suppress(OSError):
                beside.unlink()
        raise
    return staged


def _commit(project: Path, record: _Record, staged: Mapping[Path, Path]) -> None:
    for beside, path in staged.items():
        beside.replace(path)
    deleted = [project / name for name, content in record.files.items() if content is None]
    for path in deleted:
        path.unlink(missing_ok=True)
    _sync({path.parent for path in (*staged.values(), *deleted)})
    _path(project).unlink()


def _sync(folders: Iterable[Path]) -> None:
    for folder in folders:
        if folder.is_dir():
            sync_folder(folder)


def _path(project: Path) -> Path:
    """Return the path of the project's change record."""
    digest = hashlib.sha256(os.fsencode(project.resolve())).hexdigest()
    return state_home() / _RECORDS / f"{digest[:_DIGITS]}.json"


def _within(project: Path, path: Path) -> str:
    """Return a file's path relative to the project. Raise LabError (USAGE) if it is outside."""
    name = PurePosixPath(os.path.relpath(path.absolute(), project.absolute()))
    if name.parts and ".." not in name.parts:
        return str(name)
    raise LabError(
        f"{path} is not in the project {project}",
        hint="nothing was changed",
        exit_code=ExitCode.USAGE,
    )


@contextmanager
def _locked(project: Path) -> Iterator[None]:
    """Lock the project's folder. The lock creates no file and ends with its process."""
    descriptor = os.open(project, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
