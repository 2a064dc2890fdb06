"""Safe unpacking of third-party archives into one folder, with this user as the owner."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from labctl.errors import LabError

__all__ = ["unpack"]

_FILE, _PROGRAM = 0o644, 0o755
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class _Member:
    """A member of an archive: a file, or a link or device, which is refused."""

    name: str
    mode: int
    open: Callable[[], IO[bytes]] | None
    """Function that opens the content; None for a link or a device."""


def unpack(archive: Path, target: Path, *, folder: str = "", check: Callable[[], None]) -> None:
    """Unpack the files below `folder` of a zip file, wheel or `.tar.gz` into `target`.

    Files belong to this user, whatever owner the archive names. Only the executable bit of their
    mode is kept. Raises LabError for a member that is a link or a device, or whose path leaves
    `target`. `check` is called before each file and may raise.
    """
    is_zip = not archive.name.endswith(".tar.gz")
    try:
        for member in _zipped(archive) if is_zip else _tarred(archive):
            check()
            _write(archive, member, target, PurePosixPath(folder))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise LabError(f"{archive.name} is damaged: {error}", hint="run it again") from None


def _write(archive: Path, member: _Member, target: Path, folder: PurePosixPath) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or "\\" in member.name or member.open is None:
        what = "is a link or a device" if member.open is None else "leads outside"
        raise LabError(
            f"{archive.name} was not unpacked: its member {member.name!r:.200} {what}",
            hint="the archive is not what the lock was made from; fetch it again",
        )
    if not path.is_relative_to(folder):
        return
    file = target / path.relative_to(folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    # Mode "x" prevents a member from replacing another one or following a link.
    with member.open() as source, file.open("xb") as sink:
        shutil.copyfileobj(source, sink, _COPY_BYTES)
    file.chmod(_PROGRAM if member.mode & 0o111 else _FILE)


def _zipped(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            mode = info.external_attr >> 16
            if not info.is_dir():
                is_file = stat.S_IFMT(mode) in (0, stat.S_IFREG)
                yield _Member(info.filename, mode, partial(opened.open, info) if is_file else None)


def _tarred(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive, "r:gz") as opened:
        for info in opened:
            if not info.isdir():
                content = partial(_extracted, opened, info) if info.isreg() else None
                yield _Member(info.name, info.mode, content)


def _extracted(opened: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    content = opened.extractfile(info)
    assert content is not None  # noqa: S101 - it is a regular file
    return content
