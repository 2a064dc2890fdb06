"""Rules for IAM: named resources, actions and principals; no runner can replace its program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from labctl.promote.artifacts import LOGS
from labctl.promote.rules.rule import Finding, Subject, rule
from lakecontract.lake_folders import OWN_FOLDERS

__all__: list[str] = []

_WITHOUT_RESOURCE = ("ecr:GetAuthorizationToken",)
"""Actions that IAM cannot restrict to a resource."""
_MANAGED = ("service-role/AmazonEMRServicePolicy_v2",)
"""AWS's own policies that a role may have; EMR's covers only resources with its tag."""
_READS = re.compile(r"s3:(Get|List|Head)\w+")
_ARN_PARTS = 6


@rule
def named_resources(subject: Subject) -> Iterator[Finding]:
    """Check that a policy names its resources by ARN and its actions without stars."""
    for file, place, statement in _allowed(subject):
        actions = _texts(statement.get("Action", []))
        for key in ("NotAction", "NotResource", "NotPrincipal"):
            if key in statement:
                yield Finding(file, place, f"it allows all but {key}", "name what it allows")
        for action in actions:
            if "*" in action:
                yield Finding(file, place, f"it allows every action {action}", "name the actions")
        if all(action in _WITHOUT_RESOURCE for action in actions):
            continue
        for resource in _texts(statement.get("Resource", [])):
            if _is_wide(resource):
                yield Finding(
                    file,
                    place,
                    f"it allows {', '.join(actions)} on {resource}",
                    "name the resource, or a folder of it",
                )


@rule
def named_principals(subject: Subject) -> Iterator[Finding]:
    """Check that roles and resource policies allow no principal but services of AWS."""
    for file, place, statement in _allowed(subject):
        principal = statement.get("Principal", {})
        if "*" in str(principal) or not isinstance(principal, dict) or set(principal) - {"Service"}:
            yield Finding(
                file, place, f"it allows {principal} to {statement.get('Action')}",
                "name a service of AWS",
            )  # fmt: skip


@rule
def passed_roles(subject: Subject) -> Iterator[Finding]:
    """Check that a role may be passed only to a named service."""
    for file, place, statement in _allowed(subject):
        passes = any(one.lower() == "iam:passrole" for one in _texts(statement.get("Action", [])))
        if passes and "iam:PassedToService" not in str(statement.get("Condition")):
            yield Finding(
                file, place, "it may pass a role to any service",
                "say to which, with the condition iam:PassedToService",
            )  # fmt: skip


@rule
def managed_policies(subject: Subject) -> Iterator[Finding]:
    """Check for AWS's managed policies, which allow more than a role of the lab needs."""
    for stack, template in subject.plan.templates.items():
        for logical, resource in template["Resources"].items():
            for arn in resource.get("Properties", {}).get("ManagedPolicyArns", []):
                if not str(arn).endswith(_MANAGED):
                    yield Finding(
                        f"cloudformation/{stack}.json",
                        f"Resources.{logical}.Properties.ManagedPolicyArns",
                        f"the role would have all of {arn}",
                        "write what it needs into a policy of its own",
                    )


@rule
def written_folders(subject: Subject) -> Iterator[Finding]:
    """Check that nobody may replace programs, and that only the writer of silver deletes files."""
    lake = subject.promotion.profile.lake
    deletable = {"silver", *OWN_FOLDERS, *(s.topics_dir for s in subject.promotion.sinks)}
    for file, place, statement in _allowed(subject):
        for action in _texts(statement.get("Action", [])):
            if not action.startswith("s3:") or _READS.fullmatch(action):
                continue
            for resource in _texts(statement.get("Resource", [])):
                bucket, _, key = resource.partition(":::")[2].partition("/")
                folder = key.removesuffix("/*")
                if bucket == lake.artifacts and folder != LOGS:
                    yield Finding(
                        file, place, f"it allows {action} where programs lie: {resource}",
                        f"allow it in {LOGS}/ alone",
                    )  # fmt: skip
                elif "Delete" in action and (
                    action != "s3:DeleteObject" or "SparkRole" not in place
                    or bucket != lake.bucket or folder not in deletable
                ):  # fmt: skip
                    yield Finding(
                        file, place, f"it allows {action} on {resource}",
                        "leave it out: only Spark replaces files, in folders of its own",
                    )  # fmt: skip


@rule
def bronze_named(subject: Subject) -> Iterator[Finding]:
    """Check that bronze's folder has a literal name for a policy and is no other layer's folder."""
    others = {"silver", *OWN_FOLDERS}
    for sink in subject.promotion.sinks:
        if (first := sink.topics_dir.split("/")[0]) in others:
            yield Finding(
                f"connectors/{sink.file.path.name}",
                "topics.dir",
                f"who writes bronze could write {first}/, which the Spark application keeps",
                "name another folder",
            )
        if not re.fullmatch(r"[\w!.()'-]+(/[\w!.()'-]+)*", sink.topics_dir):
            yield Finding(
                f"connectors/{sink.file.path.name}",
                "topics.dir",
                f"no policy can be about the folder {sink.topics_dir!r}",
                "write its name: letters, digits, / and -_.!'() alone, and no reference",
            )


def _allowed(subject: Subject) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield file, place and statement for every statement of the plan that allows something."""
    for stack, template in subject.plan.templates.items():
        for logical, resource in template["Resources"].items():
            for place, statement in _statements(resource.get("Properties", {})):
                if statement.get("Effect") != "Deny":
                    yield f"cloudformation/{stack}.json", f"Resources.{logical}{place}", statement


def _statements(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for held in value:
            yield from _statements(held, place)
    elif isinstance(value, dict):
        if "Statement" in value:
            found = value["Statement"]
            yield from ((place, one) for one in (found if isinstance(found, list) else [found]))
            return
        name = f".{value['PolicyName']}" if "PolicyName" in value else ""
        for key, held in value.items():
            below = name if key == "PolicyDocument" and name else f".{key}"
            yield from _statements(held, f"{place}{below}")


def _texts(value: Any) -> list[str]:
    """Return the strings of a statement's member; for a function, those of its arguments."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        # These two functions refer to one resource of the templates.
        named = ("Ref", "Fn::GetAtt")
        return [text for key, held in value.items() if key not in named for text in _texts(held)]
    return [text for held in value for text in _texts(held)]


def _is_wide(resource: str) -> bool:
    """Return whether a star covers more than a folder's content or an id that AWS makes up."""
    before, star, _ = resource.partition("*")
    if not star:
        return False
    parts = before.split(":", _ARN_PARTS - 1)
    return len(parts) < _ARN_PARTS or not re.match(r"[^/]+/[^/]+/", parts[-1])
