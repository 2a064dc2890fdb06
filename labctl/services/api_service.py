"""The lake API (docs/lake-api.md): an application over Athena's API, which uses the cache.

A lab has it if `lab.toml` or `labctl api up` enables it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from labctl.config.endpoints import Endpoint, Endpoints
from labctl.config.lab_config import ApiSettings, LabConfig
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.services.cache_service import Cache
from labctl.services.service import Container, Context, NativeService, Process, Recipe, Service
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
            "AWS_REGION": sqlapi.region,
            "AWS_DEFAULT_REGION": sqlapi.region,
            "AWS_SHARED_CREDENTIALS_FILE": str(context.conf / CREDENTIALS),
            **NOTHING_OF_THE_MACHINE,
            "RESULTS_BUCKET": store.results,
            "ATHENA_DATABASE": lake_database(context.project, context.config),
            "ATHENA_TABLES": _table_names(),
            "CACHE_MODE": _cache_mode(context.config),
            **_redis(context),
            "LAKEAPI_PORT": str(context.ports["http"]),
            # The native runtime runs one service with the processes of all Compose replicas.
            "LAKEAPI_WORKERS": str(context.config.api.workers * context.config.api.replicas),
        },
        cwd=context.conf,
    )


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


SERVICE = Service(
    name="api",
    title="Lake API",
    ports={"http": 8088},
    native=NativeService(artifacts=(), memory_mib=_WORKER_MIB, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=lambda site: Api(url=f"http://{site.address('api', 'http')}"),
    passwords=("objectstore", "cache"),
    container=Container(
        recipes=(
            Recipe("front", "local/front", "haproxy", {"BASE": "base"}, artifacts=("haproxy",)),
        ),
        sidecars=("front",),
        secrets=lambda endpoints, passwords: {"api": _secrets(endpoints, passwords)},
        variables=_compose_variables,
    ),
    enabled=lambda config: config.api.enabled,
    depends_on=("sqlapi", "cache"),
    ephemeral=True,
    urls=lambda _endpoints, ports: {"swagger": f"http://127.0.0.1:{ports['http']}{SWAGGER}"},
)
