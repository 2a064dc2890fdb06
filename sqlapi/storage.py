"""Files by their address `s3://bucket/key`, in S3, MinIO or (for tests) a folder of buckets."""

from __future__ import annotations

from dataclasses import dataclass

from pyarrow import fs

__all__ = ["Storage"]


@dataclass(frozen=True)
class Storage:
    """Objects of the buckets of one file system."""

    filesystem: fs.FileSystem

    @staticmethod
    def path(uri: str) -> str:
        """`s3://bucket/key` as the file system calls it. Raises ValueError for others."""
        scheme, _, rest = uri.partition("://")
        if scheme not in ("s3", "s3a") or not rest or ".." in rest.split("/"):
            raise ValueError(f"outputLocation is not a valid S3 path: {uri}")
        return rest.rstrip("/")

    def write(self, uri: str, data: bytes) -> None:
        """Puts an object; folders of a local file system are made."""
        path = self.path(uri)
        if isinstance(self.filesystem, fs.SubTreeFileSystem):
            self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(data)

    def read(self, uri: str) -> bytes:
        """The whole object. Raises FileNotFoundError."""
        with self.filesystem.open_input_file(self.path(uri)) as stream:
            return bytes(stream.read())

    def list(self, uri: str) -> list[str]:
        """The addresses of the objects below a folder."""
        selector = fs.FileSelector(self.path(uri), allow_not_found=True, recursive=True)
        found = self.filesystem.get_file_info(selector)
        return sorted(f"s3://{entry.path}" for entry in found if entry.is_file)

    def remove(self, uri: str) -> None:
        """Deletes an object, if it is there."""
        try:
            self.filesystem.delete_file(self.path(uri))
        except FileNotFoundError:
            return
