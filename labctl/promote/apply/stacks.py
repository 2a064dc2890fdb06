"""CloudFormation's change sets, stacks and outputs. Only stacks with the creator's tag change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labctl.aws.session import Aws, Tell, wait_until
from labctl.errors import ExitCode, LabError
from labctl.promote.apply.protection import DATABASE, lift_protection
from labctl.promote.apply.shown_changes import Action, Change
from labctl.promote.aws_names import CREATOR_TAG, Names, Stack
from labctl.promote.cloudformation.template import as_sent

__all__ = ["ChangeSet", "Stacks"]

STACK_SECONDS = 3600.0
"""AWS takes up to 40 minutes to make MSK, and 20 to make RDS."""
CHANGE_SET_SECONDS = 300.0
EVENTS = 8
_NOTHING = ("didn't contain changes", "No updates are to be performed")
_GONE = ("DELETE_COMPLETE", "REVIEW_IN_PROGRESS")
_STILLBORN = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED")


@dataclass(frozen=True)
class ChangeSet:
    """A prepared change of one stack."""

    stack: Stack
    name: str
    changes: tuple[Change, ...]


class Stacks:
    """The stacks of one promoted lab."""

    def __init__(self, aws: Aws, names: Names, tags: Mapping[str, str], tell: Tell) -> None:
        self._aws = aws
        self._names = names
        self._tags = [
            {"Key": k, "Value": v} for k, v in {**tags, CREATOR_TAG: names.creator}.items()
        ]
        self._tell = tell

    def status(self, stack: Stack) -> str | None:
        """Return CloudFormation's status of the stack; None if there is no stack.

        Raises LabError (USAGE) if somebody else made a stack of that name.
        """
        found = self._describe(stack)
        return str(found["StackStatus"]) if found else None

    def outputs(self, stack: Stack) -> dict[str, str]:
        found = self._describe(stack)
        listed = found.get("Outputs", []) if found else []
        return {output["OutputKey"]: output["OutputValue"] for output in listed}

    def made(self, stack: Stack, type_: str) -> list[str]:
        """Return the physical ids of the stack's resources of a type; empty without a stack."""
        found = self._describe(stack)
        if found is None:
            return []
        resources = self._aws.pages(
            "cloudformation",
            "list_stack_resources",
            "StackResourceSummaries",
            StackName=found["StackId"],
        )
        return [
            one["PhysicalResourceId"]
            for one in resources
            if one["ResourceType"] == type_ and one.get("PhysicalResourceId")
        ]

    def exists(self, stack: Stack) -> bool:
        """Return whether there is a stack that can be changed; wait while it is in progress.

        A stack whose first creation failed does not count: it is empty and can only be deleted.
        """
        return self._settled(stack) not in (None, *_GONE, *_STILLBORN)

    def _settled(self, stack: Stack) -> str | None:
        status = self.status(stack)
        if status and status.endswith("IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
            status = self._wait(stack)
        return status

    def _cleared(self, stack: Stack) -> str | None:
        """Return the stack's status, after removing the rest of a failed creation."""
        status = self._settled(stack)
        if status in _STILLBORN:
            self._tell(f"{self._names.stack(stack)}: its creation had failed; removing the rest")
            # Deletion protection keeps a rollback from removing the databases.
            lift_protection(self._aws, self.made(stack, DATABASE))
            self.delete(stack)
            return None
        return status

    def prepare(
        self, stack: Stack, template: Mapping[str, Any], parameters: Mapping[str, str]
    ) -> ChangeSet | None:
        """Return a change set that brings the stack to `template`; None if nothing differs."""
        client = self._aws.client("cloudformation")
        status = self._cleared(stack)
        body = as_sent(template)
        digest = hashlib.sha256(f"{body}{sorted(parameters.items())}".encode()).hexdigest()[:12]
        name = f"labctl-{digest}"
        name_of_stack = self._names.stack(stack)
        if any(
            one["ChangeSetName"] == name
            for one in self._aws.pages(
                "cloudformation", "list_change_sets", "Summaries", StackName=name_of_stack
            )
            if status
        ):
            client.delete_change_set(StackName=name_of_stack, ChangeSetName=name)
        request = {
            "StackName": name_of_stack,
            "ChangeSetName": name,
            "ChangeSetType": "CREATE" if status is None or status in _GONE else "UPDATE",
            "TemplateBody": body,
            "Parameters": [
                {"ParameterKey": key, "ParameterValue": value}
                for key, value in sorted(parameters.items())
            ],
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
            "Tags": self._tags,
        }
        try:
            client.create_change_set(**request)
        except client.exceptions.ClientError as error:
            if any(words in str(error) for words in _NOTHING):
                return None
            raise
        found = self._settled_change_set(name_of_stack, name)
        changes = tuple(_change(stack, change["ResourceChange"]) for change in found["Changes"])
        failed = found["Status"] == "FAILED"
        if (failed and any(word in found.get("StatusReason", "") for word in _NOTHING)) or (
            not failed and not changes
        ):
            client.delete_change_set(StackName=name_of_stack, ChangeSetName=name)
            return None
        if failed:
            raise LabError(
                f"CloudFormation refuses the stack {name_of_stack}: {found.get('StatusReason')}",
                hint="nothing was changed",
                exit_code=ExitCode.USAGE,
            )
        return ChangeSet(stack, name, changes)

    def discard(self, prepared: ChangeSet) -> None:
        """Drop a change set that will not be executed."""
        self._aws.client("cloudformation").delete_change_set(
            StackName=self._names.stack(prepared.stack), ChangeSetName=prepared.name
        )

    def execute(self, prepared: ChangeSet) -> None:
        """Execute the change set and wait for it. Raises LabError with each failure's reason."""
        name = self._names.stack(prepared.stack)
        self._aws.client("cloudformation").execute_change_set(
            StackName=name, ChangeSetName=prepared.name
        )
        status = self._wait(prepared.stack)
        if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            raise LabError(
                f"The stack {name} could not be made what it should be: {status}",
                details=tuple(self._failures(name)),
                hint="correct the cause and apply again; it goes on where it stopped",
            )

    def delete(self, stack: Stack) -> bool:
        """Delete the stack; return whether there was one."""
        found = self._describe(stack)
        if found is None:
            return False
        self._aws.client("cloudformation").delete_stack(StackName=found["StackId"])
        status = self._wait(stack, identity=found["StackId"])
        if status not in ("DELETE_COMPLETE", "(gone)"):
            raise LabError(
                f"The stack {self._names.stack(stack)} could not be deleted: {status}",
                details=tuple(self._failures(found["StackId"])),
                hint="remove what holds it, then destroy again",
            )
        return True

    def _describe(self, stack: Stack, identity: str | None = None) -> dict[str, Any] | None:
        from botocore.exceptions import ClientError

        name = self._names.stack(stack)
        try:
            answer = self._aws.client("cloudformation").describe_stacks(StackName=identity or name)
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        found: dict[str, Any] = answer["Stacks"][0]
        if found["StackStatus"] == "DELETE_COMPLETE" and not identity:
            return None
        tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", [])}
        if tags.get(CREATOR_TAG) != self._names.creator:
            raise LabError(
                f"The stack {name} was not made by labctl for {self._names.creator}",
                hint="give the profile another prefix; nothing was changed",
                exit_code=ExitCode.USAGE,
            )
        return found

    def _wait(self, stack: Stack, identity: str | None = None) -> str:
        name = self._names.stack(stack)

        def look() -> str:
            found = self._describe(stack, identity)
            return str(found["StackStatus"]) if found else "(gone)"

        return wait_until(
            look,
            lambda status: not status.endswith("IN_PROGRESS") or status == "REVIEW_IN_PROGRESS",
            aws=self._aws,
            seconds=STACK_SECONDS,
            tell=lambda status: self._tell(f"{name}: {status.lower().replace('_', ' ')}"),
        )

    def _settled_change_set(self, stack: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def look() -> str:
            answer = self._aws.client("cloudformation").describe_change_set(
                StackName=stack, ChangeSetName=name
            )
            found.clear()
            found.update(answer)
            return str(answer["Status"])

        wait_until(
            look,
            lambda status: status in ("CREATE_COMPLETE", "FAILED"),
            aws=self._aws,
            seconds=CHANGE_SET_SECONDS,
            tell=lambda _status: None,
        )
        token = found.get("NextToken")
        while token:
            more = self._aws.client("cloudformation").describe_change_set(
                StackName=stack, ChangeSetName=name, NextToken=token
            )
            found["Changes"] += more["Changes"]
            token = more.get("NextToken")
        found.setdefault("Changes", [])
        return found

    def _failures(self, stack: str) -> list[str]:
        """Return the newest failure events with their reasons."""
        events = self._aws.client("cloudformation").describe_stack_events(StackName=stack)
        failed = [
            f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}"
            for event in events["StackEvents"]
            if event["ResourceStatus"].endswith("FAILED")
        ]
        return failed[:EVENTS]


def _change(stack: Stack, change: Mapping[str, Any]) -> Change:
    actions: dict[str, Action] = {"Add": "add", "Remove": "remove", "Modify": "change"}
    action = actions.get(change["Action"], "change")
    if change.get("Replacement") in ("True", "Conditional"):
        action = "replace"
    return Change(stack, action, change["LogicalResourceId"], change["ResourceType"])
