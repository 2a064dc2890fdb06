"""Something wrong with the lake API for every rule about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labctl.promote.plan import Plan
from tests.unit.promote.bad_examples import Bad, in_template

__all__ = ["API", "BAD_API", "HTTPS"]

API = {"api.enabled": True, "cache.enabled": True}
"""What `lab.toml` says of a lab with the lake API and its cache."""
HTTPS = {"api.certificate": "arn:aws:acm:us-east-1:111122223333:certificate/0a-1b"}
"""A profile whose load balancer has a certificate."""


def in_container(change: Callable[[dict[str, Any]], None]) -> Callable[[Plan], Plan]:
    def changed(resources: dict[str, Any]) -> None:
        change(resources["Task"]["Properties"]["ContainerDefinitions"][0])

    return in_template("api", changed)


def of_service(**changes: Any) -> Callable[[Plan], Plan]:
    def changed(resources: dict[str, Any]) -> None:
        network = resources["Service"]["Properties"]["NetworkConfiguration"]
        network["AwsvpcConfiguration"].update(changes)

    return in_template("api", changed)


def of_cache(**changes: Any) -> Callable[[Plan], Plan]:
    return in_template("api", lambda resources: resources["Cache"]["Properties"].update(changes))


BAD_API = [
    Bad("api_size", "api.memory_mib", "512 CPU units and 512", {"api.memory_mib": 512}, lab=API),
    Bad("api_size", "api.memory_mib", "6 workers need 1056 MiB", lab=API | {"api.workers": 6}),
    Bad("api_size", "api.min_tasks", "the least (5) is above", {"api.min_tasks": 5}, lab=API),
    Bad(
        "api_zones",
        "network.subnets",
        "needs 2 zones, here is 1",
        {"network.subnets": {"us-east-1a": "subnet-0a1b2c3d"}},
        lab=API,
    ),
    Bad(
        "api_has_views",
        "gold/tickit_demo/refined_tickit_public_users.sql: (the file)",
        "reads the view tickit_demo.refined_tickit_public_users",
        lab=API,
        removed="gold/tickit_demo/refined_tickit_public_users.sql",
    ),
    Bad(
        "api_settings",
        "cloudformation/api.json: Resources.Task.Properties",
        "no setting REDIS_PASWORD",
        lab=API,
        plan=in_container(lambda c: c["Secrets"][0].update(Name="REDIS_PASWORD")),
    ),
    Bad(
        "api_private",
        "cloudformation/api.json: Resources.Service.Properties",
        "public addresses",
        lab=API,
        plan=of_service(AssignPublicIp="ENABLED"),
    ),
    Bad(
        "api_private",
        "cloudformation/api.json: Resources.Service.Properties",
        "subnet-0 is none of the profile's",
        lab=API,
        plan=of_service(Subnets=["subnet-0"]),
    ),
    Bad(
        "api_private",
        "cloudformation/api.json: Resources.Balancer.Properties.Scheme",
        "face the internet",
        lab=API,
        plan=in_template("api", lambda r: r["Balancer"]["Properties"].pop("Scheme")),
    ),
    Bad("api_by_tls", "api.certificate", "speaks plain HTTP", lab=API),
    Bad(
        "api_by_tls",
        "cloudformation/api.json: Resources.HttpsListener.Properties.SslPolicy",
        "an old version of TLS",
        HTTPS,
        lab=API,
        plan=in_template("api", lambda r: r["HttpsListener"]["Properties"].pop("SslPolicy")),
    ),
    Bad(
        "api_by_tls",
        "cloudformation/api.json: Resources.Listener.Properties.DefaultActions",
        "answers without TLS",
        HTTPS,
        lab=API,
        plan=in_template(
            "api",
            lambda r: r["Listener"]["Properties"].update(
                DefaultActions=[{"Type": "forward", "TargetGroupArn": {"Ref": "Targets"}}]
            ),
        ),
    ),
    Bad(
        "api_cache_guarded",
        "cloudformation/api.json: Resources.Cache.Properties.TransitEncryptionEnabled",
        "not be encrypted",
        lab=API,
        plan=of_cache(TransitEncryptionEnabled=False),
    ),
    Bad(
        "api_cache_guarded",
        "cloudformation/api.json: Resources.Cache.Properties.AtRestEncryptionEnabled",
        "not be encrypted",
        lab=API,
        plan=of_cache(AtRestEncryptionEnabled=None),
    ),
    Bad(
        "api_cache_guarded",
        "cloudformation/api.json: Resources.Cache.Properties.AuthToken",
        "in clear",
        lab=API,
        plan=of_cache(AuthToken="hunter2hunter2hunter2"),
    ),
    Bad(
        "api_cache_guarded",
        "cloudformation/api.json: Resources.Task.Properties",
        "REDIS_PASSWORD is in clear",
        lab=API,
        plan=in_container(
            lambda c: c["Environment"].append({"Name": "REDIS_PASSWORD", "Value": "hunter2"})
        ),
    ),
    Bad(
        "resource_names",
        "cloudformation/api.json: Resources.Targets.Properties.Name",
        "is not 1 to 32 letters",
        {"prefix": "a-prefix-of-thirty-characters"},
        lab=API,
    ),
    Bad(
        "resource_names",
        "cloudformation/api.json: Resources.Balancer.Properties.Name",
        "not internal-",
        {"prefix": "internal-lab"},
        lab=API,
    ),
    Bad(
        "resource_names",
        "cloudformation/api.json: Resources.Cache.Properties.ReplicationGroupId",
        "single hyphens",
        {"prefix": "two--hyphens"},
        lab=API,
    ),
    Bad(
        "resource_names",
        "cloudformation/foundation.json: Resources.ApiImages.Properties.RepositoryName",
        "single separators",
        {"prefix": "two--hyphens"},
        lab=API,
    ),
    Bad(
        "open_ports",
        "api.cache_node",
        "asks its cache on port 6379, which the group Cache does not let in",
        lab=API,
        plan=in_template("foundation", lambda r: r.pop("ApiToCache6379In")),
    ),
]
