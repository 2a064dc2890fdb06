"""Building blocks of a template, and the tags that every resource gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labctl.promote.aws_names import CREATOR_TAG, Names
from labctl.promote.promotion import Promotion

__all__ = ["Json", "Template", "as_sent", "attribute", "ref", "tag_list", "tag_map"]

Json = dict[str, Any]


def ref(name: str) -> Json:
    return {"Ref": name}


def attribute(name: str, attribute_: str) -> Json:
    return {"Fn::GetAtt": [name, attribute_]}


def tag_map(promotion: Promotion) -> dict[str, str]:
    return {**promotion.profile.tags, CREATOR_TAG: Names.of(promotion).creator}


def tag_list(promotion: Promotion, name: str | None = None) -> list[Json]:
    tags = tag_map(promotion) | ({"Name": name} if name else {})
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def as_sent(template: Mapping[str, Any]) -> str:
    """Return a template as the text that a CloudFormation request carries."""
    return json.dumps(template)


@dataclass
class Template:
    """A template that is being built. Adding a resource twice raises AssertionError."""

    description: str
    parameters: Json = field(default_factory=dict)
    resources: Json = field(default_factory=dict)
    outputs: Json = field(default_factory=dict)

    def parameter(self, name: str, type_: str, description: str) -> Json:
        """Add a parameter and return its Ref; apply sets it from the output of the same name."""
        self.parameters[name] = {"Type": type_, "Description": description}
        return ref(name)

    def add(
        self,
        name: str,
        type_: str,
        properties: Mapping[str, Any],
        *,
        keep: str | None = None,
        after: list[str] | None = None,
    ) -> str:
        """Add a resource and return `name`. `keep` is its DeletionPolicy if it holds data."""
        if name in self.resources:
            raise AssertionError(f"two resources are called {name}")
        resource: Json = {"Type": type_}
        if after:
            resource["DependsOn"] = after
        if keep:
            resource |= {"DeletionPolicy": keep, "UpdateReplacePolicy": keep}
        self.resources[name] = resource | {"Properties": dict(properties)}
        return name

    def output(self, name: str, value: Any, description: str) -> None:
        self.outputs[name] = {"Description": description, "Value": value}

    def body(self) -> Json:
        parts = {
            "Parameters": self.parameters,
            "Resources": self.resources,
            "Outputs": self.outputs,
        }
        return {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Description": self.description,
            **{key: value for key, value in parts.items() if value},
        }
