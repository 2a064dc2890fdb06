"""Putting a template together, with the tags every resource gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labctl.promote.names import CREATOR_TAG, Names
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
    """A template as CloudFormation gets it with a request."""
    return json.dumps(template)


@dataclass
class Template:
    """A template in the making. What is added twice is a mistake, and raises."""

    description: str
    parameters: Json = field(default_factory=dict)
    resources: Json = field(default_factory=dict)
    outputs: Json = field(default_factory=dict)

    def parameter(self, name: str, type_: str, description: str) -> Json:
        """A value of an earlier stack, put in by apply under the same name."""
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
        """A resource; `keep` is its DeletionPolicy where it holds data. Returns `name`."""
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
