"""The calls that bring MSK Connect in line, one by one, with botocore's Stubber."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from labctl.aws.session import Aws, aws_errors
from labctl.errors import ExitCode, LabError
from labctl.promote.apply.connector_updates import Connectors, ConnectorStep
from labctl.promote.aws_names import Names
from labctl.promote.outputs import resolve
from labctl.promote.plan import render
from tests.unit.promote.conftest import Promote

ARN = "arn:aws:kafkaconnect:us-east-1:111122223333:connector/source-connector-mysql/0-1"
NAMES = Names("tickit", "tickit/aws")


class Session:
    """A session with one client, which a Stubber answers for."""

    def __init__(self) -> None:
        self.made = boto3.client(
            "kafkaconnect",
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - nothing is asked
        )

    def client(self, _service: str, config: Any = None) -> Any:
        return self.made


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def stub(session: Session) -> Iterator[Stubber]:
    with Stubber(session.made) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def connectors(session: Session) -> Connectors:
    aws = Aws("us-east-1", session, poll_seconds=0.0)
    return Connectors(aws, NAMES, lambda _words: None)


@pytest.fixture
def request_(promote: Promote) -> dict[str, Any]:
    """The example's CreateConnector request for MySQL."""
    plan = render(promote(), None)
    known = {
        "kafka": {"BootstrapServers": "b:9098"},
        "foundation": {"ConnectGroup": "sg-0", "ConnectRole": "arn:aws:iam::111122223333:role/x"},
        "connect": {
            "PluginSourceConnectorMysqlKafkaAvroTickit": "arn:plugin/new",
            "WorkerSourceConnectorMysqlKafkaAvroTickit": "arn:worker/new",
        },
    }
    wanted: dict[str, Any] = resolve(
        plan.connectors["source_connector_mysql_kafka_avro_tickit"], known
    )
    return wanted


def described(request: dict[str, Any], state: str = "RUNNING", **other: Any) -> dict[str, Any]:
    """A connector that is what `request` asks for, but for `other`."""
    held = {key: value for key, value in request.items() if key != "tags"}
    held |= {"connectorArn": ARN, "connectorState": state, "currentVersion": "V7", **other}
    # AWS fills in what was left out.
    held["creationTime"] = datetime(2026, 1, 1, tzinfo=UTC)
    return held


def listed(request: dict[str, Any], state: str = "RUNNING") -> dict[str, Any]:
    one = {"connectorArn": ARN, "connectorName": request["connectorName"], "connectorState": state}
    return {"connectors": [one]}


def expect_ours(stub: Stubber, request: dict[str, Any]) -> None:
    stub.add_response("list_connectors", listed(request), {})
    tags = {"tags": {"labctl": NAMES.creator}}
    stub.add_response("list_tags_for_resource", tags, {"resourceArn": ARN})


def test_what_is_as_wanted_is_left_alone(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any]
) -> None:
    expect_ours(stub, request_)
    filled = {**request_["capacity"]["provisionedCapacity"], "mcuCount": 1}
    same = described(request_, capacity={"provisionedCapacity": filled})
    stub.add_response("describe_connector", same, {"connectorArn": ARN})
    assert connectors.compare([request_]) == []


def test_another_plugin_is_put_in_place_with_the_version_that_was_seen(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any]
) -> None:
    expect_ours(stub, request_)
    old = [{"customPlugin": {"customPluginArn": "arn:plugin/old", "revision": 1}}]
    held = described(request_, plugins=old)
    stub.add_response("describe_connector", held, {"connectorArn": ARN})
    (step,) = connectors.compare([request_])
    assert (step.action, step.differs) == ("change", ("plugins",))
    stub.add_response("describe_connector", held, {"connectorArn": ARN})
    stub.add_response(
        "update_connector",
        {"connectorArn": ARN, "connectorState": "UPDATING"},
        {"connectorArn": ARN, "currentVersion": "V7", "plugins": request_["plugins"]},
    )
    for state in ("UPDATING", "RUNNING"):
        stub.add_response("describe_connector", described(request_, state), {"connectorArn": ARN})
    connectors.carry_out([step])


def test_another_version_of_kafka_connect_is_another_connector(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any]
) -> None:
    expect_ours(stub, request_)
    held = described(request_, kafkaConnectVersion="2.7.1")
    stub.add_response("describe_connector", held, {"connectorArn": ARN})
    (step,) = connectors.compare([request_])
    assert (step.action, step.differs) == ("replace", ("kafkaConnectVersion",))
    stub.add_response("describe_connector", held, {"connectorArn": ARN})
    stub.add_response(
        "delete_connector",
        {"connectorArn": ARN, "connectorState": "DELETING"},
        {"connectorArn": ARN, "currentVersion": "V7"},
    )
    stub.add_response("describe_connector", described(request_, "DELETING"), {"connectorArn": ARN})
    stub.add_client_error("describe_connector", "NotFoundException", "gone")
    created = {"connectorArn": f"{ARN}2", "connectorName": "x", "connectorState": "CREATING"}
    stub.add_response("create_connector", created, request_)
    stub.add_response("describe_connector", described(request_), {"connectorArn": f"{ARN}2"})
    connectors.carry_out([step])


def test_a_failure_is_told_in_msk_connects_words(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any]
) -> None:
    created = {"connectorArn": ARN, "connectorName": "x", "connectorState": "CREATING"}
    stub.add_response("create_connector", created, request_)
    reason = {"code": "CustomPluginError", "message": "no such class"}
    failed = described(request_, "FAILED", stateDescription=reason)
    stub.add_response("describe_connector", failed, {"connectorArn": ARN})
    name = request_["connectorName"]
    with pytest.raises(LabError, match="no such class") as raised:
        connectors.carry_out([ConnectorStep(name, "add", request_, None)])
    assert name in raised.value.what


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("AccessDeniedException", "docs/aws.md lists the permissions that are needed"),
        ("ForbiddenException", "labctl promote apply goes on where it stopped"),
    ],
)
def test_a_refusal_says_what_was_asked_and_what_to_do(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any], code: str, hint: str
) -> None:
    stub.add_client_error("list_connectors", code, "you may not")
    with pytest.raises(LabError) as raised, aws_errors():
        connectors.compare([request_])
    assert raised.value.what == f"AWS refused ListConnectors: {code}: you may not"
    assert raised.value.hint == hint


def test_a_foreign_connector_of_the_name_is_refused(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any]
) -> None:
    stub.add_response("list_connectors", listed(request_), {})
    stub.add_response("list_tags_for_resource", {"tags": {}}, {"resourceArn": ARN})
    with pytest.raises(LabError, match="labctl did not make") as raised:
        connectors.compare([request_])
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_connector_no_longer_wanted_is_removed(
    stub: Stubber, connectors: Connectors, request_: dict[str, Any]
) -> None:
    expect_ours(stub, request_)
    assert connectors.compare([]) == [ConnectorStep(request_["connectorName"], "remove", None, ARN)]
