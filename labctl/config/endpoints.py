"""Addresses and logins of a lab's services, whatever runtime they run on.

Every client in the project (seeding, queries, verification, tests) takes an `Endpoints`;
none of them knows whether a process, a container or a managed service answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, SecretStr

from labctl.config.lab_config import LabConfig
from labctl.engine_names import EngineName

__all__ = [
    "Connect",
    "Database",
    "Endpoint",
    "Endpoints",
    "Kafka",
    "ObjectStore",
    "Registry",
    "Silver",
    "SourceDatabase",
    "client_url",
    "database_name",
    "source_databases",
]


class Endpoint(BaseModel):
    """The address of one service."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables that point ordinary clients at it; none holds a secret."""
        return {}

    @property
    def secrets(self) -> Mapping[str, str]:
        """Files that clients need besides, by the variable that names each."""
        return {}


class Database(Endpoint):
    host: str
    port: int
    user: str
    password: SecretStr
    database: str


class SourceDatabase(Database):
    """A source of the lab: its database, as the database's owner, and what is captured of it."""

    engine: EngineName
    schemas: tuple[str, ...]


class Kafka(Endpoint):
    bootstrap_servers: str
    """`host:port[,host:port…]`"""
    authentication: Literal["none", "tls", "scram", "iam", "plain"] = "none"
    """`plain`: a user and a password without TLS, as the labs of this machine have it."""
    region: str | None = None
    """IAM only."""
    user: str | None = None
    password: SecretStr | None = None


class Connect(Endpoint):
    url: str
    """Address of Kafka Connect's REST interface; `msk-connect://REGION` for MSK Connect's API."""
    user: str | None = None
    password: SecretStr | None = None

    @property
    def login(self) -> tuple[str, str] | None:
        """User and password; None where the REST interface asks for none."""
        if self.user is None or self.password is None:
            return None
        return self.user, self.password.get_secret_value()


class Registry(Endpoint):
    url: str
    """Base URL without `/apis/…`."""


class ObjectStore(Endpoint):
    """MinIO or S3: one type for both."""

    endpoint_url: str | None = None
    """None: Amazon S3 itself."""
    region: str = "us-east-1"
    access_key: SecretStr | None = None
    """None: the default credential chain."""
    secret_key: SecretStr | None = None
    bucket: str

    @property
    def results(self) -> str:
        """Location of the results of a lab's SQL API: bucket and folder."""
        return f"{self.bucket}/athena"


class Silver(Endpoint):
    status_url: str | None = None
    """Address of the Spark application's `GET /status`; None where it is not reachable."""
    token: SecretStr | None = None
    """Bearer token of requests that restart a table."""

    @property
    def headers(self) -> dict[str, str]:
        """Headers of requests that change something."""
        token = self.token.get_secret_value() if self.token else None
        return {"Authorization": f"Bearer {token}"} if token else {}


class Endpoints(Endpoint):
    servers: Mapping[EngineName, Database] = {}
    """Database servers of the lab by engine, with the administrator's login."""
    sources: Mapping[str, SourceDatabase] = {}
    """Databases by their names in `lab.toml`."""
    kafka: Kafka
    connect: Connect
    registry: Registry
    objectstore: ObjectStore
    silver: Silver = Silver()
    others: Mapping[str, Endpoint] = {}
    """Endpoints of services that the pipeline can do without, by their names."""
    addresses: Mapping[str, Mapping[str, str]] = {}
    """`host:port` of every endpoint, by service and endpoint; empty for managed services."""

    def client_of(self, engine: EngineName) -> Database | None:
        """Return the database and the login of a person's clients of the engine.

        It is the first source's, as its owner. A server without a source has its administrator
        alone.
        """
        own = (source for source in self.sources.values() if source.engine == engine)
        return next(own, self.servers.get(engine))


def source_databases(
    config: LabConfig, servers: Mapping[EngineName, Database]
) -> dict[str, SourceDatabase]:
    """Return the lab's sources on their servers, without those whose server is not known.

    `servers` have the login of the sources' owner.
    """
    return {
        name: SourceDatabase(
            **server.model_dump() | {"database": database_name(config, name, server.database)},
            engine=source.engine,
            schemas=source.schemas,
        )
        for name, source in config.sources.items()
        if (server := servers.get(source.engine)) is not None
    }


def database_name(config: LabConfig, name: str, on_server: str) -> str:
    """Return a source's database. `on_server` is the profile's name for an engine's only one.

    Of MySQL, a schema to begin in.
    """
    source = config.sources[name]
    if len(config.sources_of(source.engine)) == 1:
        return on_server
    return source.database or source.schemas[0]


def client_url(scheme: str, client: Database | None, port: int) -> str:
    """Return where a person's client connects on this machine, and as whom; no password."""
    user, database = (client.user, client.database) if client is not None else ("", "")
    return f"{scheme}://{user}@127.0.0.1:{port}/{database}"
