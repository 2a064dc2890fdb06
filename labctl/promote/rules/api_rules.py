"""Rules for the lake API: its tasks can start, find their tables and stay private."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labctl.promote.cloudformation.api_stack import TLS_POLICY
from labctl.promote.lake_api_settings import OF_BOTO3, api_views
from labctl.promote.rules.rule import Finding, Subject, rule
from labctl.services.api_service import memory_mib
from labctl.tables import GOLD

__all__: list[str] = []

_FILE = "cloudformation/api.json"
_GIB = 1024
_MEMORY: dict[int, tuple[int, ...]] = {
    256: (512, 1 * _GIB, 2 * _GIB),
    512: tuple(range(1 * _GIB, 4 * _GIB + 1, _GIB)),
    1024: tuple(range(2 * _GIB, 8 * _GIB + 1, _GIB)),
    2048: tuple(range(4 * _GIB, 16 * _GIB + 1, _GIB)),
    4096: tuple(range(8 * _GIB, 30 * _GIB + 1, _GIB)),
}
"""The memory sizes that Fargate offers for a task's CPU units, in MiB."""
_BALANCER_ZONES = 2


def _of(subject: Subject, type_: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and properties of the API stack's resources of a type."""
    template = subject.plan.templates.get("api", {"Resources": {}})
    for name, resource in template["Resources"].items():
        if resource["Type"] == type_:
            yield f"Resources.{name}.Properties", resource["Properties"]


@rule
def api_size(subject: Subject) -> Iterator[Finding]:
    """Check that Fargate has the task size, that workers fit, and that task limits are in order."""
    config, api = subject.promotion.config, subject.promotion.profile.api
    if not config.api.enabled:
        return
    sizes = _MEMORY[api.cpu]
    needed = memory_mib(config.api)
    if api.memory_mib not in sizes:
        yield subject.profile(
            "api.memory_mib",
            f"Fargate has no task with {api.cpu} CPU units and {api.memory_mib} MiB",
            f"use one of {', '.join(map(str, sizes))}",
        )
    elif api.memory_mib < needed:
        yield subject.profile(
            "api.memory_mib",
            f"{config.api.workers} workers need {needed} MiB",
            "give a task more memory, or [api] fewer workers and the service more tasks",
        )
    if api.min_tasks > api.max_tasks:
        yield subject.profile(
            "api.min_tasks",
            f"the least ({api.min_tasks}) is above the most ({api.max_tasks})",
            "lower it",
        )


@rule
def api_zones(subject: Subject) -> Iterator[Finding]:
    """Check that the application load balancer has at least two zones."""
    zones = len(subject.promotion.profile.network.subnets)
    if subject.promotion.config.api.enabled and zones < _BALANCER_ZONES:
        yield subject.profile(
            "network.subnets",
            f"the lake API's load balancer needs {_BALANCER_ZONES} zones, here is {zones}",
            "name a subnet in another zone",
        )


@rule
def api_has_views(subject: Subject) -> Iterator[Finding]:
    """Check that `gold/` has the views that the service reads, over tables of the lab."""
    if not subject.promotion.config.api.enabled:
        return
    there = {view.name for view in subject.promotion.lake_views}
    for name in api_views():
        if name not in there:
            yield Finding(
                f"{GOLD}/{name.replace('.', '/')}.sql",
                "(the file)",
                f"the lake API reads the view {name}, and the lab has none over its tables",
                "write it, as the project's own gold/ has it, or leave [api] out",
            )


@rule
def api_settings(subject: Subject) -> Iterator[Finding]:
    """Check that a task's environment variables are settings that the service reads."""
    for place, task in _of(subject, "AWS::ECS::TaskDefinition"):
        from lakeapi.settings import Settings, environment_name

        known = {environment_name(field) for field in Settings.model_fields} | {*OF_BOTO3}
        for container in task["ContainerDefinitions"]:
            for one in [*container["Environment"], *container.get("Secrets", [])]:
                if one["Name"] not in known:
                    yield Finding(
                        _FILE,
                        f"{place}.ContainerDefinitions",
                        f"the lake API has no setting {one['Name']}",
                        f"use one of {', '.join(sorted(known))}",
                    )


@rule
def api_private(subject: Subject) -> Iterator[Finding]:
    """Check that nothing has a public address, and that only the profile's subnets are used."""
    subnets = set(subject.promotion.profile.network.subnets.values())
    used: list[tuple[str, list[str]]] = []
    for place, service in _of(subject, "AWS::ECS::Service"):
        network = service["NetworkConfiguration"]["AwsvpcConfiguration"]
        used.append((place, network["Subnets"]))
        if network.get("AssignPublicIp") != "DISABLED":
            yield Finding(
                _FILE, f"{place}.NetworkConfiguration", "its tasks would have public addresses",
                "say AssignPublicIp: DISABLED",
            )  # fmt: skip
    for place, balancer in _of(subject, "AWS::ElasticLoadBalancingV2::LoadBalancer"):
        used.append((place, balancer["Subnets"]))
        if balancer.get("Scheme") != "internal":
            yield Finding(
                _FILE, f"{place}.Scheme", "the load balancer would face the internet",
                "say internal",
            )  # fmt: skip
    for place, group in _of(subject, "AWS::ElastiCache::SubnetGroup"):
        used.append((place, group["SubnetIds"]))
    for place, named in used:
        for subnet in named:
            if subnet not in subnets:
                yield Finding(
                    _FILE, place, f"{subnet} is none of the profile's private subnets",
                    "use those of network.subnets",
                )  # fmt: skip


@rule
def api_by_tls(subject: Subject) -> Iterator[Finding]:
    """Check that clients reach the lake API over TLS, unless the profile allows plain HTTP."""
    api = subject.promotion.profile.api
    for place, listener in _of(subject, "AWS::ElasticLoadBalancingV2::Listener"):
        answers = any(action["Type"] != "redirect" for action in listener["DefaultActions"])
        if listener["Protocol"] == "HTTPS":
            if listener.get("SslPolicy") != TLS_POLICY:
                yield Finding(
                    _FILE, f"{place}.SslPolicy", "clients could choose an old version of TLS",
                    f"use {TLS_POLICY}",
                )  # fmt: skip
        elif answers and api.certificate:
            yield Finding(
                _FILE, f"{place}.DefaultActions", "it answers without TLS, with a certificate",
                "redirect to HTTPS",
            )  # fmt: skip
        elif answers and not api.plain_http:
            yield subject.profile(
                "api.certificate",
                "without a certificate the lake API's load balancer speaks plain HTTP",
                "give the ARN of one in ACM, or say plain_http = true if nobody else is in the VPC",
            )


@rule
def api_cache_guarded(subject: Subject) -> Iterator[Finding]:
    """Check that the cache is encrypted in transit and at rest, with no password in clear text."""
    for place, cache in _of(subject, "AWS::ElastiCache::ReplicationGroup"):
        for key in ("TransitEncryptionEnabled", "AtRestEncryptionEnabled"):
            if cache.get(key) is not True:
                yield Finding(_FILE, f"{place}.{key}", "the cache would not be encrypted", "set it")
        token = cache.get("AuthToken")
        if not isinstance(token, dict) or "{{resolve:secretsmanager:" not in str(token):
            yield Finding(
                _FILE, f"{place}.AuthToken", "the cache would have no password, or one in clear",
                "refer to its secret",
            )  # fmt: skip
    for place, task in _of(subject, "AWS::ECS::TaskDefinition"):
        for container in task["ContainerDefinitions"]:
            for one in container["Environment"]:
                if one["Name"].endswith("PASSWORD"):
                    yield Finding(
                        _FILE, f"{place}.ContainerDefinitions", f"{one['Name']} is in clear",
                        "give it to the container as one of its Secrets",
                    )  # fmt: skip
