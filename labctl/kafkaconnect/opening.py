"""The client that fits an endpoint."""

from __future__ import annotations

from labctl.config.endpoints import Connect
from labctl.kafkaconnect.client import ConnectClient

__all__ = ["connect_client"]


def connect_client(endpoint: Connect) -> ConnectClient:
    """Of a Kafka Connect that has an address, or of MSK Connect where its scheme says so."""
    scheme, _, region = endpoint.url.partition("://")
    if scheme != "msk-connect":
        return ConnectClient(endpoint.url)
    from labctl.kafkaconnect.msk import MskConnectClient

    return MskConnectClient(region)
