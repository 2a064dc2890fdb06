"""Who has to reach whom: what the security groups are made from, and checked against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from labctl.promote.kafka import CLIENT_PORTS, connect_authentication
from labctl.promote.promotion import Promotion

__all__ = ["ANYWHERE", "GROUPS", "HTTPS", "Flow", "flows", "registry_port"]

GROUPS = {
    "Databases": "The source databases that labctl makes",
    "Kafka": "The brokers of MSK",
    "Connect": "The workers of MSK Connect",
    "Spark": "EMR",
    "Endpoints": "VPC endpoints of the APIs of AWS",
}
"""Security groups by name; `Endpoints` only where the plan makes VPC endpoints."""

ANYWHERE = "anywhere"
"""A target without a security group of the plan's: an address."""
HTTPS = 443


@dataclass(frozen=True)
class Flow:
    """TCP from a group to a port of another: a name of `GROUPS`, an existing group's id, or
    `ANYWHERE`."""

    source: str
    target: str
    port: int
    why: str
    key: str
    """The key of the profile that causes it."""


def registry_port(url: str) -> int:
    """The port of an http address."""
    parts = urlsplit(url)
    return parts.port or (HTTPS if parts.scheme == "https" else 80)


def flows(promotion: Promotion) -> Iterator[Flow]:
    """Every connection the promoted lab makes."""
    profile = promotion.profile
    for engine, database in promotion.rds.items():
        target = "Databases" if database.create else database.security_group or ANYWHERE
        why = f"Connect reads {engine}"
        yield Flow("Connect", target, database.port, why, f"rds.{engine}.port")
    brokers = CLIENT_PORTS[connect_authentication(profile.msk)]
    registry = profile.registry.security_group or ANYWHERE
    apis = "Endpoints" if profile.network.egress == "endpoints" else ANYWHERE
    for source in ("Connect", "Spark"):
        yield Flow(source, "Kafka", brokers, f"{source} talks to the brokers", "msk.authentication")
        port = registry_port(profile.registry.url)
        yield Flow(source, registry, port, f"{source} asks for schemas", "registry.url")
        yield Flow(source, apis, HTTPS, f"{source} calls the APIs of AWS", "network.egress")
        yield Flow(source, ANYWHERE, HTTPS, f"{source} reads and writes S3", "network.allow")
