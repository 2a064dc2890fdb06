"""Athena's and Glue's own APIs over silver (docs/sql.md). Their state is in PostgreSQL."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from labctl.config.endpoints import Endpoint, Endpoints
from labctl.config.lab_config import LabConfig
from labctl.services import objectstore_service
from labctl.services.container import (
    BUCKET,
    REGION,
    SECRETS,
    SILVER_IMAGE,
    ComposeService,
    Container,
    answers_http,
)
from labctl.services.objectstore_service import ADMIN
from labctl.services.service import Context, NativeService, Process, Service, Site
from labctl.services.state_database import STATE_SERVICE, state_server
from labctl.state.lab_state import write_private
from labctl.tables import lab_tables

__all__ = ["SECRETS_FILE", "SERVICE", "SqlApi", "api_client", "serve_argv"]

SECRETS_FILE = "sqlapi.json"
MEMORY = "256MB"
"""DuckDB's memory limit for one query."""
WORKERS = 3
"""Number of queries that run at once, each in its own process."""
_TIMEOUT_SECONDS = 10


class SqlApi(Endpoint):
    """The address of Athena and Glue, and the key that signs requests."""

    url: str
    region: str
    access_key: SecretStr
    secret_key: SecretStr

    @property
    def variables(self) -> Mapping[str, str]:
        # Clients call STS to find out who they are.
        return {f"AWS_ENDPOINT_URL_{service}": self.url for service in ("ATHENA", "GLUE", "STS")}


def _prepare(context: Context) -> None:
    text = secrets_text(context.endpoints, context.passwords)
    write_private(context.conf / SECRETS_FILE, text)


def secrets_text(endpoints: Endpoints, passwords: Mapping[str, str]) -> str:
    """Return the service's secrets as JSON: its login to PostgreSQL, and the object store's key."""
    server, store = state_server(endpoints), endpoints.objectstore
    assert store.access_key is not None  # noqa: S101 - the lab's own object store has keys
    assert store.secret_key is not None  # noqa: S101
    return json.dumps(
        {
            "dsn": (
                f"host={server.host} port={server.port} dbname={SERVICE.name} "
                f"user={SERVICE.name} password={passwords[SERVICE.name]}"
            ),
            "access_key": store.access_key.get_secret_value(),
            "secret_key": store.secret_key.get_secret_value(),
        }
    )


_FEWER_POOLS = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Environment that limits the free memory which the C library keeps per thread, and Arrow's."""


def _process(context: Context) -> Process:
    store = context.endpoints.objectstore
    argv = serve_argv(
        python=sys.executable,
        secrets=context.conf / SECRETS_FILE,
        endpoint_url=store.endpoint_url or "",
        bucket=store.bucket,
        region=store.region,
        port=context.ports["http"],
        memory=MEMORY,
        bronze=bronze_folders(context.project, context.config),
        workers=WORKERS,
        scratch=context.temp,
    )
    return Process(argv=tuple(argv), cwd=context.conf, env=_FEWER_POOLS)


def serve_argv(
    *,
    python: str,
    secrets: Path,
    endpoint_url: str,
    bucket: str,
    region: str,
    port: int,
    memory: str,
    bronze: str,
    workers: int,
    scratch: Path,
) -> list[str]:
    """Return the service's command line. The file `secrets` holds the result of `secrets_text`."""
    return [
        *(python, "-m", "labctl.lake.serve_sql", "--secrets", str(secrets)),
        *("--endpoint-url", endpoint_url, "--bucket", bucket, "--region", region),
        *("--bronze", bronze),
        *("--port", str(port), "--memory", memory, "--workers", str(workers)),
        *("--scratch", str(scratch)),
    ]


def bronze_folders(project: Path, config: LabConfig) -> str:
    """Return the bucket's folders with bronze, separated by commas, for the command line."""
    roots = (table.properties.bronze_root for table in lab_tables(project, config))
    return ",".join(sorted({root.partition("/")[0] for root in roots} or {"topics"}))


def _compose_variables(project: Path, config: LabConfig) -> dict[str, str]:
    return {"SQLAPI_BRONZE": bronze_folders(project, config)}


def api_client(endpoint: SqlApi, service: str, *, attempts: int = 3) -> Any:
    """Return a boto3 client of the service for `athena` or `glue`.

    A failed request is retried, up to `attempts` attempts in all.
    """
    import boto3
    from botocore.config import Config

    make: Any = boto3.client
    return make(
        service,
        endpoint_url=endpoint.url,
        region_name=endpoint.region,
        aws_access_key_id=endpoint.access_key.get_secret_value(),
        aws_secret_access_key=endpoint.secret_key.get_secret_value(),
        config=Config(
            retries={"total_max_attempts": attempts, "mode": "standard"},
            connect_timeout=_TIMEOUT_SECONDS,
            read_timeout=_TIMEOUT_SECONDS,
        ),
    )


def _probe(context: Context) -> str:
    from labctl.aws.signed import signed_request

    endpoint = context.endpoints.others[SERVICE.name]
    assert isinstance(endpoint, SqlApi)  # noqa: S101 - this service's own endpoint
    # The service answers this from PostgreSQL, and only to a client with the key.
    answer = signed_request(
        "POST",
        f"{endpoint.url}/",
        service="athena",
        region=endpoint.region,
        key=(endpoint.access_key, endpoint.secret_key),
        headers={
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": "AmazonAthena.GetWorkGroup",
        },
        body=b'{"WorkGroup": "primary"}',
        timeout=_TIMEOUT_SECONDS,
    )
    configuration = answer.json()["WorkGroup"]["Configuration"]
    return str(configuration["EngineVersion"]["EffectiveEngineVersion"])


def _endpoint(site: Site) -> SqlApi:
    return SqlApi(
        url=f"http://{site.address('sqlapi', 'http')}",
        region=site.config.lake.region,
        access_key=SecretStr(ADMIN),
        secret_key=SecretStr(site.passwords["objectstore"]),
    )


_PORT = 8085
_CONTAINER = ComposeService(
    "sqlapi",
    SILVER_IMAGE,
    memory="352m",
    comment="Athena's and Glue's APIs over silver: labctl too, in the same image. It has less"
    " memory than natively: one query may take twice its limit while others run.",
    command=(
        *serve_argv(
            python="python",
            secrets=SECRETS / SECRETS_FILE,
            endpoint_url=f"http://objectstore:{objectstore_service.SERVICE.ports['s3']}",
            bucket=BUCKET,
            region=REGION,
            port=_PORT,
            memory="96MB",
            bronze="${SQLAPI_BRONZE:-topics}",
            workers=2,
            scratch=Path("/tmp/sqlapi"),  # noqa: S108 - of the container
        ),
        "--in-container",
    ),
    health=answers_http(_PORT, "/health"),
)

SERVICE = Service(
    name="sqlapi",
    title="SQL API (Athena, Glue)",
    ports={"http": _PORT},
    native=NativeService(artifacts=(), memory_mib=460, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("sqlapi", "objectstore"),
    own_database=True,
    container=Container(
        _CONTAINER,
        secrets=lambda endpoints, passwords: {
            "sqlapi": {SECRETS_FILE: secrets_text(endpoints, passwords)}
        },
        variables=_compose_variables,
    ),
    depends_on=(STATE_SERVICE, "objectstore"),
    urls=lambda _endpoints, ports: {"athena, glue": f"http://127.0.0.1:{ports['http']}"},
)
