"""Where the services of a lab on this machine answer, and as whom to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import SecretStr

from labctl.config.endpoints import (
    Connect,
    Database,
    Endpoints,
    Kafka,
    ObjectStore,
    Registry,
    Silver,
    source_databases,
)
from labctl.config.model import LabConfig, SourceEngine
from labctl.home.sockets import LOOPBACK
from labctl.services import connect, kafka, mysql, objectstore, postgres, services_of, sqlserver

__all__ = ["Address", "capture_logins", "endpoints_at", "loopback_endpoints"]

Address = Callable[[str, str], str]
"""`host:port` of a service's endpoint: `address("kafka", "broker")`."""


def loopback_endpoints(
    config: LabConfig, ports: Mapping[str, Mapping[str, int]], passwords: Mapping[str, str]
) -> Endpoints:
    """The endpoints of a lab that listens on this machine, as processes or published by Docker."""
    return endpoints_at(
        lambda service, name: f"{LOOPBACK}:{ports[service][name]}", config, passwords
    )


def endpoints_at(address: Address, config: LabConfig, passwords: Mapping[str, str]) -> Endpoints:
    """The endpoints of a lab whose services are found by `address`."""

    here = {service.name for service in services_of(config)}

    def server(engine: SourceEngine, endpoint: str, user: str, without: str) -> Database | None:
        if engine not in here:
            return None
        host, _, port = address(engine, endpoint).rpartition(":")
        source = next(iter(config.sources_of(engine).values()), None)
        begin_in = without if source is None else source.database or source.schemas[0]
        password = SecretStr(passwords[engine])
        return Database(host=host, port=int(port), user=user, password=password, database=begin_in)

    servers: dict[SourceEngine, Database | None] = {
        "postgres": server("postgres", "sql", postgres.ADMIN, "postgres"),
        "mysql": server("mysql", "sql", mysql.ADMIN, ""),
        "sqlserver": server("sqlserver", "tds", sqlserver.ADMIN, "master"),
    }
    return Endpoints(
        **servers,
        sources=source_databases(config, servers),
        kafka=Kafka(
            bootstrap_servers=address("kafka", "broker"),
            authentication="plain",
            user=kafka.USER,
            password=SecretStr(passwords["kafka"]),
        ),
        connect=Connect(
            url=f"http://{address('connect', 'rest')}",
            user=connect.USER,
            password=SecretStr(passwords["connect"]),
        ),
        registry=Registry(url=f"http://{address('registry', 'http')}"),
        objectstore=ObjectStore(
            endpoint_url=f"http://{address('objectstore', 's3')}",
            region=config.lake.region,
            access_key=SecretStr(objectstore.ADMIN),
            secret_key=SecretStr(passwords["objectstore"]),
            bucket=config.lake.bucket,
        ),
        silver=Silver(
            status_url=f"http://{address('silver', 'status')}",
            token=SecretStr(passwords["silver"]),
        ),
    )


def capture_logins(passwords: Mapping[str, str]) -> dict[SourceEngine, tuple[str, str]]:
    """User and password that Debezium connects with. The stand-in has one login for everything."""
    own = (postgres.CAPTURE, passwords["cdc"])
    return {"postgres": own, "mysql": own, "sqlserver": (sqlserver.ADMIN, passwords["sqlserver"])}
