"""An account that moto plays: its own server, a network, and sessions whose requests can fail."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from moto.server import ThreadedMotoServer

import tests.integration.promote.moto_types  # noqa: F401 - teaches moto what it lacks
from labctl.aws.session import Aws
from labctl.promote import Promotion
from labctl.promote.apply.apply_run import Apply
from labctl.promote.plan import Plan, render
from tests.integration.promote.fake_connect import FakeConnect
from tests.unit.promote.conftest import Promote, project, promote  # noqa: F401 - fixtures

ACCOUNT = "123456789012"
RDS_PARAMETERS = (
    "rds.logical_replication",
    "max_replication_slots",
    "max_wal_senders",
    "binlog_format",
    "binlog_row_image",
    "gtid-mode",
    "enforce_gtid_consistency",
)
"""What RDS lets be set, as far as the plan sets it. moto knows no engine's defaults."""


@dataclass
class Account:
    """What a session is made for, and what happened to its requests."""

    url: str
    connect: FakeConnect = field(default_factory=FakeConnect)
    throttle: Counter[str] = field(default_factory=Counter)
    """Operations, and how often each is still to be throttled."""
    throttled: list[str] = field(default_factory=list)
    interrupt: str | None = None
    """An operation whose next call is interrupted, as by Ctrl-C."""
    vpc: str = ""
    subnets: dict[str, str] = field(default_factory=dict)
    group: str = ""
    """A security group that is there already: the SQL Server instance's."""

    rds_parameters: list[str] = field(default_factory=lambda: list(RDS_PARAMETERS))

    def client(self, service: str, config: Any = None) -> Any:
        made = boto3.client(  # type: ignore[call-overload]
            service,
            region_name="us-east-1",
            endpoint_url=self.url,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - moto takes any
            config=config,
        )
        events = made.meta.events
        events.register("before-parameter-build", self._interrupt)
        events.register("before-send", self._throttle)
        if service == "kafka":
            events.register("before-call.kafka.ListKafkaVersions", _kafka_versions)
            events.register("before-call.kafka.GetBootstrapBrokers", _brokers)
        if service == "rds":
            name = "before-call.rds.DescribeEngineDefaultParameters"
            events.register(name, self._engine_parameters)
        if service == "kafkaconnect":
            self.connect.attach(made)
        return made

    def aws(self) -> Aws:
        return Aws("us-east-1", self, poll_seconds=0.0)

    def _interrupt(self, model: Any, **_: Any) -> None:
        if model.name == self.interrupt:
            self.interrupt = None
            raise KeyboardInterrupt

    def _engine_parameters(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        found = [{"ParameterName": name, "IsModifiable": True} for name in self.rds_parameters]
        return _Ok(), {"EngineDefaults": {"Parameters": found}}

    def _throttle(self, request: Any, **_: Any) -> AWSResponse | None:
        body = request.body if isinstance(request.body, bytes) else str(request.body).encode()
        name = request.headers.get("X-Amz-Target", b"")
        told = (name if isinstance(name, bytes) else str(name).encode()) + body
        for operation, left in self.throttle.items():
            if left and operation.encode() in told:
                self.throttle[operation] -= 1
                self.throttled.append(operation)
                return _throttled(request.url, as_json=bool(name))
        return None


def _throttled(url: str, *, as_json: bool) -> AWSResponse:
    """What AWS answers when it is asked too often."""
    content = b"<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>"
    if as_json:
        content = json.dumps({"__type": "ThrottlingException"}).encode()

    class Raw:
        def stream(self, **_: Any) -> Iterator[bytes]:
            yield content

    return AWSResponse(url, 400, HTTPHeaders(), Raw())


def _kafka_versions(**_: Any) -> tuple[Any, dict[str, Any]]:
    found = [{"Version": version, "Status": "ACTIVE"} for version in ("3.9.x", "4.1.x")]
    return _Ok(), {"KafkaVersions": found}


def _brokers(**_: Any) -> tuple[Any, dict[str, Any]]:
    return _Ok(), {
        "BootstrapBrokerStringSaslIam": "b-1.tickit.example:9098,b-2.tickit.example:9098"
    }


class _Ok:
    status_code = 200


@pytest.fixture(scope="session")
def moto_url() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def account(moto_url: str) -> Account:
    """An empty account with a VPC and two subnets."""
    from moto.core.models import DEFAULT_ACCOUNT_ID
    from moto.moto_api._internal.models import moto_api_backend

    assert DEFAULT_ACCOUNT_ID == ACCOUNT
    moto_api_backend.reset()
    made = Account(moto_url)
    ec2 = made.client("ec2")
    made.vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    described = {"GroupName": "sqlserver", "Description": "there already", "VpcId": made.vpc}
    made.group = ec2.create_security_group(**described)["GroupId"]
    for number, zone in enumerate(("us-east-1a", "us-east-1b")):
        subnet = ec2.create_subnet(
            VpcId=made.vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone
        )
        made.subnets[zone] = subnet["Subnet"]["SubnetId"]
    return made


@dataclass
class Deployment:
    """The example, fitted to the account: planned and applied as the command does it."""

    account: Account
    promote: Promote
    store: Any
    said: list[str] = field(default_factory=list)
    changes: dict[str, Any] = field(default_factory=dict)
    lab: dict[str, Any] = field(default_factory=dict)
    """Values of `lab.toml` outside the profile."""

    def promotion(self, **changes: Any) -> Promotion:
        fitted = {
            "account": ACCOUNT,
            "network.vpc": self.account.vpc,
            "network.subnets": self.account.subnets,
            "rds.sqlserver.security_group": self.account.group,
            **self.changes,
        }
        return self.promote(fitted | changes, self.lab)

    def apply(self, promotion: Promotion | None = None, **options: Any) -> Apply:
        promotion = promotion or self.promotion()
        return Apply(
            promotion, self.plan(promotion), self.account.aws(), self.said.append, **options
        )

    def plan(self, promotion: Promotion) -> Plan:
        return render(promotion, self.store)


class SmallStore:
    """Locked parts as empty jars of the right names."""

    def __init__(self, folder: Path, names: Callable[[str], list[str]]) -> None:
        self._folder = folder
        self._names = names

    def fetch(self, names: Iterable[str], *, progress: object) -> None:
        """Everything is there."""

    def path(self, part: str) -> Path:
        target = self._folder / part
        target.mkdir(parents=True, exist_ok=True)
        for name in self._names(part):
            (target / name).write_bytes(part.encode())
        return target


@pytest.fixture
def deployment(
    account: Account,
    promote: Promote,  # noqa: F811
    project: Path,  # noqa: F811
    tmp_path: Path,
) -> Deployment:
    from labctl.promote.artifacts import jar_name, jars

    (project / "plugins").mkdir()
    (project / "plugins" / "msk-config-providers.jar").write_bytes(b"provider")
    changes = {"connect.provider.file": "plugins/msk-config-providers.jar"}
    promotion = promote(changes)

    def names(part: str) -> list[str]:
        return [f"{part}.jar", *(jar_name(file) for file in jars(promotion))]

    return Deployment(account, promote, SmallStore(tmp_path / "store", names), changes=changes)
