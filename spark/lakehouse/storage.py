"""Files of the lake, through Hadoop's file systems: the same code for S3, MinIO and local disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

__all__ = ["FileInfo", "LakeFiles"]


_FOLDERS_AT_ONCE = 100
"""Most folders per page in a listing that skips files: at most so many are read needlessly."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file or folder: its full path, its size in bytes, and which of the two it is."""

    path: str
    size: int
    is_folder: bool
    modified_ms: int | None = None
    """Time of the last write, in milliseconds since 1970; None if the listing left it out."""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[1]


class LakeFiles:
    """Reading and writing whole objects. Usable from several threads."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._s3_clients: dict[str, Any] = {}

    def exists(self, path: str) -> bool:
        return bool(self._fs(path).exists(self._path(path)))

    def entries(self, folder: str, *, with_times: bool = False) -> list[FileInfo]:
        """Return the entries of `folder`, by name; nothing when there is no such folder."""
        try:
            entries = self._fs(folder).listStatus(self._path(folder))
        except Exception as error:
            if "FileNotFoundException" in str(error):
                return []
            raise
        found = [
            FileInfo(
                entry.getPath().toString(),
                entry.getLen(),
                entry.isDirectory(),
                entry.getModificationTime() if with_times else None,
            )
            for entry in entries
        ]
        return sorted(found, key=lambda info: info.path)

    def list_after(self, folder: str, prefix: str, after: str) -> list[FileInfo]:
        """Return files in `folder` whose names begin with `prefix` and sort after `after`.

        They are sorted by name. On S3A the store leaves out the others: only new files cost.
        """
        if self._s3_client(folder) is None:
            return [
                info
                for info in self.entries(folder)
                if not info.is_folder and info.name.startswith(prefix) and info.name > after
            ]
        found = self._s3_files(folder, prefix=prefix, after=after)
        return [info for info in found if info.path == f"{folder}/{info.name}"]

    def folders(self, folder: str, files: str) -> list[str]:
        """Return the paths of the folders in `folder`, by name. Its files begin with `files`.

        On S3A the files are skipped, however many there are.
        """
        if self._s3_client(folder) is None:
            return [info.path for info in self.entries(folder) if info.is_folder]
        key = _key_of(folder)
        found: set[str] = set()
        after: str | None = None
        while True:
            result = self._s3_list(folder, after=after, delimiter="/", most=_FOLDERS_AT_ONCE)
            found |= {str(prefix) for prefix in result.getCommonPrefixes().toArray()}
            if not result.isTruncated():
                return [f"{folder}/{name.removeprefix(f'{key}/')[:-1]}" for name in sorted(found)]
            objects = result.getObjectSummaries()
            last = objects.get(objects.size() - 1).getKey() if objects.size() else ""
            after = max([last, *found]).removeprefix(f"{key}/")
            if after.startswith(files):
                after = files[:-1] + chr(ord(files[-1]) + 1)

    def files_below(self, folder: str, *, with_times: bool = False) -> list[FileInfo]:
        """Return all files in `folder` and in the folders below it.

        Times cost more calls into the JVM per file, so they are read only `with_times`.
        """
        if self._s3_client(folder) is not None:
            return self._s3_files(folder, with_times=with_times)
        found: list[FileInfo] = []
        for info in self.entries(folder, with_times=with_times):
            found += (
                self.files_below(info.path, with_times=with_times) if info.is_folder else [info]
            )
        return found

    def _s3_files(
        self,
        folder: str,
        prefix: str = "",
        after: str | None = None,
        *,
        with_times: bool = False,
    ) -> list[FileInfo]:
        """Return the folder's objects whose names begin with `prefix` and sort after `after`."""
        found: list[FileInfo] = []
        token: str | None = None
        while True:
            result = self._s3_list(folder, prefix=prefix, after=after, token=token)
            for summary in result.getObjectSummaries().toArray():
                name = summary.getKey().removeprefix(f"{_key_of(folder)}/")
                modified = summary.getLastModified().getTime() if with_times else None
                found.append(FileInfo(f"{folder}/{name}", summary.getSize(), False, modified))
            if not result.isTruncated():
                return found
            token = result.getNextContinuationToken()

    def _s3_list(
        self,
        folder: str,
        *,
        prefix: str = "",
        after: str | None = None,
        delimiter: str | None = None,
        token: str | None = None,
        most: int | None = None,
    ) -> Any:
        """Return one page of a listing."""
        request = self._jvm.com.amazonaws.services.s3.model.ListObjectsV2Request()
        request.setBucketName(urlsplit(folder).netloc)
        request.setPrefix(f"{_key_of(folder)}/{prefix}")
        if after is not None:
            request.setStartAfter(f"{_key_of(folder)}/{after}")
        request.setDelimiter(delimiter)
        request.setContinuationToken(token)
        if most is not None:
            request.setMaxKeys(most)
        return self._s3_client(folder).listObjectsV2(request)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return the file's content, or its first `limit` bytes."""
        stream = self._fs(path).open(self._path(path))
        try:
            return bytes(stream.readAllBytes() if limit is None else stream.readNBytes(limit))
        finally:
            stream.close()

    def write(self, path: str, content: bytes) -> None:
        """Write `content` to `path`, replacing its file; readers see all of it or nothing."""
        stream = self._fs(path).create(self._path(path), True)
        try:
            stream.write(bytearray(content))
        except BaseException:
            self._abort(stream)
            raise
        stream.close()

    def move(self, path: str, target: str) -> None:
        """Move a file or a folder to `target`, where there is nothing yet.

        On S3 each object is copied, then removed: meanwhile a reader sees some in both places.
        """
        self._fs(path).mkdirs(self._path(target.rpartition("/")[0]))
        if not self._fs(path).rename(self._path(path), self._path(target)):
            raise OSError(f"{path} could not be moved to {target}")

    def delete(self, path: str) -> None:
        """Remove a file or a folder with its content; do nothing when it is not there."""
        self._fs(path).delete(self._path(path), True)

    def delete_empty(self, folder: str) -> bool:
        """Remove a folder without entries. Return False if it has some, and change nothing."""
        if self.entries(folder):
            return False
        self._fs(folder).delete(self._path(folder), False)
        return True

    def _s3_client(self, path: str) -> Any:
        """Return the AWS client of Hadoop's S3A, version 1 of the SDK; None for anything else."""
        bucket = urlsplit(path).netloc
        if bucket not in self._s3_clients:
            try:
                client = self._fs(path).getAmazonS3ClientForTesting("listing")
            except Py4JError:
                client = None
            self._s3_clients[bucket] = client
        return self._s3_clients[bucket]

    @staticmethod
    def _abort(stream: Any) -> None:
        abortable = stream.getWrappedStream()
        if hasattr(abortable, "abort"):
            abortable.abort()

    def _fs(self, path: str) -> Any:
        return self._path(path).getFileSystem(self._conf)


def _key_of(folder: str) -> str:
    return urlsplit(folder).path.strip("/")
