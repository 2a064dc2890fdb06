"""Talking to the source databases: statements, transactions, bulk changes, exact reading.

`connect(endpoints, "mysql")` gives a `Source`, whatever the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from labctl.config.endpoints import Database, Endpoints
from labctl.errors import ExitCode, LabError
from labctl.sources import mysql, postgres, sqlserver
from labctl.sources.base import Rollback, Row, Source, SourceColumn, SourceTable, TableRef

__all__ = [
    "ENGINES",
    "Rollback",
    "Row",
    "Source",
    "SourceColumn",
    "SourceTable",
    "TableRef",
    "connect",
    "endpoint_of",
    "engines_of",
    "ensure_database",
]

_OPEN: Mapping[str, Callable[[Database], Source]] = MappingProxyType(
    {
        "postgres": postgres.PostgresSource,
        "mysql": mysql.MySqlSource,
        "sqlserver": sqlserver.SqlServerSource,
    }
)
_ENSURE: Mapping[str, Callable[[Database], None]] = MappingProxyType(
    {
        "postgres": postgres.ensure_database,
        "mysql": mysql.ensure_database,
        "sqlserver": sqlserver.ensure_database,
    }
)

ENGINES = tuple(_OPEN)
"""Engines that can be talked to; each is a field of `Endpoints`."""


def engines_of(endpoints: Endpoints) -> list[str]:
    """The engines that this lab has and that can be talked to."""
    return [engine for engine in ENGINES if getattr(endpoints, engine) is not None]


def endpoint_of(endpoints: Endpoints, engine: str) -> Database:
    """Where an engine of the lab answers; `LabError` when the lab has none."""
    endpoint = getattr(endpoints, engine, None) if engine in ENGINES else None
    if not isinstance(endpoint, Database):
        raise LabError(
            f"This lab has no source database {engine!r}.",
            hint=f"there can be: {', '.join(ENGINES)}",
            exit_code=ExitCode.USAGE,
        )
    return endpoint


def connect(endpoints: Endpoints, engine: str) -> Source:
    """Opens a connection; close it, or use it as a context manager.

    Raises `LabError`: usage when the lab has no such engine, not ready when it does not answer.
    """
    endpoint = endpoint_of(endpoints, engine)
    return _OPEN[engine](endpoint)


def ensure_database(endpoints: Endpoints, engine: str) -> None:
    """Creates the database that the endpoint names, when the server does not have it yet."""
    endpoint = endpoint_of(endpoints, engine)
    _ENSURE[engine](endpoint)
