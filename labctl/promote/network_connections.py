"""The lab's connections, from which security groups are made and against which they are checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from labctl.promote.broker_logins import CLIENT_PORTS, connect_authentication
from labctl.promote.promotion import Promotion
from labctl.services import api_service, cache_service

__all__ = [
    "ANYWHERE",
    "API_PORT",
    "CACHE_PORT",
    "GROUPS",
    "HTTP",
    "HTTPS",
    "Flow",
    "flows",
    "groups",
    "interfaces",
    "listener_ports",
    "registry_port",
]

GROUPS = {
    "Databases": "The source databases that labctl makes",
    "Kafka": "The brokers of MSK",
    "Connect": "The workers of MSK Connect",
    "Spark": "EMR",
    "Endpoints": "VPC endpoints of the APIs of AWS",
    "Balancer": "The load balancer of the lake API",
    "Api": "The tasks of the lake API",
    "Cache": "ElastiCache",
}
"""Security groups by name. `groups` returns those that a plan has."""

ANYWHERE = "anywhere"
"""A target that is an address and has no security group in the plan."""
HTTP, HTTPS = 80, 443
API_PORT = api_service.SERVICE.ports["http"]
CACHE_PORT = cache_service.SERVICE.ports["redis"]


@dataclass(frozen=True)
class Flow:
    """A TCP connection from a security group to a port of a target.

    The target is a name in `GROUPS`, an existing group's id, or `ANYWHERE`.
    """

    source: str
    target: str
    port: int
    why: str
    key: str
    """The key of the profile that causes it."""


def listener_ports(promotion: Promotion) -> tuple[int, ...]:
    """Return the ports of the lake API's load balancer; the last answers, the others redirect."""
    return (HTTP, HTTPS) if promotion.profile.api.certificate else (HTTP,)


def registry_port(url: str) -> int:
    """Return the port of an HTTP or HTTPS address."""
    parts = urlsplit(url)
    return parts.port or (HTTPS if parts.scheme == "https" else HTTP)


def groups(promotion: Promotion) -> dict[str, str]:
    """Return the security groups of `GROUPS` that the plan makes."""
    api = promotion.config.api.enabled
    there = {
        "Endpoints": promotion.profile.network.egress == "endpoints",
        "Balancer": api,
        "Api": api,
        "Cache": api and promotion.config.cache.enabled,
    }
    return {name: words for name, words in GROUPS.items() if there.get(name, True)}


def interfaces(promotion: Promotion) -> tuple[str, ...]:
    """Return the APIs that need an interface endpoint without NAT; S3 has a gateway instead."""
    shared = ("secretsmanager", "logs", "sts", "glue")
    # Fargate fetches its image through the last two.
    return (*shared, "athena", "ecr.api", "ecr.dkr") if promotion.config.api.enabled else shared


def flows(promotion: Promotion) -> Iterator[Flow]:
    """Yield every connection that the promoted lab makes."""
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
    if promotion.config.api.enabled:
        yield Flow("Balancer", "Api", API_PORT, "the load balancer asks the lake API", "api")
        yield Flow("Api", apis, HTTPS, "Api calls the APIs of AWS", "network.egress")
        # S3 also holds the layers of its image.
        yield Flow("Api", ANYWHERE, HTTPS, "Api reads S3", "network.allow")
        if promotion.config.cache.enabled:
            yield Flow("Api", "Cache", CACHE_PORT, "the lake API asks its cache", "api.cache_node")
