"""The lake API (docs/lake-api.md): an application over Athena's API, which uses the cache.

A lab has it if `lab.toml` or `labctl tools api up` enables it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from labctl.config.endpoints import Endpoint, Endpoints
from labctl.config.lab_config import ApiSettings, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.services import cache_service, sqlapi_service
from labctl.services.cache_service import Cache
from labctl.services.container import (
    BUCKET,
    LAB_FOLDER,
    REGION,
    SECRETS,
    SILVER_IMAGE,
    ComposeService,
    Container,
    Image,
    Recipe,
    answers_http,
    mounted,
    published,
)
from labctl.services.service import Context, NativeService, Process, Service
from labctl.services.sqlapi_service import SqlApi
from labctl.state.lab_state import write_private
from labctl.tables import lab_tables
from lakeapi.tables import Tables

__all__ = [
    "ALIVE",
    "CREDENTIALS",
    "PASSWORD_FILE",
    "PREFIX",
    "SERVICE",
    "Api",
    "lake_database",
    "memory_mib",
]

PREFIX = "/v1"
"""Prefix of all paths."""
CREDENTIALS = "aws-credentials"
PASSWORD_FILE = "redis-password"  # noqa: S105 - a file's name
ALIVE = f"{PREFIX}/health/liveness"
SWAGGER = f"{PREFIX}/swagger-ui/index.html"
NOTHING_OF_THE_MACHINE = {
    # The machine's own AWS profile may name other addresses, or another source of keys.
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
_TIMEOUT_SECONDS = 5
_PARENT_MIB, _WORKER_MIB = 96, 160


class Api(Endpoint):
    """The API's address. It needs no login, because the API only reads."""

    url: str
    """The address without `/v1`."""

    @property
    def swagger(self) -> str:
        """A page that documents all its requests."""
        return f"{self.url}{SWAGGER}"

    @property
    def variables(self) -> Mapping[str, str]:
        return {"LAKE_API_URL": f"{self.url}{PREFIX}"}


def lake_database(project: Path, config: LabConfig) -> str:
    """Return the database with all the API's tables. Raises LabError (USAGE) if there is none."""
    if config.api.database:
        return config.api.database
    names = [table.name.partition(".")[::2] for table in lab_tables(project, config)]
    found = Counter(database for database, name in names if name in Tables.model_fields)
    (best, count), *_ = found.most_common(1) or [("", 0)]
    if count < len(Tables.model_fields):
        raise LabError(
            f"The lake API reads the tables {', '.join(Tables.model_fields)} of one database, and "
            "this lab has not all of them",
            hint="a lab without them has no use for it: leave `enabled = true` out of [api]",
            exit_code=ExitCode.USAGE,
        )
    return best


def _table_names() -> str:
    """Return the mapping of table names as JSON: a lab uses the application's own names."""
    return json.dumps({name: name for name in Tables.model_fields})


def _credentials_text(endpoint: SqlApi) -> str:
    return (
        "[default]\n"
        f"aws_access_key_id = {endpoint.access_key.get_secret_value()}\n"
        f"aws_secret_access_key = {endpoint.secret_key.get_secret_value()}\n"
    )


def _sqlapi(endpoints: Endpoints) -> SqlApi:
    found = endpoints.others["sqlapi"]
    assert isinstance(found, SqlApi)  # noqa: S101 - that service's own endpoint
    return found


def _prepare(context: Context) -> None:
    for name, text in _secrets(context.endpoints, context.passwords).items():
        write_private(context.conf / name, text)


def _secrets(endpoints: Endpoints, passwords: Mapping[str, str]) -> dict[str, str]:
    """Return the API's secret files by name: the key that signs requests, and the cache's
    password."""
    return {
        CREDENTIALS: _credentials_text(_sqlapi(endpoints)),
        PASSWORD_FILE: passwords["cache"],
    }


def _process(context: Context) -> Process:
    require_extra("lakeapi")
    sqlapi, store = _sqlapi(context.endpoints), context.endpoints.objectstore
    return Process(
        # The application's own command: uvicorn with the settings below, and with the workers'
        # metrics combined.
        argv=(sys.executable, "-m", "lakeapi"),
        env={
            **sqlapi.variables,
            **_settings(
                region=sqlapi.region,
                secrets=context.conf,
                results=store.results,
                database=lake_database(context.project, context.config),
                cache_mode=_cache_mode(context.config),
                port=str(context.ports["http"]),
                # The native runtime runs one service with the processes of all Compose replicas.
                workers=str(context.config.api.workers * context.config.api.replicas),
            ),
            **_redis(context),
        },
        cwd=context.conf,
    )


def _settings(
    *,
    region: str,
    secrets: Path,
    results: str,
    database: str,
    cache_mode: str,
    port: str,
    workers: str,
) -> dict[str, str]:
    """Return the application's environment, without the addresses of Athena and the cache."""
    return {
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_SHARED_CREDENTIALS_FILE": str(secrets / CREDENTIALS),
        **NOTHING_OF_THE_MACHINE,
        "RESULTS_BUCKET": results,
        "ATHENA_DATABASE": database,
        "ATHENA_TABLES": _table_names(),
        "CACHE_MODE": cache_mode,
        "LAKEAPI_PORT": port,
        "LAKEAPI_WORKERS": workers,
    }


def _redis(context: Context) -> dict[str, str]:
    """Return the variables with the cache's address; empty in a lab without a cache."""
    cache = context.endpoints.others.get("cache")
    if not isinstance(cache, Cache):
        return {}
    return {**cache.variables, "REDIS_PASSWORD_FILE": str(context.conf / PASSWORD_FILE)}


def _cache_mode(config: LabConfig) -> str:
    """Return the cache mode. With `commit`, a cached answer is as new as its tables."""
    return "commit" if config.cache.enabled else "off"


def _compose_variables(project: Path, config: LabConfig) -> dict[str, str]:
    return {
        "API_CACHE_MODE": _cache_mode(config),
        "API_DATABASE": lake_database(project, config),
        "API_MEMORY": f"{memory_mib(config.api)}m",
        "API_REPLICAS": str(config.api.replicas),
        "API_WORKERS": str(config.api.workers),
    }


def memory_mib(settings: ApiSettings) -> int:
    """Return the memory limit of one container; there may be several."""
    return _PARENT_MIB + _WORKER_MIB * settings.workers


def _probe(context: Context) -> str:
    import requests

    endpoint = context.endpoints.others[SERVICE.name]
    assert isinstance(endpoint, Api)  # noqa: S101 - this service's own endpoint
    # The API's own readiness check covers the lake: the API keeps running without it.
    answer = requests.get(f"{endpoint.url}{ALIVE}", timeout=_TIMEOUT_SECONDS)
    answer.raise_for_status()
    return f"lake API, {answer.json()['status']}"


_PORT = 8088
_SQLAPI = SqlApi(
    url=f"http://sqlapi:{sqlapi_service.SERVICE.ports['http']}",
    region=REGION,
    access_key=SecretStr(""),
    secret_key=SecretStr(""),
)
_CACHE = Cache(host="cache", port=cache_service.SERVICE.ports["redis"], password=SecretStr(""))
_CONTAINER = ComposeService(
    "api",
    SILVER_IMAGE,
    memory=f"${{API_MEMORY:-{_PARENT_MIB + _WORKER_MIB}m}}",
    comment="An application over Athena's API, in the same image, in as many containers as lab.toml"
    " says. labctl starts it where lab.toml, or `labctl tools api up`, switches it on. By hand:"
    " `docker compose --profile api --profile cache up --scale api=2`.",
    comments={
        "CACHE_MODE": "commit, ttl or off",
        "LAKEAPI_HOST": "Of the container; published on the host's loopback.",
    },
    command=("python", "-m", "lakeapi"),
    environment={
        **_SQLAPI.variables,
        **_settings(
            region=REGION,
            secrets=SECRETS,
            results=f"{BUCKET}/athena",
            database="${API_DATABASE:-tickit}",
            cache_mode="${API_CACHE_MODE:-commit}",
            port=str(_PORT),
            workers="${API_WORKERS:-1}",
        ),
        **_CACHE.variables,
        "REDIS_PASSWORD_FILE": str(SECRETS / PASSWORD_FILE),
        "LAKEAPI_HOST": "0.0.0.0",  # noqa: S104
    },
    ports=(),
    health=answers_http(_PORT, ALIVE),
    # A lab may have it without a cache.
    depends_on=("sqlapi",),
    profiles=("api",),
    replicas="${API_REPLICAS:-1}",
)
_FRONT = ComposeService(
    "front",
    Image("front", "haproxy:3.2.4"),
    memory="64m",
    comment="Its one port, whichever of its containers answers.",
    command=("haproxy", "-W", "-db", "-f", f"{LAB_FOLDER}/haproxy.cfg"),
    environment={"API_PORT": str(_PORT), "API_ALIVE": ALIVE},
    reads_secrets=False,
    mounts=(mounted("./api/haproxy.cfg", LAB_FOLDER / "haproxy.cfg"),),
    ports=(published("api", "http", _PORT),),
    health=answers_http(_PORT, ALIVE),
    depends_on=("api",),
    profiles=("api",),
)

SERVICE = Service(
    name="api",
    title="Lake API",
    ports={"http": _PORT},
    native=NativeService(artifacts=(), memory_mib=_WORKER_MIB, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=lambda site: Api(url=f"http://{site.address('api', 'http')}"),
    passwords=("objectstore", "cache"),
    container=Container(
        _CONTAINER,
        beside=(_FRONT,),
        recipes=(
            Recipe("front", "local/front", "haproxy", {"BASE": "base"}, artifacts=("haproxy",)),
        ),
        sidecars=(_FRONT.name,),
        secrets=lambda endpoints, passwords: {"api": _secrets(endpoints, passwords)},
        variables=_compose_variables,
    ),
    enabled=lambda config: config.api.enabled,
    depends_on=("sqlapi", "cache"),
    ephemeral=True,
    urls=lambda _endpoints, ports: {"swagger": f"http://127.0.0.1:{ports['http']}{SWAGGER}"},
)
