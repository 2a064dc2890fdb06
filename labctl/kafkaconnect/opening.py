"""The client that fits an endpoint."""

from __future__ import annotations

from labctl.config.endpoints import Connect
from labctl.kafkaconnect.client import SECONDS, ConnectClient

__all__ = ["connect_client"]


def connect_client(endpoint: Connect, *, seconds: float = SECONDS) -> ConnectClient:
    """Of a Kafka Connect that has an address, or of MSK Connect where its scheme says so.

    `seconds` is how long an answer may take.
    """
    scheme, _, region = endpoint.url.partition("://")
    if scheme != "msk-connect":
        return ConnectClient(endpoint.url, endpoint.login, seconds=seconds)
    from labctl.kafkaconnect.msk import MskConnectClient

    return MskConnectClient(region)
