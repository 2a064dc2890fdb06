"""MSK Connect, which moto lacks: connectors that live, change and die, behind real botocore calls.

botocore checks every request before it gets here, and every answer is checked against the service's
own model before it is given, as botocore's Stubber does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

__all__ = ["FakeConnect"]

Json = dict[str, Any]


class FakeConnect:
    """Connectors by ARN. A connector runs at the second look, or fails if it is told to."""

    def __init__(self) -> None:
        self.connectors: dict[str, Json] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.calls: list[str] = []
        self.fail_next: str | None = None
        """Why the next connector that is made will fail."""
        self._request: Json = {}

    def attach(self, client: Any) -> None:
        """Answer every call of a kafkaconnect client."""
        events = client.meta.events
        events.register("before-parameter-build.kafkaconnect", self._remember)
        events.register("before-call.kafkaconnect", self._answer)

    def _remember(self, params: Json, **_: Any) -> None:
        self._request = dict(params)

    def _answer(self, model: Any, **_: Any) -> tuple[Any, Json]:
        self.calls.append(model.name)
        handlers: dict[str, Callable[[Json], Json]] = {
            "CreateConnector": self._create,
            "DescribeConnector": self._describe,
            "UpdateConnector": self._update,
            "DeleteConnector": self._delete,
            "ListConnectors": self._list,
            "ListTagsForResource": lambda r: {"tags": self.tags[r["resourceArn"]]},
        }
        try:
            answer = handlers[model.name](self._request)
        except KeyError as error:
            body: Any = {"Error": {"Code": "NotFoundException", "Message": f"no connector {error}"}}
            raise ClientError(body, model.name) from None
        report = ParamValidator().validate(answer, model.output_shape)
        assert not report.has_errors(), report.generate_report()
        return _Response(), answer

    def _create(self, request: Json) -> Json:
        name = request["connectorName"]
        arn = f"arn:aws:kafkaconnect:us-east-1:123456789012:connector/{name}/{len(self.calls)}"
        held = {key: value for key, value in request.items() if key != "tags"}
        self.connectors[arn] = {
            **held,
            "connectorArn": arn,
            "connectorState": "CREATING",
            "currentVersion": "V1",
        }
        if self.fail_next:
            self.connectors[arn]["stateDescription"] = {"message": self.fail_next}
        self.tags[arn] = dict(request.get("tags", {}))
        return {"connectorArn": arn, "connectorName": name, "connectorState": "CREATING"}

    def _describe(self, request: Json) -> Json:
        held = self.connectors[request["connectorArn"]]
        answer = dict(held)
        if held["connectorState"] == "DELETING":
            del self.connectors[request["connectorArn"]]
        elif held["connectorState"] in ("CREATING", "UPDATING"):
            failed = "stateDescription" in held
            held["connectorState"] = "FAILED" if failed else "RUNNING"
            self.fail_next = None
        return answer

    def _update(self, request: Json) -> Json:
        held = self.connectors[request["connectorArn"]]
        assert request["currentVersion"] == held["currentVersion"]
        changed = {k: v for k, v in request.items() if k not in ("connectorArn", "currentVersion")}
        assert len(changed) == 1
        version = int(held["currentVersion"][1:]) + 1
        held.update(changed, connectorState="UPDATING", currentVersion=f"V{version}")
        return {"connectorArn": held["connectorArn"], "connectorState": "UPDATING"}

    def _delete(self, request: Json) -> Json:
        held = self.connectors[request["connectorArn"]]
        held["connectorState"] = "DELETING"
        return {"connectorArn": held["connectorArn"], "connectorState": "DELETING"}

    def _list(self, _request: Json) -> Json:
        members = ("connectorArn", "connectorName", "connectorState", "currentVersion")
        return {"connectors": [{m: c[m] for m in members} for c in self.connectors.values()]}


class _Response:
    status_code = 200
