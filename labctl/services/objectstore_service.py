"""MinIO: the object store that holds bronze and silver."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from labctl.config.endpoints import ObjectStore
from labctl.services.container import (
    BUCKET,
    REGION,
    ComposeService,
    Container,
    Image,
    Recipe,
    answers_http,
)
from labctl.services.service import Context, NativeService, Process, Service, Site

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

__all__ = ["ADMIN", "ENVIRONMENT", "SERVICE"]

ADMIN = "labctl"
_S3_PORT, _CONSOLE_PORT = 9000, 9001
ENVIRONMENT = {
    "MINIO_ROOT_USER": ADMIN,
    "MINIO_UPDATE": "off",
    # Sync an object to disk before acknowledging it: with one disk there is no other copy.
    "MINIO_FS_OSYNC": "on",
}
"""Environment variables that are the same in every runtime."""
_PROBE_SECONDS = 5.0


def _process(context: Context) -> Process:
    return Process(
        argv=(
            str(context.artifacts.minio()),
            *_arguments(context.data, "127.0.0.1", context.ports["s3"], context.ports["console"]),
        ),
        env={
            **ENVIRONMENT,
            "MINIO_ROOT_PASSWORD": context.passwords["objectstore"],
            "MINIO_REGION": context.endpoints.objectstore.region,
            "HOME": str(context.conf),
        },
    )


def _arguments(data: Path, host: str, s3: int, console: int) -> tuple[str, ...]:
    addresses = ("--address", f"{host}:{s3}", "--console-address", f"{host}:{console}")
    return ("server", str(data), *addresses)


def _client(context: Context) -> S3Client:
    from labctl.lake.objectstore import s3_client

    return s3_client(context.endpoints.objectstore)


def _probe(context: Context) -> str:
    from labctl.aws.signed import signed_request

    store = context.endpoints.objectstore
    assert store.access_key is not None  # noqa: S101 - `_endpoint` gives it both
    assert store.secret_key is not None  # noqa: S101
    # List the buckets, which only a client with the key may do.
    signed_request(
        "GET",
        f"{store.endpoint_url}/",
        service="s3",
        region=store.region,
        key=(store.access_key, store.secret_key),
        timeout=_PROBE_SECONDS,
    )
    return f"MinIO {context.build()}"


def _setup(context: Context) -> None:
    client = _client(context)
    bucket = context.endpoints.objectstore.bucket
    if bucket not in (b["Name"] for b in client.list_buckets()["Buckets"]):
        client.create_bucket(Bucket=bucket)


def _prepare(context: Context) -> None:
    for folder in (context.data, context.conf):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _endpoint(site: Site) -> ObjectStore:
    return ObjectStore(
        endpoint_url=f"http://{site.address('objectstore', 's3')}",
        region=site.config.lake.region,
        access_key=SecretStr(ADMIN),
        secret_key=SecretStr(site.passwords["objectstore"]),
        bucket=site.config.lake.bucket,
    )


_DATA = Path("/data")
_CONTAINER = ComposeService(
    "objectstore",
    Image(
        "objectstore",
        "quay.io/minio/minio:RELEASE.2025-09-07T16-13-09Z"
        "@sha256:14cea493d9a34af32f524e538b8346cf79f3321eff8e708c1e2960462bd8936e",
    ),
    memory="448m",
    comment="MinIO's last image: docs/compose.md says what to do where it cannot be pulled.",
    comments={"entrypoint": "A folder that is there when the server starts is a bucket."},
    entrypoint=(
        "sh",
        "-c",
        f'mkdir -p "{_DATA}/$$LAB_BUCKET" &&'
        ' export MINIO_ROOT_PASSWORD="$$(cat /run/secrets/objectstore)" &&'
        f" exec minio {shlex.join(_arguments(_DATA, '', _S3_PORT, _CONSOLE_PORT))}",
    ),
    environment={"LAB_BUCKET": BUCKET, **ENVIRONMENT, "MINIO_REGION": REGION},
    data=str(_DATA),
    health=answers_http(_S3_PORT, "/minio/health/cluster"),
)

SERVICE = Service(
    name="objectstore",
    title="MinIO",
    ports={"s3": _S3_PORT, "console": _CONSOLE_PORT},
    native=NativeService(artifacts=("minio",), memory_mib=330, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("objectstore",),
    container=Container(
        _CONTAINER,
        recipes=(
            Recipe(
                "objectstore", "local/objectstore", "minio", {"BASE": "base"}, artifacts=("minio",)
            ),
        ),
    ),
    setup=_setup,
    urls=lambda _endpoints, ports: {
        "s3": f"http://127.0.0.1:{ports['s3']}",
        "console": f"http://127.0.0.1:{ports['console']}",
    },
)
