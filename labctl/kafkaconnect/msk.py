"""MSK Connect behind the interface of the Kafka Connect client, as far as it offers the same.

It has one cluster of workers per connector, no validation and no visible offsets. A method that
needs these raises an error that says what to do instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

from labctl.aws.session import Aws, aws_errors
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connect_client import Action, ConnectClient, FieldErrors

__all__ = ["MskConnectClient", "msk_name"]

_STATES = {"RUNNING": "RUNNING", "FAILED": "FAILED", "PAUSED": "PAUSED"}
"""Kafka Connect's states by MSK Connect's; any other state is transitional."""


def msk_name(name: str) -> str:
    """Convert a connector file's name for MSK Connect, which allows hyphens, not underscores."""
    return name.replace("_", "-")


def file_name(name: str) -> str:
    """Convert an MSK Connect name to a connector file's name, which has underscores."""
    return name.replace("-", "_")


class MskConnectClient(ConnectClient):
    """A client for a region's connectors, by file name. It raises errors as `ConnectClient`."""

    tells_offsets = False

    def __init__(self, region: str, aws: Aws | None = None) -> None:
        super().__init__(f"msk-connect:{region}")
        self._aws = aws or Aws(region)

    def names(self) -> list[str]:
        return sorted(file_name(name) for name in self._arns())

    def plugins(self) -> list[str]:
        self._refuse("MSK Connect does not tell which connectors are installed")

    def config(self, name: str) -> dict[str, str] | None:
        if msk_name(name) not in self._arns():
            return None
        found: dict[str, str] = self._describe(name)["connectorConfiguration"]
        return found

    def status(self, name: str) -> dict[str, Any]:
        found = self._describe(name)
        state = _STATES.get(found["connectorState"], "UNASSIGNED")
        task: dict[str, Any] = {"id": 0, "state": state}
        if reason := found.get("stateDescription", {}).get("message"):
            task["trace"] = reason
        return {"connector": {"state": state}, "tasks": [task]}

    def statuses(self) -> dict[str, dict[str, Any]]:
        return {name: self.status(name) for name in self.names()}

    def offsets(self, name: str) -> list[dict[str, Any]]:
        self._refuse("MSK Connect does not show how far a connector is")

    def validate(self, config: dict[str, str]) -> FieldErrors:
        self._refuse("MSK Connect validates no configuration before it runs")

    def put(self, name: str, config: dict[str, str]) -> None:
        self._refuse("A connector on MSK Connect is more than its configuration")

    def delete(self, name: str) -> None:
        found = self._describe(name)
        with aws_errors():
            self._client.delete_connector(
                connectorArn=found["connectorArn"], currentVersion=found["currentVersion"]
            )

    def act(self, name: str, action: Action) -> None:
        if action == "stop":
            self._refuse("MSK Connect pauses or deletes a connector, it stops none")
        call = {"pause": "pause_connector", "resume": "resume_connector"}.get(
            action, "restart_connector"
        )
        with aws_errors():
            getattr(self._client, call)(connectorArn=self._arn(name))

    @property
    def _client(self) -> Any:
        return self._aws.client("kafkaconnect")

    def _arns(self) -> dict[str, str]:
        with aws_errors():
            found = list(self._aws.pages("kafkaconnect", "list_connectors", "connectors"))
        return {one["connectorName"]: one["connectorArn"] for one in found}

    def _arn(self, name: str) -> str:
        arns = self._arns()
        if msk_name(name) not in arns:
            raise LabError(
                f"MSK Connect has no connector {msk_name(name)!r}",
                hint="`labctl promote apply` makes it",
                exit_code=ExitCode.USAGE,
            )
        return arns[msk_name(name)]

    def _describe(self, name: str) -> dict[str, Any]:
        arn = self._arn(name)
        with aws_errors():
            found: dict[str, Any] = self._client.describe_connector(connectorArn=arn)
        return found

    def _refuse(self, what: str) -> NoReturn:
        raise LabError(
            what,
            hint="`labctl promote plan` checks connectors, `labctl promote apply` changes them",
            exit_code=ExitCode.USAGE,
        )
