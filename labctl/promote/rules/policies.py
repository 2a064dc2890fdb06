"""IAM: no star where a resource has a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labctl.promote.rules.registry import Finding, Subject, rule

__all__: list[str] = []


@rule
def named_resources(subject: Subject) -> Iterator[Finding]:
    """A policy's resources are ARNs, and its actions name what they do."""
    for stack, template in subject.plan.templates.items():
        for logical, resource in template["Resources"].items():
            for place, document in _documents(resource):
                for problem in _stars(document["Statement"]):
                    yield Finding(
                        f"cloudformation/{stack}.json",
                        f"Resources.{logical}.{place}",
                        problem,
                        "name the resource",
                    )


def _documents(resource: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a resource allows, and where in it."""
    properties = resource["Properties"]
    if resource["Type"] == "AWS::IAM::Role":
        for policy in properties.get("Policies", []):
            yield f"Policies.{policy['PolicyName']}", policy["PolicyDocument"]
    elif resource["Type"] == "AWS::IAM::ManagedPolicy":
        yield "PolicyDocument", properties["PolicyDocument"]


_WITHOUT_RESOURCE = ("ecr:GetAuthorizationToken",)
"""Actions for which IAM knows no resource."""


def _stars(statements: list[dict[str, Any]]) -> Iterator[str]:
    for statement in statements:
        if all(action in _WITHOUT_RESOURCE for action in statement["Action"]):
            continue
        for resource in statement["Resource"]:
            if isinstance(resource, str) and (resource == "*" or resource.endswith(":*")):
                yield f"it allows {', '.join(statement['Action'])} on {resource}"
        for action in statement["Action"]:
            if "*" in action:
                yield f"it allows every action {action}"
