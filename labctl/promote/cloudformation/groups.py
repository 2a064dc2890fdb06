"""Security groups and VPC endpoints: they allow exactly the flows and nothing else."""

from __future__ import annotations

from typing import Any

from labctl.promote.aws_names import logical
from labctl.promote.broker_logins import CLIENT_PORTS
from labctl.promote.cloudformation.template import Template, attribute, tag_list
from labctl.promote.network_connections import (
    ANYWHERE,
    GROUPS,
    HTTPS,
    Flow,
    flows,
    groups,
    interfaces,
    listener_ports,
)
from labctl.promote.promotion import Promotion

__all__ = ["add_endpoints", "add_groups"]


def add_groups(template: Template, promotion: Promotion) -> None:
    """Add one group per role, with rules as own resources so that groups may name each other."""
    for name, description in groups(promotion).items():
        template.add(
            f"{name}Group",
            "AWS::EC2::SecurityGroup",
            {
                "GroupName": f"{promotion.profile.prefix}-{name.lower()}",
                "GroupDescription": f"{description} of {promotion.profile.prefix}",
                "VpcId": promotion.profile.network.vpc,
                # AWS gives a group without an egress rule one that allows all egress.
                "SecurityGroupEgress": _allowed(promotion, name),
                "Tags": tag_list(promotion, f"{promotion.profile.prefix}-{name.lower()}"),
            },
        )
        template.output(f"{name}Group", attribute(f"{name}Group", "GroupId"), description)
    for flow in dict.fromkeys(flows(promotion)):
        if flow.target != ANYWHERE:
            _let(template, flow)
    _let_clients(template, promotion)


def _allowed(promotion: Promotion, name: str) -> list[dict[str, Any]]:
    if name not in ("Connect", "Spark", "Api"):
        # Servers only answer and need no egress: this rule allows no real traffic.
        return [
            {
                "IpProtocol": "icmp",
                "FromPort": 252,
                "ToPort": 86,
                "CidrIp": "255.255.255.255/32",
                "Description": "Nothing goes out",
            }
        ]
    return [
        {
            "IpProtocol": "tcp",
            "FromPort": port,
            "ToPort": port,
            "CidrIp": rule.cidr,
            "Description": "network.allow",
        }
        for rule in promotion.profile.network.allow
        for port in rule.ports
        if name != "Api" or port == HTTPS
    ]


def _let(template: Template, flow: Flow) -> None:
    source = attribute(f"{flow.source}Group", "GroupId")
    ours = flow.target in GROUPS
    target: Any = attribute(f"{flow.target}Group", "GroupId") if ours else flow.target
    name = logical(flow.source, "to", flow.target, str(flow.port))
    common = {
        "IpProtocol": "tcp",
        "FromPort": flow.port,
        "ToPort": flow.port,
        "Description": flow.why,
    }
    template.add(
        f"{name}Out",
        "AWS::EC2::SecurityGroupEgress",
        {"GroupId": source, "DestinationSecurityGroupId": target, **common},
    )
    template.add(
        f"{name}In",
        "AWS::EC2::SecurityGroupIngress",
        {"GroupId": target, "SourceSecurityGroupId": source, **common},
    )


def _let_clients(template: Template, promotion: Promotion) -> None:
    ports = {
        "Kafka": [CLIENT_PORTS[login] for login in promotion.profile.msk.authentication],
        "Databases": sorted({db.port for db in promotion.rds.values() if db.create}),
    }
    if promotion.config.api.enabled:
        ports["Balancer"] = [*listener_ports(promotion)]
    for group, opened in ports.items():
        for number, cidr in enumerate(promotion.profile.network.clients, start=1):
            for port in opened:
                template.add(
                    logical("client", str(number), "to", group, str(port)),
                    "AWS::EC2::SecurityGroupIngress",
                    {
                        "GroupId": attribute(f"{group}Group", "GroupId"),
                        "IpProtocol": "tcp",
                        "FromPort": port,
                        "ToPort": port,
                        "CidrIp": cidr,
                        "Description": "network.clients",
                    },
                )


def add_endpoints(template: Template, promotion: Promotion) -> None:
    """Add VPC endpoints, if the network has no other way to AWS's APIs."""
    profile = promotion.profile
    if profile.network.egress != "endpoints":
        return
    for service in interfaces(promotion):
        template.add(
            logical(service, "endpoint"),
            "AWS::EC2::VPCEndpoint",
            {
                "VpcEndpointType": "Interface",
                "ServiceName": f"com.amazonaws.{profile.region}.{service}",
                "VpcId": profile.network.vpc,
                "SubnetIds": sorted(profile.network.subnets.values()),
                "SecurityGroupIds": [attribute("EndpointsGroup", "GroupId")],
                "PrivateDnsEnabled": True,
            },
        )
    template.add(
        "S3Endpoint",
        "AWS::EC2::VPCEndpoint",
        {
            "VpcEndpointType": "Gateway",
            "ServiceName": f"com.amazonaws.{profile.region}.s3",
            "VpcId": profile.network.vpc,
            "RouteTableIds": list(profile.network.route_tables),
        },
    )
