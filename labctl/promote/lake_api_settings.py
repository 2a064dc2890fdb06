"""The lake API's settings on AWS, under the names of the environment variables it reads."""

from __future__ import annotations

import json
from typing import Any

from labctl.config.aws import RESULTS
from labctl.extras import require_extra
from labctl.promote.network_connections import API_PORT, CACHE_PORT
from labctl.promote.promotion import Promotion
from labctl.tables import LabTable
from lakeapi.tables import Tables
from sqlapi.catalog.table_inputs import names_of
from sqlapi.source import SourceTable

__all__ = [
    "OF_BOTO3",
    "api_database",
    "api_reads",
    "api_views",
    "environment",
    "own_views",
    "setting_name",
]

OF_BOTO3 = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Environment variables that boto3 reads, not the service."""


def setting_name(setting: str) -> str:
    """Return a service setting's environment variable. Raises KeyError for an unknown setting."""
    require_extra("lakeapi")
    from lakeapi.settings import environment_name

    return environment_name(setting)


def api_database() -> str:
    """Return the database that the lake API queries: the service's own default.

    It is not silver's database, as in a lab: on AWS, silver also holds Debezium's columns and rows
    deleted at the source. `gold/` has views without them, under the names the service expects.
    """
    require_extra("lakeapi")
    from lakeapi.settings import Settings

    name: str = Settings.model_fields["database"].default
    return name


def api_views() -> list[str]:
    """Return the views that the lake API queries, as `database.view`."""
    return [f"{api_database()}.{name}" for name in Tables().model_dump().values()]


def own_views() -> list[str]:
    """Return the views that the lake API creates itself if they are missing."""
    require_extra("lakeapi")
    from lakeapi.statements import VIEWS

    return [f"{api_database()}.{name}" for name in VIEWS]


def api_reads(promotion: Promotion) -> tuple[list[str], list[str]]:
    """Return the catalog names and the silver folders that the lake API reads, each sorted."""
    views = {view.name: view for view in promotion.lake_views}
    names = {name for name in own_views() if name in views} | {*api_views()}
    while more := {one for name in names if name in views for one in views[name].reads} - names:
        names |= more
    folders = {table.properties.path for table in promotion.tables if names & _names(table)}
    return sorted(names | {*own_views()}), sorted(folders)


def _names(table: LabTable) -> frozenset[str]:
    """Return Athena's names for a silver table."""
    return frozenset(names_of(SourceTable("", table.name, "", table.properties.table_type)))


def environment(promotion: Promotion, redis_host: Any, balancer: str) -> dict[str, Any]:
    """Return a task's environment variables: strings, or CloudFormation functions.

    `redis_host` is known only once the cache exists. `balancer` is the load balancer's logical
    name; its DNS name becomes an allowed host.

    The password is not among them.
    """
    profile, cached = promotion.profile, promotion.config.cache.enabled
    settings: dict[str, Any] = {
        "environment": profile.api.environment,
        "host": "0.0.0.0",  # noqa: S104 - of the task, which its security group guards
        "port": str(API_PORT),
        "workers": str(promotion.config.api.workers),
        "results_bucket": f"{profile.lake.bucket}/{RESULTS}",
        "workgroup": profile.workgroup,
        "database": api_database(),
        # Health checks ask by address.
        "allowed_hosts": {"Fn::Sub": json.dumps([f"${{{balancer}.DNSName}}", *profile.api.hosts])},
        # Hudi reports a commit to the catalog only when a table's schema changes, so with `commit`
        # old answers would never expire.
        "cache_mode": "ttl" if cached else "off",
    }
    if cached:
        settings |= {
            "redis_host": redis_host,
            "redis_port": str(CACHE_PORT),
            "redis_ssl": "true",
            "cache_stale_seconds": str(profile.api.stale_seconds),
        }
    if profile.api.origins:
        settings["cors_origins"] = json.dumps(list(profile.api.origins))
    named = {setting_name(setting): value for setting, value in settings.items()}
    return dict.fromkeys(OF_BOTO3, profile.region) | named
