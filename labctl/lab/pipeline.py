"""How the pipeline is: connectors and silver tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import requests

from labctl.errors import LabError
from labctl.kafkaconnect.client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab

__all__ = [
    "BronzeWriter",
    "ConnectorStatus",
    "PipelineStatus",
    "SilverTable",
    "bronze_writer",
    "read_pipeline",
    "silver_status",
]

BronzeWriter = Literal["spark", "connect"]
"""The Spark application, or the S3 sink connector: never both."""


@dataclass(frozen=True)
class ConnectorStatus:
    name: str
    state: str
    tasks: list[str]
    """The tasks' states, as Kafka Connect names them."""


@dataclass(frozen=True)
class SilverTable:
    name: str
    state: str
    table_type: str
    last_commit_instant: str | None
    error: str | None


@dataclass(frozen=True)
class PipelineStatus:
    connectors: list[ConnectorStatus]
    tables: list[SilverTable]
    bronze_writer: BronzeWriter | None
    """None where it cannot be asked."""


def read_pipeline(lab: Lab) -> PipelineStatus:
    """Ask Connect and the Spark application; what does not answer is left out."""
    status = _silver_status(lab)
    return PipelineStatus(_connectors(lab), _tables(lab, status), _bronze_writer(status))


def bronze_writer(lab: Lab) -> BronzeWriter | None:
    """Who writes bronze. The application decides when it starts, and says so."""
    return _bronze_writer(_silver_status(lab))


def silver_status(lab: Lab) -> dict[str, Any]:
    """What the Spark application says of itself. Raises requests' errors when it does not."""
    if lab.endpoints.silver.status_url is None:
        raise requests.ConnectionError("this lab's Spark application is not reachable from here")
    response = requests.get(f"{lab.endpoints.silver.status_url}/status", timeout=5)
    response.raise_for_status()
    status: dict[str, Any] = response.json()
    return status


def _silver_status(lab: Lab) -> dict[str, Any]:
    """`silver_status`; empty when the application does not answer."""
    try:
        return silver_status(lab)
    except requests.RequestException:
        return {}


def _bronze_writer(status: dict[str, Any]) -> BronzeWriter | None:
    if "bronze" not in status:
        return None
    return "connect" if status["bronze"] is None else "spark"


def _connectors(lab: Lab) -> list[ConnectorStatus]:
    client = connect_client(lab.endpoints.connect)
    try:
        return [_connector(name, client.status(name)) for name in client.names()]
    except (LabError, RebalanceError):
        return []


def _connector(name: str, status: dict[str, Any]) -> ConnectorStatus:
    return ConnectorStatus(
        name, status["connector"]["state"], [task["state"] for task in status["tasks"]]
    )


def _tables(lab: Lab, status: dict[str, Any]) -> list[SilverTable]:
    tables = status.get("tables", {})
    if not tables:
        return []
    instants = _instants(lab)
    return [
        SilverTable(
            name, table["state"], table["table_type"], instants.get(name), table.get("error")
        )
        for name, table in sorted(tables.items())
    ]


def _instants(lab: Lab) -> dict[str, str | None]:
    """The last commit of every table, which its timeline alone knows."""
    from botocore.exceptions import BotoCoreError, ClientError

    from labctl.lake import Lake

    try:
        return {info.name: info.latest for info in Lake(lab.endpoints.objectstore).tables()}
    except (LabError, BotoCoreError, ClientError):
        return {}
