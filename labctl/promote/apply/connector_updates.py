"""Connectors on MSK Connect: create, update and remove them. Only labctl's own are touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labctl.aws.session import Aws, Tell, wait_until
from labctl.errors import ExitCode, LabError
from labctl.promote.apply.shown_changes import Action, Change
from labctl.promote.aws_names import CREATOR_TAG, Names

__all__ = ["ConnectorStep", "Connectors"]

SECONDS = 1800.0
"""MSK Connect takes 5 to 15 minutes to make a connector."""
_FIXED = (
    "kafkaConnectVersion",
    "kafkaCluster",
    "kafkaClusterClientAuthentication",
    "kafkaClusterEncryptionInTransit",
    "serviceExecutionRoleArn",
)
"""Keys that cannot be updated: a change of one needs a new connector."""
_IN_PLACE = ("connectorConfiguration", "capacity", "plugins", "workerConfiguration")
"""Keys that UpdateConnector changes, one per call."""


@dataclass(frozen=True)
class ConnectorStep:
    """The action planned for one connector."""

    name: str
    """The connector's name on MSK Connect."""
    action: Action
    request: Mapping[str, Any] | None
    """The CreateConnector request; None to remove the connector."""
    arn: str | None
    differs: tuple[str, ...] = ()

    def change(self) -> Change:
        words = f"{self.name} ({', '.join(self.differs)})" if self.differs else self.name
        return Change("MSK Connect", self.action, words, "connector")


class Connectors:
    """The connectors of one promoted lab."""

    def __init__(self, aws: Aws, names: Names, tell: Tell) -> None:
        self._aws = aws
        self._names = names
        self._tell = tell

    def compare(self, requests: Iterable[Mapping[str, Any]]) -> list[ConnectorStep]:
        """Return the steps after which exactly these connectors run. Changes nothing.

        Raises LabError (USAGE) if somebody else made a connector of the same name.
        """
        held = self._held()
        steps = []
        for request in requests:
            name = request["connectorName"]
            found = held.pop(name, None)
            if found is None:
                steps.append(ConnectorStep(name, "add", request, None))
                continue
            if not self._ours(found["connectorArn"]):
                raise LabError(
                    f"MSK Connect has a connector {name} that labctl did not make for "
                    f"{self._names.creator}",
                    hint="remove or rename it; nothing was changed",
                    exit_code=ExitCode.USAGE,
                )
            if step := self._difference(found, request):
                steps.append(step)
        steps += [
            ConnectorStep(name, "remove", None, found["connectorArn"])
            for name, found in held.items()
            if self._ours(found["connectorArn"])
        ]
        return steps

    def carry_out(self, steps: Iterable[ConnectorStep]) -> None:
        """Carry out the steps of `compare` one after the other, waiting for each."""
        for step in steps:
            if step.arn and step.action in ("remove", "replace"):
                self._delete(step.name, step.arn)
            if step.request is None:
                continue
            if step.action == "change" and step.arn:
                self._update(step.name, step.arn, step.request, step.differs)
                continue
            created = self._client.create_connector(**step.request)
            self._wait_running(step.name, created["connectorArn"])

    def states(self) -> dict[str, str]:
        """Return the state of each of the lab's connectors, by name."""
        return {
            name: found["connectorState"]
            for name, found in sorted(self._held().items())
            if self._ours(found["connectorArn"])
        }

    @property
    def _client(self) -> Any:
        return self._aws.client("kafkaconnect")

    def _held(self) -> dict[str, dict[str, Any]]:
        found = self._aws.pages("kafkaconnect", "list_connectors", "connectors")
        return {one["connectorName"]: one for one in found if one["connectorState"] != "DELETING"}

    def _ours(self, arn: str) -> bool:
        tags = self._client.list_tags_for_resource(resourceArn=arn)["tags"]
        return bool(tags.get(CREATOR_TAG) == self._names.creator)

    def _difference(
        self, found: Mapping[str, Any], request: Mapping[str, Any]
    ) -> ConnectorStep | None:
        held = self._client.describe_connector(connectorArn=found["connectorArn"])
        name, arn = found["connectorName"], found["connectorArn"]
        fixed = tuple(key for key in _FIXED if not _agrees(request[key], held.get(key)))
        if fixed or held["connectorState"] == "FAILED":
            return ConnectorStep(name, "replace", request, arn, fixed or ("it has failed",))
        moved = tuple(key for key in _IN_PLACE if not _agrees(request[key], held.get(key)))
        return ConnectorStep(name, "change", request, arn, moved) if moved else None

    def _update(self, name: str, arn: str, request: Mapping[str, Any], keys: Iterable[str]) -> None:
        for key in keys:
            version = self._client.describe_connector(connectorArn=arn)["currentVersion"]
            self._client.update_connector(
                connectorArn=arn, currentVersion=version, **{key: request[key]}
            )
            self._wait_running(name, arn)

    def _delete(self, name: str, arn: str) -> None:
        version = self._client.describe_connector(connectorArn=arn)["currentVersion"]
        self._client.delete_connector(connectorArn=arn, currentVersion=version)

        def look() -> str:
            from botocore.exceptions import ClientError

            try:
                return str(self._client.describe_connector(connectorArn=arn)["connectorState"])
            except ClientError as error:
                if error.response["Error"]["Code"] == "NotFoundException":
                    return "gone"
                raise

        self._wait(name, look, ("gone",))

    def _wait_running(self, name: str, arn: str) -> None:
        said: dict[str, Any] = {}

        def look() -> str:
            said.clear()
            said.update(self._client.describe_connector(connectorArn=arn))
            return str(said["connectorState"])

        if self._wait(name, look, ("RUNNING", "FAILED")) == "FAILED":
            reason = said.get("stateDescription", {})
            raise LabError(
                f"The connector {name} failed: {reason.get('message', 'MSK Connect says no more')}",
                hint=f"its log is in {self._names.log_group}; apply makes it again",
            )

    def _wait(self, name: str, look: Any, ends: tuple[str, ...]) -> str:
        return wait_until(
            look,
            lambda state: state in ends,
            aws=self._aws,
            seconds=SECONDS,
            tell=lambda state: self._tell(f"{name}: {state.lower()}"),
        )


def _agrees(wanted: Any, held: Any) -> bool:
    """Return whether `held` has all wanted values; it may have more (AWS's defaults)."""
    if isinstance(wanted, Mapping) and isinstance(held, Mapping):
        if all(isinstance(value, str) for value in wanted.values()):
            return dict(wanted) == dict(held)
        return all(_agrees(value, held.get(key)) for key, value in wanted.items())
    if isinstance(wanted, list | tuple) and isinstance(held, list | tuple):
        return len(wanted) == len(held) and all(map(_agrees, wanted, held))
    return bool(wanted == held)
