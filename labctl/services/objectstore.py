"""MinIO: the object store that holds bronze and silver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labctl.services.model import Context, NativeService, Process, Service

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

__all__ = ["ADMIN", "ENVIRONMENT", "SERVICE"]

ADMIN = "labctl"
ENVIRONMENT = {
    # An object is on disk before it is acknowledged; with one disk there is no other copy.
    "MINIO_FS_OSYNC": "on",
}
"""What holds in every runtime."""


def _process(context: Context) -> Process:
    return Process(
        argv=(
            str(context.artifacts.minio()),
            "server",
            str(context.data),
            "--address",
            f"127.0.0.1:{context.ports['s3']}",
            "--console-address",
            f"127.0.0.1:{context.ports['console']}",
        ),
        env={
            "MINIO_ROOT_USER": ADMIN,
            "MINIO_ROOT_PASSWORD": context.passwords["objectstore"],
            "MINIO_REGION": context.endpoints.objectstore.region,
            "MINIO_UPDATE": "off",
            **ENVIRONMENT,
            "HOME": str(context.conf),
        },
    )


def _client(context: Context) -> S3Client:
    from labctl.lake.objectstore import s3_client

    return s3_client(context.endpoints.objectstore)


def _probe(context: Context) -> str:
    _client(context).list_buckets()
    return f"MinIO {context.build()}"


def _setup(context: Context) -> None:
    client = _client(context)
    bucket = context.endpoints.objectstore.bucket
    if bucket not in (b["Name"] for b in client.list_buckets()["Buckets"]):
        client.create_bucket(Bucket=bucket)


def _prepare(context: Context) -> None:
    for folder in (context.data, context.conf):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)


SERVICE = Service(
    name="objectstore",
    title="MinIO",
    ports={"s3": 9000, "console": 9001},
    native=NativeService(artifacts=("minio",), memory_mib=330, prepare=_prepare, process=_process),
    probe=_probe,
    setup=_setup,
    urls=lambda _endpoints, ports: {
        "s3": f"http://127.0.0.1:{ports['s3']}",
        "console": f"http://127.0.0.1:{ports['console']}",
    },
)
