"""Files by address `s3://bucket/key`, in S3, MinIO or (for tests) a folder of buckets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO
from urllib.parse import unquote

from pyarrow import fs

__all__ = ["LocationError", "OwnFolder", "Storage"]

_LONGEST_KEY, _LONGEST_NAME = 1024, 255
"""Limits in bytes: S3's for a key, and MinIO's for a name between two slashes."""
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class LocationError(ValueError):
    """The location is not valid or must not be written to; the message says why."""


@dataclass(frozen=True)
class OwnFolder:
    """A folder of the lake. The service writes nothing in it or above it."""

    uri: str
    what: str
    """Description of its contents, for messages."""
    tables: bool = False
    """True if its subfolders are databases, which have tables as subfolders."""

    def holder(self, parts: Sequence[str]) -> str | None:
        """Return how a location, given by its parts, overlaps this folder; None if it does not."""
        own = _compared(self.uri.partition("://")[2])
        if parts[: len(own)] == own:
            below = parts[len(own) :]
            if self.tables and len(below) > 1:
                return f"belongs to the lake's table {below[0]}.{below[1]}"
            return f"belongs to {self.what} ({self.uri})"
        if own[: len(parts)] == parts:
            return f"is above {self.what} ({self.uri})"
        return None


_PART = 8 * 1024**2
"""Number of bytes that are read and written at a time."""


@dataclass(frozen=True)
class Storage:
    """Objects in the buckets of one file system.

    Every write and removal is checked, so that none changes the lake's own folders.
    """

    filesystem: fs.FileSystem
    own: tuple[OwnFolder, ...] = ()
    """The lake's folders."""
    _buckets: set[str] = field(default_factory=set, compare=False, repr=False)
    """Buckets that are known to exist."""

    @staticmethod
    def path(uri: str) -> str:
        """Return the file system's path of `s3://bucket/key`. Raises LocationError for others."""
        scheme, _, rest = uri.partition("://")
        bucket, _, key = rest.partition("/")
        names = key.rstrip("/").split("/") if key.rstrip("/") else []
        why = ""
        if scheme not in ("s3", "s3a") or not _BUCKET.fullmatch(bucket):
            why = "it must begin with s3:// and the name of a bucket"
        elif any(name in ("", ".", "..") for name in names):
            why = "the name of a folder is empty, `.` or `..`"
        elif _CONTROL.search(key) or not _is_unicode(key):
            why = "it has characters that no name has"
        elif len(key.encode()) > _LONGEST_KEY:
            why = f"it is longer than {_LONGEST_KEY} bytes"
        if why:
            shown = uri if len(uri) <= _LONGEST_NAME else f"{uri[:_LONGEST_NAME]}…"
            raise LocationError(f"outputLocation is not a valid S3 path: {shown!a}: {why}")
        return "/".join([bucket, *names])

    @staticmethod
    def uri(path: str) -> str:
        """Return the address of the file system's `path`."""
        return f"s3://{path}"

    def check(self, uri: str) -> str:
        """Return the path of a client's location; raise LocationError unless it is writable.

        The check covers the location as it is and with all percent-encoding decoded.
        """
        path = self.writable(uri)
        decoded = path
        while (once := unquote(decoded)) != decoded:
            decoded = once
        if ".." in decoded.split("/"):
            raise LocationError(f"outputLocation is not a valid S3 path: {uri!a}: it has a `..`")
        self._refuse_own(uri, decoded)
        return path

    def check_bucket(self, uri: str) -> None:
        """Raise LocationError if the bucket does not exist. If S3 does not answer, do nothing."""
        bucket = self.path(uri).partition("/")[0]
        if bucket in self._buckets or isinstance(self.filesystem, fs.SubTreeFileSystem):
            return
        try:
            found = self.filesystem.get_file_info(bucket)
        except OSError:
            return
        if found.type == fs.FileType.NotFound:
            raise LocationError(f"Unable to verify/create output bucket {bucket}")
        self._buckets.add(bucket)

    def writable(self, uri: str) -> str:
        """Return the path of a writable address. Raises LocationError for others."""
        path = self.path(uri)
        if long := [name for name in path.split("/") if len(name.encode()) > _LONGEST_NAME]:
            shown = f"{long[0][:40]}…"
            raise LocationError(f"The name {shown!a} is longer than {_LONGEST_NAME} bytes")
        self._refuse_own(uri, path)
        return path

    def _refuse_own(self, uri: str, path: str) -> None:
        parts = _compared(path)
        for folder in self.own:
            if holder := folder.holder(parts):
                raise LocationError(
                    f"{uri} {holder}: name another folder, the lake's own are read only"
                )

    def write(self, uri: str, data: bytes) -> None:
        """Put an object; create folders in a local file system. Raises LocationError, OSError."""
        path = self.writable(uri)
        if isinstance(self.filesystem, fs.SubTreeFileSystem):
            self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(data)

    def write_file(self, uri: str, file: IO[bytes]) -> None:
        """Put an object with the rest of a file, in parts."""
        first = file.read(_PART)
        if len(first) < _PART:
            self.write(uri, first)
            return
        path = self.writable(uri)
        if isinstance(self.filesystem, fs.SubTreeFileSystem):
            self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(first)
            while part := file.read(_PART):
                stream.write(part)

    def read(self, uri: str) -> bytes:
        """Return the whole object. Raises FileNotFoundError."""
        with self.filesystem.open_input_file(self.path(uri)) as stream:
            return bytes(stream.read())

    def read_part(self, uri: str, begin: int, end: int) -> bytes:
        """Return a range of an object's bytes, or fewer at its end. Raises FileNotFoundError."""
        with self.filesystem.open_input_file(self.path(uri)) as stream:
            stream.seek(begin)
            return bytes(stream.read(end - begin))

    def size(self, uri: str) -> int:
        """Return the size of an object in bytes. Raises FileNotFoundError."""
        found = self.filesystem.get_file_info(self.path(uri))
        if not found.is_file:
            raise FileNotFoundError(uri)
        return int(found.size)

    def list(self, uri: str) -> list[str]:
        """Return the addresses of all objects below a folder."""
        return [self.uri(path) for path, _ in self.sizes(uri)]

    def sizes(self, uri: str) -> Sequence[tuple[str, int]]:
        """Return the paths and sizes in bytes of all objects below a folder."""
        selector = fs.FileSelector(self.path(uri), allow_not_found=True, recursive=True)
        found = self.filesystem.get_file_info(selector)
        return sorted((entry.path, int(entry.size)) for entry in found if entry.is_file)

    def remove(self, uri: str) -> None:
        """Delete an object if it exists. Raises LocationError, OSError."""
        try:
            self.filesystem.delete_file(self.writable(uri))
        except FileNotFoundError:
            return


def _compared(path: str) -> list[str]:
    """Return the names in a path for comparison: without empty ones and `.`, and case-folded."""
    return [name.casefold() for name in path.split("/") if name not in ("", ".")]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
