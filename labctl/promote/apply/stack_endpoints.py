"""The endpoints of a promoted lab, from the outputs of its stacks."""

from __future__ import annotations

from labctl.config.promoted import (
    PromotedDatabase,
    PromotedEndpoints,
    PromotedKafka,
    PromotedStore,
)
from labctl.promote.broker_logins import connect_authentication
from labctl.promote.outputs import Outputs
from labctl.promote.promotion import Promotion

__all__ = ["promoted_endpoints"]


def promoted_endpoints(promotion: Promotion, outputs: Outputs) -> PromotedEndpoints:
    """Return the endpoints that are known from the stages made so far."""
    profile, data = promotion.profile, outputs.get("data", {})
    databases = {}
    for engine, database in promotion.rds.items():
        host = data.get(f"{engine.capitalize()}Host") if database.create else database.host
        secret = (
            data.get(f"{engine.capitalize()}Admin") if database.create else database.admin_secret
        )
        if host and secret:
            databases[engine] = PromotedDatabase(
                host=host, port=database.port, database=database.database, secret=secret
            )
    servers = outputs.get("kafka", {}).get("BootstrapServers")
    login = connect_authentication(profile.msk)
    kafka = (
        PromotedKafka(bootstrap_servers=servers, authentication="tls" if login == "none" else login)
        if servers
        else None
    )
    return PromotedEndpoints(
        servers=databases,
        kafka=kafka,
        registry_url=profile.registry.url.rstrip("/"),
        objectstore=PromotedStore(bucket=profile.lake.bucket, region=profile.region),
    )
