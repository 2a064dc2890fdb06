"""The aws profile behind the commands every profile has: endpoints, secrets, MSK Connect."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

import labctl.cli.catalog
import labctl.cli.connectors
import labctl.cli.down
import labctl.cli.logs
import labctl.cli.status
import labctl.cli.up  # noqa: F401 - these register the commands
from labctl.cli.app import root
from labctl.config.kafka_clients import client_settings
from labctl.config.promoted import PromotedDatabase, PromotedEndpoints, PromotedKafka, PromotedStore
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.msk import MskConnectClient
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab
from labctl.lake.glue_changes import write
from labctl.lake.glue_sync import GlueSync
from sqlapi.sources.memory import MemorySource
from tests.integration.promote.conftest import Account, Deployment
from tests.unit.test_gold import NUMBERS, silver

pytestmark = pytest.mark.long

WRITTEN = PromotedEndpoints(
    servers={
        "mysql": PromotedDatabase(
            host="db.example",
            port=3306,
            database="ecomm",
            secret="mysql-admin",  # noqa: S106 - its name
        )
    },
    kafka=PromotedKafka(
        bootstrap_servers="b:9096",
        authentication="scram",
        secret="scram",  # noqa: S106 - its name
    ),
    registry_url="http://registry.example:8080",
    objectstore=PromotedStore(bucket="lake", region="us-east-1"),
)
LOGIN = {"username": "admin", "password": "not-to-be-seen"}


@pytest.fixture
def state_folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="labctl-") as folder:
        yield Path(folder)


@pytest.fixture
def find(
    account: Account, project: Path, state_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[PromotedEndpoints], Lab]:
    """A lab whose profile was promoted to what is given; Secrets Manager is moto's."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", account.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    # Short: a lab's state folder holds a unix socket.
    monkeypatch.setenv("XDG_STATE_HOME", str(state_folder))
    secrets = account.client("secretsmanager")
    for name in ("mysql-admin", "scram"):
        secrets.create_secret(Name=name, SecretString=json.dumps(LOGIN))

    def promoted(written: PromotedEndpoints) -> Lab:
        written.save(project, "aws")
        return Lab.find(profile="aws", project=project)

    return promoted


def test_endpoints_come_from_apply_and_secrets_manager(
    find: Callable[[PromotedEndpoints], Lab],
) -> None:
    endpoints = find(WRITTEN).require_running().endpoints
    assert list(endpoints.servers) == ["mysql"]
    server = endpoints.servers["mysql"]
    assert (server.host, server.user) == ("db.example", "admin")
    assert server.password.get_secret_value() == "not-to-be-seen"
    assert endpoints.registry.url == "http://registry.example:8080"
    assert endpoints.objectstore.access_key is None
    assert client_settings(endpoints.kafka)["sasl.username"] == "admin"
    assert isinstance(connect_client(endpoints.connect), MskConnectClient)
    assert "not-to-be-seen" not in repr(endpoints)


def test_the_profile_can_point_elsewhere(
    find: Callable[[PromotedEndpoints], Lab], account: Account, project: Path
) -> None:
    store = {"access.key": "me", "secret.key": "mine"}
    account.client("secretsmanager").create_secret(Name="minio", SecretString=json.dumps(store))
    account.client("secretsmanager").create_secret(Name="rest", SecretString=json.dumps(LOGIN))
    with (project / "lab.toml").open("a") as file:
        file.write(
            """
[profiles.aws.endpoints]
connect_url = "http://127.0.0.1:8083"
connect_secret = "rest"
silver_status_url = "http://127.0.0.1:4041"
kafka = { bootstrap_servers = "127.0.0.1:9092" }
[profiles.aws.endpoints.objectstore]
bucket = "tickit-lake"
region = "us-east-1"
endpoint_url = "http://127.0.0.1:9000"
secret = "minio"
"""
        )
    endpoints = find(WRITTEN).endpoints
    assert client_settings(endpoints.kafka) == {"bootstrap.servers": "127.0.0.1:9092"}
    assert type(connect_client(endpoints.connect)) is ConnectClient
    assert endpoints.connect.login == (LOGIN["username"], LOGIN["password"])
    assert endpoints.silver.status_url == "http://127.0.0.1:4041"
    assert endpoints.objectstore.secret_key is not None
    assert endpoints.objectstore.secret_key.get_secret_value() == "mine"


def test_a_lab_that_was_not_promoted_says_so(find: Callable[[PromotedEndpoints], Lab]) -> None:
    with pytest.raises(LabError, match="does not say where kafka answers") as raised:
        find(PromotedEndpoints()).require_running()
    assert raised.value.exit_code is ExitCode.NOT_READY


def test_a_secret_that_is_not_there_is_named(
    find: Callable[[PromotedEndpoints], Lab], account: Account
) -> None:
    account.client("secretsmanager").put_secret_value(SecretId="mysql-admin", SecretString="{}")
    with pytest.raises(LabError, match="The secret mysql-admin has no username"):
        _ = find(WRITTEN).endpoints
    account.client("secretsmanager").delete_secret(
        SecretId="mysql-admin", ForceDeleteWithoutRecovery=True
    )
    with pytest.raises(LabError, match="AWS refused GetSecretValue: ResourceNotFoundException"):
        _ = find(WRITTEN).endpoints


@pytest.mark.parametrize(
    "words", [["up"], ["down"], ["destroy", "--yes"], ["status"], ["logs", "kafka"]]
)
@pytest.mark.parametrize("made", [True, False], ids=["with a lab", "without"])
def test_commands_for_this_machine_do_not_touch_a_local_lab(
    find: Callable[[PromotedEndpoints], Lab],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    made: bool,
) -> None:
    lab = find(WRITTEN)
    if made:
        lab.state.create()
        lab.state.save(project=str(project), ports={})
    monkeypatch.chdir(project)
    refused = CliRunner().invoke(root, [*words, "--profile", "aws"])
    assert refused.exit_code == 2, refused.output
    assert "has no services on this machine" in refused.stderr
    assert lab.state.exists == made


class _RestConnect(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(["source_connector_mysql_kafka_avro_tickit"]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test looks at what came back."""


def test_connectors_are_listed_through_the_same_code(
    find: Callable[[PromotedEndpoints], Lab], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _RestConnect)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        find(WRITTEN.model_copy(update={"connect_url": url}))
        monkeypatch.chdir(project)
        listed = CliRunner().invoke(root, ["connectors", "list", "--profile", "aws", "-o", "json"])
    finally:
        server.shutdown()
        server.server_close()
    assert listed.exit_code == 0, listed.output
    applied = {row["name"]: row["applied"] for row in json.loads(listed.stdout)["connectors"]}
    assert applied["source_connector_mysql_kafka_avro_tickit"] is True
    assert applied["source_connector_postgres_kafka_avro_tickit"] is False


def test_the_catalog_of_aws_is_read_and_written_through_the_same_code(
    find: Callable[[PromotedEndpoints], Lab],
    account: Account,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    login = {"access.key": "test", "secret.key": "test"}
    account.client("secretsmanager").create_secret(Name="store", SecretString=json.dumps(login))
    store = PromotedStore(
        bucket="lake",
        region="us-east-1",
        endpoint_url=account.url,
        secret="store",  # noqa: S106 - its name
    )
    account.client("s3").create_bucket(Bucket="lake")
    find(WRITTEN.model_copy(update={"objectstore": store}))
    monkeypatch.setenv("AWS_ENDPOINT_URL_GLUE", account.url)
    monkeypatch.chdir(project)
    # moto has no lists of what Athena keeps
    shutil.rmtree(project / "queries")

    def catalog(*words: str) -> Any:
        return CliRunner().invoke(root, ["--profile", "aws", "catalog", *words, "-o", "json"])

    early = catalog("apply")
    assert early.exit_code == ExitCode.NOT_READY, early.output
    assert "reads tickit." in early.stderr
    assert json.loads(catalog("sync").stdout) == {"changes": []}  # the bucket has no table yet
    source = MemorySource({f"tickit.{table}": silver(table) for table in NUMBERS})
    glue = account.client("glue")
    write(glue, GlueSync(glue, source).changes(source.tables()))
    made = catalog("apply")
    assert made.exit_code == 0, made.output
    assert "view tickit_gold.sales_by_day_and_category" in made.stdout
    assert json.loads(catalog("apply").stdout) == {"changes": []}
    listed = json.loads(catalog("list", "tickit", "tickit_gold").stdout)["tables"]
    assert {table["kind"] for table in listed} == {"table", "view"}
    shown = CliRunner().invoke(
        root, ["--profile", "aws", "catalog", "show", "tickit_gold.sales_by_day_and_category"]
    )
    assert "round(sum(sales.pricepaid * sales.qtysold), 2) AS saleamount" in shown.stdout
    wrong = catalog("apply", "nothing")
    assert wrong.exit_code == ExitCode.USAGE
    assert "There is no view or statement 'nothing'" in wrong.stderr


def test_msk_connect_has_the_connectors_under_their_files_names(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    client = MskConnectClient("us-east-1", deployment.account.aws())
    names = [connector.name for connector in deployment.promotion().connectors]
    assert client.names() == sorted(names)
    status = client.status(names[0])
    assert status == {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": "RUNNING"}]}
    config = client.config(names[0])
    assert config is not None
    assert config["connector.class"].startswith("io.debezium.")
    assert client.config("source_connector_of_nobody") is None
    client.delete(names[0])
    with pytest.raises(LabError, match="does not show how far"):
        client.offsets(names[1])
    with pytest.raises(LabError, match="has no connector 'source-connector-of-nobody'"):
        client.status("source_connector_of_nobody")
