"""The files of a snapshot: copies of folders, checksums, and hard links to unchanged files."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from labctl.errors import ExitCode, LabError

__all__ = [
    "FileRecord",
    "copy_folder",
    "forget_processes",
    "link_unchanged",
    "read_entries",
    "read_records",
    "unlike",
    "unlike_entries",
]

FileRecord = tuple[int, str]
"""A file's size in bytes and its BLAKE2b checksum."""

PROCESS_FILES = ("*.pid", "*.lock", "*.sock")
"""Files in a service's data folder that name the process using it; a copy needs none."""
_ENTRY = {
    "-": "a file",
    "d": "a folder",
    "l": "a link",
    "p": "a fifo",
    "s": "a socket",
    "b": "a device",
    "c": "a device",
}
"""Kinds of directory entries by the letter that `stat.filemode` gives them."""
_BLOCK = 1024**2
_DIGEST_BYTES = 16


def copy_folder(source: Path, target: Path) -> None:
    """Copy `source` to `target`, which must not exist: owners, modes, times and holes included.

    Blocks are shared if the file system can do that. Hard links become separate files: a snapshot
    has one copy of equal files, and a service that changed one of its links would change all.
    Raises LabError (ENVIRONMENT) if something cannot be copied.
    """
    command = ["cp", "--archive", "--no-preserve=links", "--reflink=auto", "--sparse=auto"]
    done = subprocess.run(
        [*command, "--no-target-directory", str(source), str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise LabError(
            f"{source} could not be copied to {target}",
            hint="make room on that disk, or correct what is said above, then try again",
            details=tuple(done.stderr.strip().splitlines()[-4:]),
            exit_code=ExitCode.ENVIRONMENT,
        )


def forget_processes(data: Path) -> None:
    """Delete the files by which a service detects that another process has its data.

    In a copy they would be wrong: the process may be alive, with the original data. Sockets, and
    whatever else is not a file, folder or link, are deleted too.
    """
    for service in data.iterdir():
        for pattern in PROCESS_FILES:
            for file in service.glob(pattern):
                file.unlink()
    for path in _paths(data):
        if _entry(path)[0] not in "-dl":
            path.unlink()


def read_entries(top: Path) -> dict[str, str]:
    """Return all entries below `top`, by relative path: kind, mode, and the target of a link.

    Raises LabError (ENVIRONMENT) for a folder that cannot be read.
    """
    return {str(path.relative_to(top)): _entry(path) for path in _paths(top)}


def unlike_entries(top: Path, entries: Mapping[str, str]) -> str | None:
    """Return the first difference between the entries below `top` and those saved, or None.

    No file is opened.
    """
    found = read_entries(top)
    if missing := entries.keys() - found.keys():
        return f"{min(missing)} is missing"
    if added := found.keys() - entries.keys():
        name = min(added)
        return f"{name}, {_ENTRY[found[name][0]]}, was added"
    for name, entry in entries.items():
        if found[name] != entry:
            return f"{name} is {_told(found[name])}, and was {_told(entry)}"
    return None


def read_records(top: Path) -> dict[str, FileRecord]:
    """Return the record of every regular file below `top`, by relative path."""
    files = list(_files(top))
    names = (str(file.relative_to(top)) for file in files)
    return dict(zip(names, _records_of(files), strict=True))


def unlike(top: Path, records: Mapping[str, FileRecord]) -> str | None:
    """Return the first difference between the files below `top` and `records`, or None."""
    found = {str(file.relative_to(top)): file for file in _files(top)}
    if missing := records.keys() - found.keys():
        return f"{min(missing)} is missing"
    if added := found.keys() - records.keys():
        return f"{min(added)} was added"
    for name, (size, _) in records.items():
        if found[name].stat().st_size != size:
            return f"{name} has another size"
    read = _records_of([found[name] for name in records])
    for (name, record), there in zip(records.items(), read, strict=True):
        if there != record:
            return f"{name} has another checksum"
    return None


def link_unchanged(
    top: Path,
    records: Mapping[str, FileRecord],
    earlier: Sequence[tuple[Path, Mapping[str, FileRecord]]],
) -> int:
    """Replace each file that one of the `earlier` snapshots also has by a hard link to it.

    Nothing ever writes into a snapshot's files, so two snapshots can share them. Returns the number
    of bytes that are saved.
    """
    known = {record: folder / name for folder, files in earlier for name, record in files.items()}
    saved = 0
    for name, record in records.items():
        same = known.get(record)
        if same is None or record[0] == 0 or not _may_share(top / name, same):
            continue
        staged = top / f"{name}.link"
        os.link(same, staged)
        staged.replace(top / name)
        saved += record[0]
    return saved


def _may_share(file: Path, same: Path) -> bool:
    """Return whether owner and mode agree: a hard link has those of the file it names."""
    if not same.is_file():
        return False
    one, other = file.stat(), same.stat()
    return (one.st_uid, one.st_gid, one.st_mode) == (other.st_uid, other.st_gid, other.st_mode)


def _paths(top: Path) -> Iterator[Path]:
    """Yield every path below `top`, without following links to folders."""

    def fail(error: OSError) -> None:
        raise LabError(
            f"{error.filename} cannot be read: {error.strerror}",
            hint="correct its owner or mode",
            exit_code=ExitCode.ENVIRONMENT,
        )

    for folder, folders, names in os.walk(top, onerror=fail):
        for name in sorted((*folders, *names)):
            yield Path(folder, name)


def _entry(path: Path) -> str:
    mode = path.lstat().st_mode
    letter = stat.filemode(mode)[0]
    if letter == "l":
        return f"l {path.readlink()}"
    return f"{letter} {stat.S_IMODE(mode):04o}"


def _told(entry: str) -> str:
    letter, _, rest = entry.partition(" ")
    return f"{_ENTRY[letter]} to {rest}" if letter == "l" else f"{_ENTRY[letter]} of mode {rest}"


def _files(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink():
                yield file


def _records_of(files: Sequence[Path]) -> list[FileRecord]:
    """Return each file's record, in parallel.

    Python computes the checksum without holding its global lock.
    """
    with ThreadPoolExecutor() as pool:
        return list(pool.map(_record, files))


def _record(file: Path) -> FileRecord:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    size = 0
    with file.open("rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()
