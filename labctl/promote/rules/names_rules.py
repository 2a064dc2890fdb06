"""Rules for names that each service accepts, checked on the templates and requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from labctl.promote.aws_names import Names
from labctl.promote.cloudformation.template import as_sent
from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []


@dataclass(frozen=True)
class Limit:
    """The pattern of a resource type's names, and its description."""

    property_: str
    pattern: re.Pattern[str]
    words: str


def _limit(property_: str, pattern: str, words: str) -> Limit:
    return Limit(property_, re.compile(pattern), words)


LIMITS = {
    "AWS::RDS::DBInstance": _limit(
        "DBInstanceIdentifier",
        r"(?!.*--)[a-z][a-z0-9-]{0,61}[a-z0-9]",
        "2 to 63 lower-case letters, digits and single hyphens, a letter first",
    ),
    "AWS::RDS::DBParameterGroup": _limit(
        "DBParameterGroupName",
        r"(?!.*--)[a-z][a-z0-9-]{0,253}[a-z0-9]",
        "lower-case letters, digits and single hyphens, a letter first",
    ),
    "AWS::MSK::Cluster": _limit("ClusterName", r".{1,64}", "1 to 64 characters"),
    "AWS::MSK::ServerlessCluster": _limit("ClusterName", r".{1,64}", "1 to 64 characters"),
    "AWS::KafkaConnect::CustomPlugin": _limit(
        "Name", r"[0-9A-Za-z][0-9A-Za-z-]{0,127}", "1 to 128 letters, digits and hyphens"
    ),
    "AWS::KafkaConnect::WorkerConfiguration": _limit(
        "Name", r"[0-9A-Za-z][0-9A-Za-z-]{0,127}", "1 to 128 letters, digits and hyphens"
    ),
    "AWS::IAM::Role": _limit(
        "RoleName", r"[\w+=,.@-]{1,64}", "1 to 64 letters, digits and +=,.@_-"
    ),
    "AWS::S3::Bucket": _limit(
        "BucketName",
        r"(?!xn--|sthree-)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
        "3 to 63 lower-case letters, digits and hyphens",
    ),
    "AWS::SecretsManager::Secret": _limit(
        "Name", r"[\w/+=.@-]{1,505}", "1 to 505 letters, digits and /_+=.@-"
    ),
    "AWS::ECR::Repository": _limit(
        "RepositoryName",
        r"[a-z0-9]+([._-][a-z0-9]+)*",
        "lower-case letters, digits and single separators",
    ),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": _limit(
        "Name",
        r"(?!internal-)[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?",
        "1 to 32 letters, digits and hyphens, not internal-…",
    ),
    "AWS::ElasticLoadBalancingV2::TargetGroup": _limit(
        "Name",
        r"[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?",
        "1 to 32 letters, digits and hyphens",
    ),
    "AWS::ElastiCache::ReplicationGroup": _limit(
        "ReplicationGroupId",
        r"(?!.*--)[a-z]([a-z0-9-]{0,38}[a-z0-9])?",
        "1 to 40 lower-case letters, digits and single hyphens, a letter first",
    ),
    "AWS::EMRServerless::Application": _limit(
        "Name", r"[A-Za-z0-9._/#-]{1,64}", "1 to 64 letters, digits and ._/#-"
    ),
    "AWS::EC2::SecurityGroup": _limit(
        "GroupName", r"(?!sg-)[\w .:/()#,@\[\]+=&;{}!$*-]{1,255}", "1 to 255 characters, not sg-…"
    ),
}
CONNECTOR = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,127}")
TEMPLATE_BYTES = 51_200
"""Size of the largest template that a request may carry."""


@rule
def resource_names(subject: Subject) -> Iterator[Finding]:
    for stack, template in subject.plan.templates.items():
        for logical, resource in template["Resources"].items():
            limit = LIMITS.get(resource["Type"])
            if limit is None:
                continue
            name = resource["Properties"].get(limit.property_)
            if isinstance(name, str) and not limit.pattern.fullmatch(name):
                yield Finding(
                    f"cloudformation/{stack}.json",
                    f"Resources.{logical}.Properties.{limit.property_}",
                    f"{name!r} ({len(name)} characters) is not {limit.words}",
                    "shorten or change the profile's prefix, or the file's name",
                )


@rule
def connector_names(subject: Subject) -> Iterator[Finding]:
    for connector in subject.promotion.connectors:
        name = Names.connector(connector.name)
        if not CONNECTOR.fullmatch(name):
            yield Finding(
                f"connectors/{connector.file.path.name}",
                "(its name)",
                f"{name!r} ({len(name)} characters) is no name for MSK Connect",
                "use 128 letters, digits, hyphens and underscores at most",
            )


@rule
def tags(subject: Subject) -> Iterator[Finding]:
    """Check tags' sizes and keys: `aws:…` is reserved for AWS, `labctl` for this tool."""
    for key, value in subject.promotion.profile.tags.items():
        if key.lower().startswith("aws:") or key == "labctl" or len(key) > 128 or len(value) > 256:
            yield subject.profile(
                f"tags.{key}",
                "a tag's key is 128 characters at most, its value 256, and neither `labctl` nor "
                "`aws:…` is free",
                "use another",
            )


@rule
def template_size(subject: Subject) -> Iterator[Finding]:
    for stack, template in subject.plan.templates.items():
        size = len(as_sent(template).encode())
        if size > TEMPLATE_BYTES:
            yield Finding(
                f"cloudformation/{stack}.json",
                "(its size)",
                f"{size} bytes; CloudFormation takes {TEMPLATE_BYTES} with a request",
                "promote fewer tables or connectors with one profile",
            )
