"""Files of the lake, through Hadoop's file systems: the same code for S3, MinIO and local disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

__all__ = ["FileInfo", "Storage"]


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file or folder: its full path, its size in bytes, and which of the two it is."""

    path: str
    size: int
    is_folder: bool

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[1]


class Storage:
    """Reading and writing whole objects. Usable from several threads."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._s3_clients: dict[str, Any] = {}

    def exists(self, path: str) -> bool:
        return bool(self._fs(path).exists(self._path(path)))

    def entries(self, folder: str) -> list[FileInfo]:
        """What lies directly in `folder`, by name; nothing when there is no such folder."""
        try:
            entries = self._fs(folder).listStatus(self._path(folder))
        except Exception as error:
            if "FileNotFoundException" in str(error):
                return []
            raise
        found = [
            FileInfo(entry.getPath().toString(), entry.getLen(), entry.isDirectory())
            for entry in entries
        ]
        return sorted(found, key=lambda info: info.path)

    def list_after(self, folder: str, prefix: str, after: str) -> list[FileInfo]:
        """Files in `folder` whose names begin with `prefix` and sort after `after`, by name.

        On S3A the store itself leaves out the others, so that the cost is that of what is new.
        """
        client = self._s3_client(folder)
        if client is None:
            return [
                info
                for info in self.entries(folder)
                if not info.is_folder and info.name.startswith(prefix) and info.name > after
            ]
        bucket, key = urlsplit(folder).netloc, urlsplit(folder).path.strip("/")
        request = self._jvm.com.amazonaws.services.s3.model.ListObjectsV2Request()
        request.setBucketName(bucket)
        request.setPrefix(f"{key}/{prefix}")
        request.setStartAfter(f"{key}/{after}")
        found: list[FileInfo] = []
        while True:
            result = client.listObjectsV2(request)
            for summary in result.getObjectSummaries():
                name = summary.getKey().removeprefix(f"{key}/")
                if "/" not in name:
                    found.append(FileInfo(f"{folder}/{name}", summary.getSize(), is_folder=False))
            if not result.isTruncated():
                return found
            request.setContinuationToken(result.getNextContinuationToken())

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The file's content, or its first `limit` bytes."""
        stream = self._fs(path).open(self._path(path))
        try:
            return bytes(stream.readAllBytes() if limit is None else stream.readNBytes(limit))
        finally:
            stream.close()

    def write(self, path: str, content: bytes) -> None:
        """Put `content` at `path`, replacing what was there; readers see all of it or nothing."""
        stream = self._fs(path).create(self._path(path), True)
        try:
            stream.write(bytearray(content))
        except BaseException:
            self._abort(stream)
            raise
        stream.close()

    def move(self, path: str, target: str) -> None:
        """Put a file or a folder at `target`, where there is nothing yet.

        On S3 each object is copied, then removed: whoever looks meanwhile sees some in both places.
        """
        self._fs(path).mkdirs(self._path(target.rpartition("/")[0]))
        if not self._fs(path).rename(self._path(path), self._path(target)):
            raise OSError(f"{path} could not be moved to {target}")

    def delete(self, path: str) -> None:
        """Remove a file or a folder with everything in it; nothing when it is not there."""
        self._fs(path).delete(self._path(path), True)

    def _s3_client(self, path: str) -> Any:
        """The AWS client of Hadoop's S3A, version 1 of the SDK; None for anything else."""
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
