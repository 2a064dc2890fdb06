"""Rules for subnets, for egress, and for the plan's own security groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labctl.promote.network_connections import ANYWHERE, GROUPS, Flow, flows
from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []

_GROUP = "AWS::EC2::SecurityGroup"
_EGRESS = "AWS::EC2::SecurityGroupEgress"
_INGRESS = "AWS::EC2::SecurityGroupIngress"


@rule
def zones(subject: Subject) -> Iterator[Finding]:
    """Check that the subnets are in zones of the region, each in a different zone."""
    network, region = subject.promotion.profile.network, subject.promotion.profile.region
    if not network.subnets:
        yield subject.profile("network.subnets", "there is no subnet", "name private subnets")
    for zone in network.subnets:
        if zone[:-1] != region or not zone[-1].isalpha():
            yield subject.profile(
                f"network.subnets.{zone}",
                f"{zone} is no availability zone of {region}",
                f"use zones such as {region}a",
            )
    if len(set(network.subnets.values())) < len(network.subnets):
        yield subject.profile(
            "network.subnets", "one subnet is named for two zones", "give each zone its own"
        )


@rule
def way_out(subject: Subject) -> Iterator[Finding]:
    """Check that workers reach AWS's APIs, for which private subnets need NAT or endpoints."""
    network = subject.promotion.profile.network
    if network.egress == "none":
        yield subject.profile(
            "network.egress",
            "workers could not reach Secrets Manager, nor Spark S3",
            'use "nat" where the subnets have a NAT gateway, else "endpoints"',
        )
    if network.egress == "endpoints" and not network.route_tables:
        yield subject.profile(
            "network.route_tables",
            "the S3 endpoint needs the subnets' route tables",
            "name them",
        )


@rule
def open_ports(subject: Subject) -> Iterator[Finding]:
    """Check that security groups allow every connection of the lab, outbound and inbound."""
    resources = subject.plan.templates["foundation"]["Resources"]
    for flow in dict.fromkeys(flows(subject.promotion)):
        if not _let_out(resources, flow):
            yield subject.profile(
                "network.allow" if flow.target == ANYWHERE else flow.key,
                f"{flow.why} on port {flow.port}, and nothing lets that out of its security group",
                f"add an entry to network.allow with port {flow.port}",
            )
        if flow.target in GROUPS and not _let_in(resources, flow):
            yield subject.profile(
                flow.key,
                f"{flow.why} on port {flow.port}, which the group {flow.target} does not let in",
                f"open port {flow.port}",
            )


def _let_out(resources: dict[str, Any], flow: Flow) -> bool:
    group = {"Fn::GetAtt": [f"{flow.source}Group", "GroupId"]}
    inline = resources.get(f"{flow.source}Group", {}).get("Properties", {})
    rules = [r for r in inline.get("SecurityGroupEgress", []) if "CidrIp" in r]
    if any(_covers(r, flow.port) for r in rules if flow.target == ANYWHERE or _all(r)):
        return True
    return any(
        _covers(resource["Properties"], flow.port)
        and resource["Properties"]["GroupId"] == group
        and resource["Properties"].get("DestinationSecurityGroupId") == _reference(flow.target)
        for resource in resources.values()
        if resource["Type"] == _EGRESS
    )


def _let_in(resources: dict[str, Any], flow: Flow) -> bool:
    source = {"Fn::GetAtt": [f"{flow.source}Group", "GroupId"]}
    return any(
        _covers(resource["Properties"], flow.port)
        and resource["Properties"]["GroupId"] == _reference(flow.target)
        and resource["Properties"].get("SourceSecurityGroupId") == source
        for resource in resources.values()
        if resource["Type"] == _INGRESS
    )


def _reference(target: str) -> Any:
    return {"Fn::GetAtt": [f"{target}Group", "GroupId"]} if target in GROUPS else target


def _covers(rule_: dict[str, Any], port: int) -> bool:
    protocol = rule_.get("IpProtocol")
    return protocol == "-1" or (protocol == "tcp" and rule_["FromPort"] <= port <= rule_["ToPort"])


def _all(rule_: dict[str, Any]) -> bool:
    return bool(rule_["CidrIp"] == "0.0.0.0/0")
