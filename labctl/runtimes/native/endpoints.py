"""Where the services of a native lab answer, and as whom to ask."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import SecretStr

from labctl.config.endpoints import (
    Connect,
    Database,
    Endpoints,
    Kafka,
    ObjectStore,
    Registry,
    Silver,
)
from labctl.config.model import LabConfig, SourceEngine
from labctl.lab.ports import LOOPBACK
from labctl.services import mysql, objectstore, postgres, sqlserver

__all__ = ["capture_logins", "native_endpoints"]


def native_endpoints(
    config: LabConfig, ports: Mapping[str, Mapping[str, int]], passwords: Mapping[str, str]
) -> Endpoints:
    """The endpoints of a lab whose processes run on this machine."""
    return Endpoints(
        postgres=Database(
            host=LOOPBACK,
            port=ports["postgres"]["sql"],
            user=postgres.ADMIN,
            password=SecretStr(passwords["postgres"]),
            database=postgres.DATABASE,
        ),
        mysql=Database(
            host=LOOPBACK,
            port=ports["mysql"]["sql"],
            user=mysql.ADMIN,
            password=SecretStr(passwords["mysql"]),
            database=mysql.DATABASE,
        ),
        sqlserver=Database(
            host=LOOPBACK,
            port=ports["sqlserver"]["tds"],
            user=sqlserver.ADMIN,
            password=SecretStr(passwords["sqlserver"]),
            database=sqlserver.DATABASE,
        ),
        kafka=Kafka(bootstrap_servers=f"{LOOPBACK}:{ports['kafka']['broker']}"),
        connect=Connect(url=f"http://{LOOPBACK}:{ports['connect']['rest']}"),
        registry=Registry(url=f"http://{LOOPBACK}:{ports['registry']['http']}"),
        objectstore=ObjectStore(
            endpoint_url=f"http://{LOOPBACK}:{ports['objectstore']['s3']}",
            region=config.lake.region,
            access_key=SecretStr(objectstore.ADMIN),
            secret_key=SecretStr(passwords["objectstore"]),
            bucket=config.lake.bucket,
        ),
        silver=Silver(status_url=f"http://{LOOPBACK}:{ports['silver']['status']}"),
    )


def capture_logins(passwords: Mapping[str, str]) -> dict[SourceEngine, tuple[str, str]]:
    """User and password that Debezium connects with. The stand-in has one login for everything."""
    own = ("debezium", passwords["cdc"])
    return {"postgres": own, "mysql": own, "sqlserver": (sqlserver.ADMIN, passwords["sqlserver"])}
