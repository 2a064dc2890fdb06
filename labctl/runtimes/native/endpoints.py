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
from labctl.config.model import LabConfig
from labctl.lab.ports import LOOPBACK
from labctl.services import mysql, objectstore, postgres

__all__ = ["native_endpoints"]


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
