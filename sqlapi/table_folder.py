"""The folder of one table, described as its readers need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyarrow import fs

__all__ = ["TableFolder"]


@dataclass(frozen=True)
class TableFolder:
    """A table's folder in a file system."""

    filesystem: fs.FileSystem
    path: str
    """Path within `filesystem`."""
    uri: str
    """The same location for hudi-rs: `s3://bucket/folder` or `file:///folder`."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options for hudi-rs: region, keys, endpoint."""

    @classmethod
    def local(cls, folder: Path) -> TableFolder:
        """Return a folder of this machine."""
        path = folder.resolve()
        return cls(fs.LocalFileSystem(), str(path), path.as_uri())

    def list(self, relative: str = "", *, recursive: bool = False) -> list[fs.FileInfo]:
        """Return the entries below a folder, or none. One LIST request per 1,000 objects."""
        selector = fs.FileSelector(self._path(relative), allow_not_found=True, recursive=recursive)
        return self.filesystem.get_file_info(selector)

    def read(self, relative: str) -> bytes:
        """Return the whole object. Raise FileNotFoundError if it does not exist."""
        with self.filesystem.open_input_file(self._path(relative)) as stream:
            return bytes(stream.read())

    def relative(self, path: str) -> str:
        """Return the path in the folder of a listed entry's path."""
        return path.removeprefix(f"{self.path}/")

    def _path(self, relative: str) -> str:
        return f"{self.path}/{relative}" if relative else self.path
