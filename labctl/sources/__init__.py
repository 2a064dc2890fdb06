"""Talking to the source databases: statements, transactions, bulk changes, exact reading.

`connect(endpoints, "orders")` gives a `Source`, whatever its engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from labctl.config.endpoints import Database, Endpoints, SourceDatabase
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
"""Engines that can be talked to."""


def endpoint_of(endpoints: Endpoints, name: str) -> SourceDatabase:
    """Where a source of the lab answers; `LabError` (USAGE) when the lab has none of that name."""
    if name not in endpoints.sources:
        raise LabError(
            f"This lab has no source {name!r}.",
            hint=f"sources of lab.toml: {', '.join(endpoints.sources) or 'none'}",
            exit_code=ExitCode.USAGE,
        )
    return endpoints.sources[name]


def connect(endpoints: Endpoints, name: str) -> Source:
    """Opens a connection to a source; close it, or use it as a context manager.

    Raises `LabError`: usage when the lab has no source of that name, not ready when it does not
    answer.
    """
    endpoint = endpoint_of(endpoints, name)
    return _OPEN[endpoint.engine](endpoint)


def ensure_database(endpoints: Endpoints, name: str) -> None:
    """Creates the database of a source, when its server does not have it yet."""
    endpoint = endpoint_of(endpoints, name)
    names = endpoint.schemas if endpoint.engine == "mysql" else (endpoint.database,)
    for database in names:
        _ENSURE[endpoint.engine](endpoint.model_copy(update={"database": database}))
