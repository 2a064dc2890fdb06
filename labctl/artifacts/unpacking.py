"""Safe unpacking of third-party archives into one folder, with this user as the owner."""

from __future__ import annotations

import os
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
_NO_FILE = "is a link or a device"


@dataclass(frozen=True)
class _Member:
    """A member of an archive: a file, a second name of one, or a link or device, both refused."""

    name: str
    mode: int
    open: Callable[[], IO[bytes]] | None
    """Function that opens the content; None for a second name, a link or a device."""
    same_as: str | None = None
    """Name of the earlier member whose content this one has: a hard link."""


def unpack(archive: Path, target: Path, *, folder: str = "", check: Callable[[], None]) -> None:
    """Unpack the files below `folder` of a zip file, wheel or `.tar.gz` into `target`.

    Files belong to this user, whatever owner the archive names. Only the executable bit of their
    mode is kept. A hard link to a file that came before it in the archive is a second name of that
    file. Raises LabError for any other member that is a link or a device, or whose path leaves
    `target`. `check` is called before each file and may raise.
    """
    is_zip = not archive.name.endswith(".tar.gz")
    written: dict[str, Path] = {}
    try:
        for member in _zipped(archive) if is_zip else _tarred(archive):
            check()
            _write(archive, member, target, PurePosixPath(folder), written)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise LabError(f"{archive.name} is damaged: {error}", hint="run it again") from None


def _write(
    archive: Path, member: _Member, target: Path, folder: PurePosixPath, written: dict[str, Path]
) -> None:
    """Write one member, and add its file to `written`, the files by their members' names."""
    path = PurePosixPath(member.name)
    leads_outside = path.is_absolute() or ".." in path.parts or "\\" in member.name
    if leads_outside or (member.open is None and member.same_as is None):
        raise _refusal(archive, member, "leads outside" if leads_outside else _NO_FILE)
    if not path.is_relative_to(folder):
        return
    file = target / path.relative_to(folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    if member.open is None:
        # Only a file that this call wrote gets a second name, so the link cannot lead outside.
        if member.same_as not in written:
            raise _refusal(archive, member, _NO_FILE)
        os.link(written[member.same_as], file)
    else:
        # Mode "x" prevents a member from replacing another one or following a link.
        with member.open() as source, file.open("xb") as sink:
            shutil.copyfileobj(source, sink, _COPY_BYTES)
        file.chmod(_PROGRAM if member.mode & 0o111 else _FILE)
    written[member.name] = file


def _refusal(archive: Path, member: _Member, what: str) -> LabError:
    return LabError(
        f"{archive.name} was not unpacked: its member {member.name!r:.200} {what}",
        hint="the archive is not what the lock was made from; fetch it again",
    )


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
                same_as = info.linkname if info.islnk() else None
                yield _Member(info.name, info.mode, content, same_as)


def _extracted(opened: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    content = opened.extractfile(info)
    assert content is not None  # noqa: S101 - it is a regular file
    return content
