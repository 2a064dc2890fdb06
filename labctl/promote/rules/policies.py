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
            if resource["Type"] != "AWS::IAM::Role":
                continue
            for policy in resource["Properties"].get("Policies", []):
                for problem in _stars(policy["PolicyDocument"]["Statement"]):
                    yield Finding(
                        f"cloudformation/{stack}.json",
                        f"Resources.{logical}.Policies.{policy['PolicyName']}",
                        problem,
                        "name the resource",
                    )


def _stars(statements: list[dict[str, Any]]) -> Iterator[str]:
    for statement in statements:
        for resource in statement["Resource"]:
            if isinstance(resource, str) and (resource == "*" or resource.endswith(":*")):
                yield f"it allows {', '.join(statement['Action'])} on {resource}"
        for action in statement["Action"]:
            if "*" in action:
                yield f"it allows every action {action}"
