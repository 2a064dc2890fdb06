"""Choice of the client for a Connect endpoint."""

from __future__ import annotations

from labctl.config.endpoints import Connect
from labctl.kafkaconnect.connect_client import SECONDS, ConnectClient

__all__ = ["connect_client"]


def connect_client(endpoint: Connect, *, seconds: float = SECONDS) -> ConnectClient:
    """Return a client of Kafka Connect, or of MSK Connect if the URL's scheme is `msk-connect`.

    `seconds` is the timeout of a Kafka Connect request.
    """
    scheme, _, region = endpoint.url.partition("://")
    if scheme != "msk-connect":
        return ConnectClient(endpoint.url, endpoint.login, seconds=seconds)
    from labctl.kafkaconnect.msk import MskConnectClient

    return MskConnectClient(region)
