"""Access to the source databases: statements, transactions, bulk changes, exact reading.

`connect(endpoints, "orders")` returns a `Source`, whatever its engine.
"""

from __future__ import annotations

from labctl.config.endpoints import Endpoints, SourceDatabase
from labctl.errors import ExitCode, LabError
from labctl.sources.base import (
    Rollback,
    Row,
    Source,
    SourceColumn,
    SourceTable,
    TableKeys,
    TableRef,
    UnreadColumn,
)
from labctl.sources.engine import CDC_USER, Engine, Instances, Preparation
from labctl.sources.engine_registry import ENGINES

__all__ = [
    "CDC_USER",
    "ENGINES",
    "Engine",
    "Instances",
    "Preparation",
    "Rollback",
    "Row",
    "Source",
    "SourceColumn",
    "SourceTable",
    "TableKeys",
    "TableRef",
    "UnreadColumn",
    "connect",
    "connect_server",
    "endpoint_of",
    "ensure_database",
]


def endpoint_of(endpoints: Endpoints, name: str) -> SourceDatabase:
    """Return a source's endpoint; raise `LabError` (USAGE) if the lab has no such source."""
    if name not in endpoints.sources:
        raise LabError(
            f"This lab has no source {name!r}.",
            hint=f"sources of lab.toml: {', '.join(endpoints.sources) or 'none'}",
            exit_code=ExitCode.USAGE,
        )
    return endpoints.sources[name]


def connect(endpoints: Endpoints, name: str) -> Source:
    """Open a connection to a source, as its owner; close it, or use it as a context manager.

    Raises `LabError`: USAGE if the lab has no source of that name, NOT_READY if the database does
    not answer.
    """
    endpoint = endpoint_of(endpoints, name)
    return ENGINES[endpoint.engine].client(endpoint)


def connect_server(endpoints: Endpoints, name: str) -> Source:
    """Open a connection to a source's server, for server-wide state such as its log and slots.

    It logs in as the administrator, but never to a source's database: the owner of a database
    decides which functions, operators and triggers a statement in it runs. SQL Server's log is in
    the source's own database. Raises `LabError` as `connect` does.
    """
    endpoint = endpoint_of(endpoints, name)
    engine = ENGINES[endpoint.engine]
    if engine.beside_sources is None:
        return engine.client(endpoint)
    server = endpoints.servers.get(endpoint.engine, endpoint)
    return engine.client(server.model_copy(update={"database": engine.beside_sources}))


def ensure_database(endpoints: Endpoints, name: str) -> None:
    """Create the databases of a source that its server does not have yet."""
    endpoint = endpoint_of(endpoints, name)
    engine = ENGINES[endpoint.engine]
    server = endpoints.servers.get(endpoint.engine, endpoint)
    for database in engine.databases(endpoint):
        engine.ensure_database(server, database, endpoint.user)
