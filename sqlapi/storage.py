"""Files by their address `s3://bucket/key`, in S3, MinIO or (for tests) a folder of buckets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO
from urllib.parse import unquote

from pyarrow import fs

__all__ = ["LocationError", "OwnFolder", "Storage"]

_LONGEST_KEY, _LONGEST_NAME = 1024, 255
"""Bytes: S3's limit of a key, and MinIO's of a name between two slashes."""
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class LocationError(ValueError):
    """A location that cannot be, or may not be written to; the message says why."""


@dataclass(frozen=True)
class OwnFolder:
    """A folder that belongs to the lake: the service writes nothing there, nor above it."""

    uri: str
    what: str
    """What is in it, for messages."""
    tables: bool = False
    """Whether its folders are databases, and theirs are tables."""

    def holder(self, parts: Sequence[str]) -> str | None:
        """Whom a location belongs to, given by its parts; None if it has nothing to do with it."""
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
"""Bytes that are read and written at a time."""


@dataclass(frozen=True)
class Storage:
    """Objects of the buckets of one file system.

    Whatever is written or removed goes through `check`, so that nothing of the lake's own is.
    """

    filesystem: fs.FileSystem
    own: tuple[OwnFolder, ...] = ()
    """The lake's folders."""
    _buckets: set[str] = field(default_factory=set, compare=False, repr=False)
    """Those that are known to be there."""

    @staticmethod
    def path(uri: str) -> str:
        """`s3://bucket/key` as the file system calls it. Raises LocationError for others."""
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
        """The address of what the file system calls `path`."""
        return f"s3://{path}"

    def check(self, uri: str) -> str:
        """The path of a location that a client names; LocationError unless it may be written to.

        It is compared as it is, and as whoever decodes it again would have it.
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
        """Raise LocationError if there is no such bucket. Whether S3 answers, writing will tell."""
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
        """The path of an address that may be written to. Raises LocationError for others."""
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
        """Put an object; folders of a local file system are made. Raises LocationError, OSError."""
        path = self.writable(uri)
        if isinstance(self.filesystem, fs.SubTreeFileSystem):
            self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(data)

    def write_file(self, uri: str, file: IO[bytes]) -> None:
        """Put an object with what is left to read of a file, a part at a time."""
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
        """The whole object. Raises FileNotFoundError."""
        with self.filesystem.open_input_file(self.path(uri)) as stream:
            return bytes(stream.read())

    def read_part(self, uri: str, begin: int, end: int) -> bytes:
        """Bytes of an object, as far as it has them. Raises FileNotFoundError."""
        with self.filesystem.open_input_file(self.path(uri)) as stream:
            stream.seek(begin)
            return bytes(stream.read(end - begin))

    def size(self, uri: str) -> int:
        """Bytes of an object. Raises FileNotFoundError."""
        found = self.filesystem.get_file_info(self.path(uri))
        if not found.is_file:
            raise FileNotFoundError(uri)
        return int(found.size)

    def list(self, uri: str) -> list[str]:
        """The addresses of the objects below a folder."""
        selector = fs.FileSelector(self.path(uri), allow_not_found=True, recursive=True)
        found = self.filesystem.get_file_info(selector)
        return sorted(self.uri(entry.path) for entry in found if entry.is_file)

    def remove(self, uri: str) -> None:
        """Delete an object, if it is there. Raises LocationError, OSError."""
        try:
            self.filesystem.delete_file(self.writable(uri))
        except FileNotFoundError:
            return


def _compared(path: str) -> list[str]:
    """The names in a path as they are compared: no empty ones, and in one case."""
    return [name.casefold() for name in path.split("/") if name not in ("", ".")]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
