"""Storage of the lake's files: one type for MinIO, S3 and (for tests) a local folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyarrow import fs

from sqlapi.table_folder import TableFolder

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from labctl.config.endpoints import ObjectStore

__all__ = ["LakeStorage", "s3_client"]


def s3_client(store: ObjectStore) -> S3Client:
    """Return a boto3 client of the object store, for what the file system cannot do (buckets)."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=store.endpoint_url,
        region_name=store.region,
        aws_access_key_id=store.access_key.get_secret_value() if store.access_key else None,
        aws_secret_access_key=store.secret_key.get_secret_value() if store.secret_key else None,
        config=Config(
            s3={"addressing_style": "path" if store.endpoint_url else "auto"},
            retries={"max_attempts": 3, "mode": "standard"},
        ),
    )


@dataclass(frozen=True)
class LakeStorage:
    """A bucket or folder, described as each reader needs it."""

    filesystem: fs.FileSystem
    root: str
    """Path of the bucket or folder within `filesystem`."""
    uri: str
    """The same location for hudi-rs: `s3://bucket` or `file:///folder`."""
    spark_uri: str
    hudi_options: Mapping[str, str] = field(default_factory=dict)
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    spark_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Credentials reach Spark through its environment: its arguments are visible to `ps`."""

    @classmethod
    def of(cls, store: ObjectStore) -> LakeStorage:
        """Return the bucket of `store`; without keys, use the default AWS credential chain."""
        hudi = {"aws_region": store.region}
        conf = {"spark.hadoop.fs.s3a.endpoint.region": store.region}
        env: dict[str, str] = {}
        access, secret = None, None
        if store.access_key and store.secret_key:
            access = store.access_key.get_secret_value()
            secret = store.secret_key.get_secret_value()
            hudi |= {"aws_access_key_id": access, "aws_secret_access_key": secret}
            env = {"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret}
        endpoint = urlsplit(store.endpoint_url) if store.endpoint_url else None
        if store.endpoint_url and endpoint:
            hudi |= {"aws_endpoint": store.endpoint_url}
            hudi |= {"aws_allow_http": str(endpoint.scheme == "http").lower()}
            conf |= {
                "spark.hadoop.fs.s3a.endpoint": store.endpoint_url,
                "spark.hadoop.fs.s3a.path.style.access": "true",
                "spark.hadoop.fs.s3a.connection.ssl.enabled": str(
                    endpoint.scheme == "https"
                ).lower(),
            }
        filesystem = fs.S3FileSystem(
            access_key=access,
            secret_key=secret,
            region=store.region,
            endpoint_override=endpoint.netloc if endpoint else None,
            scheme="http" if endpoint and endpoint.scheme == "http" else "https",
            connect_timeout=5,
            request_timeout=30,
        )
        return cls(
            filesystem=filesystem,
            root=store.bucket,
            uri=f"s3://{store.bucket}",
            spark_uri=f"s3a://{store.bucket}",
            hudi_options=hudi,
            spark_conf=conf,
            spark_env=env,
        )

    @classmethod
    def local(cls, folder: Path) -> LakeStorage:
        """Return a folder of this machine that is laid out like the bucket."""
        path = folder.resolve()
        return cls(fs.LocalFileSystem(), str(path), path.as_uri(), path.as_uri())

    def path(self, relative: str) -> str:
        """Return the path in `filesystem` of a path `relative` to the bucket."""
        return f"{self.root}/{relative}"

    def folder(self, relative: str) -> TableFolder:
        """Return the folder of a table, `relative` to the bucket."""
        uri = f"{self.uri}/{relative}"
        return TableFolder(self.filesystem, self.path(relative), uri, self.hudi_options)

    def list(self, relative: str, *, recursive: bool = False) -> list[fs.FileInfo]:
        """Return the entries below a folder, or none. One LIST request per 1,000 objects."""
        selector = fs.FileSelector(self.path(relative), allow_not_found=True, recursive=recursive)
        return self.filesystem.get_file_info(selector)

    def read_bytes(self, relative: str) -> bytes:
        """Return the whole object. Raise FileNotFoundError if it does not exist."""
        with self.filesystem.open_input_file(self.path(relative)) as stream:
            return bytes(stream.read())
