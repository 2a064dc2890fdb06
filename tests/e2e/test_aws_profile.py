"""The aws profile through the commands every profile has, pointed at the lab on this machine.

What is real here: the databases, Connect, Kafka, the registry, MinIO and the Spark application.
What stands in for AWS: a Secrets Manager on 127.0.0.1, from which the profile's logins come.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from labctl.config.lab_config import LabConfig
from labctl.config.promoted import (
    PromotedDatabase,
    PromotedEndpoints,
    PromotedKafka,
    PromotedStore,
)
from labctl.lab.lab import Lab
from labctl.promote import load_promotion
from labctl.promote.plan import render
from labctl.promote.rules import RULES, Subject
from labctl.sources import ENGINES
from tests.e2e.conftest import COMMAND_SECONDS
from tests.e2e.fault_trial import Verify

pytestmark = pytest.mark.long

REGION = "us-east-1"
CONNECT_SECRET = "lab-connect"  # noqa: S105 - its name
KAFKA_SECRET = "lab-kafka"  # noqa: S105 - its name
STORE_SECRET = "lab-objectstore"  # noqa: S105 - its name

AwsCommand = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def secrets_manager() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def aws_project(lab: Lab, secrets_manager: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the lab's project, promoted to the lab's own endpoints."""
    folder = tmp_path_factory.mktemp("aws") / "project"
    shutil.copytree(
        lab.project, folder, ignore=shutil.ignore_patterns(".*", "promoted", "__pycache__")
    )
    client = boto3.client(
        "secretsmanager",
        region_name=REGION,
        endpoint_url=secrets_manager,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - the stand-in takes any
    )
    databases = {}
    for engine in ENGINES:
        database = lab.endpoints.servers[engine]
        login = {"username": database.user, "password": database.password.get_secret_value()}
        client.create_secret(Name=f"lab-{engine}", SecretString=json.dumps(login))
        databases[engine] = PromotedDatabase(
            host=database.host,
            port=database.port,
            database=database.database,
            secret=f"lab-{engine}",
        )
    store = lab.endpoints.objectstore
    assert store.access_key is not None
    assert store.secret_key is not None
    keys = {
        "access.key": store.access_key.get_secret_value(),
        "secret.key": store.secret_key.get_secret_value(),
    }
    client.create_secret(Name=STORE_SECRET, SecretString=json.dumps(keys))
    kafka = lab.endpoints.kafka
    assert kafka.user is not None
    assert kafka.password is not None
    logins = {
        CONNECT_SECRET: lab.endpoints.connect.login or ("", ""),
        KAFKA_SECRET: (kafka.user, kafka.password.get_secret_value()),
    }
    for name, (user, password) in logins.items():
        client.create_secret(
            Name=name, SecretString=json.dumps({"username": user, "password": password})
        )
    PromotedEndpoints(
        servers=databases,
        kafka=PromotedKafka(
            bootstrap_servers=lab.endpoints.kafka.bootstrap_servers,
            authentication="plain",
            secret=KAFKA_SECRET,
        ),
        connect_url=lab.endpoints.connect.url,
        connect_secret=CONNECT_SECRET,
        registry_url=lab.endpoints.registry.url,
        objectstore=PromotedStore(
            bucket=store.bucket,
            region=store.region,
            endpoint_url=store.endpoint_url,
            secret=STORE_SECRET,
        ),
        silver_status_url=lab.endpoints.silver.status_url,
    ).save(folder, "aws")
    return folder


@pytest.fixture(scope="module")
def aws_labctl(aws_project: Path, secrets_manager: str) -> AwsCommand:
    """`aws_labctl("query", "SELECT 1")`: the command line, with --profile aws."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "labctl", "--profile", "aws", *arguments],
            cwd=aws_project,
            env={
                **os.environ,
                "LABCTL_PROJECT": str(aws_project),
                "XDG_STATE_HOME": str(aws_project / "state"),
                "AWS_ENDPOINT_URL_SECRETS_MANAGER": secrets_manager,
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
            },
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    return run


def test_connectors_are_those_of_the_lab(aws_labctl: AwsCommand, lab: Lab) -> None:
    shown = aws_labctl("connectors", "list", "--output", "json")
    assert shown.returncode == 0, shown.stderr
    applied = {row["name"] for row in json.loads(shown.stdout)["connectors"] if row["applied"]}
    assert applied >= {source.connector for source in lab.config.sources.values()}
    status = aws_labctl("connectors", "status")
    assert status.returncode == 0, status.stderr


def test_silver_is_queried(aws_labctl: AwsCommand) -> None:
    answer = aws_labctl(
        "query", "SELECT count(*) AS n FROM category WHERE catid <= 11", "-o", "json"
    )
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["rows"][0]["n"] == 11


def test_topics_are_read(aws_labctl: AwsCommand) -> None:
    shown = aws_labctl("topics", "list", "--output", "json")
    assert shown.returncode == 0, shown.stderr
    assert "tickit.ems.category" in {topic["name"] for topic in json.loads(shown.stdout)["topics"]}


def test_sources_and_silver_are_compared(aws_labctl: AwsCommand, verify_equal: Verify) -> None:
    verify_equal("category", "date")
    compared = aws_labctl("verify", "category", "date")
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "equal" in compared.stdout


def test_the_lab_on_this_machine_is_not_stopped_by_the_profile(
    aws_labctl: AwsCommand, lab: Lab
) -> None:
    refused = aws_labctl("down")
    assert refused.returncode == 2
    assert "has no services on this machine" in refused.stderr
    assert lab.running


def test_no_login_is_printed(aws_labctl: AwsCommand, lab: Lab) -> None:
    secret = lab.endpoints.servers["mysql"].password.get_secret_value()
    wrong = ["query", "SELECT nothing FROM nowhere"]
    for words in (["client", "env"], ["connectors", "status"], wrong):
        answer = aws_labctl(*words)
        assert secret not in answer.stdout + answer.stderr


def test_a_latency_run_measures_what_it_can_reach(aws_labctl: AwsCommand) -> None:
    done = aws_labctl(
        *("test", "latency", "run", "idle", "--changes", "12", "--rate", "4", "--output", "json")
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["counts"]["queryable"] == 12
    assert report["services"] is None
    assert report["one_clock"] is False


def test_bronze_schemas_are_what_a_streamer_needs(
    aws_labctl: AwsCommand, aws_project: Path
) -> None:
    names = {"category", "sale"}
    written = aws_labctl("promote", "schemas", *names)
    assert written.returncode == 0, written.stderr
    toml = aws_project / "lab.toml"
    toml.write_text(
        toml.read_text().replace('engine = "application"', 'engine = "streamer"'), "utf-8"
    )
    promotion = load_promotion(aws_project, LabConfig.load(toml), "aws")
    findings = RULES["streamer_schemas"](Subject(promotion, render(promotion, None)))
    lacking = {finding.file for finding in findings}
    assert lacking
    for table in promotion.tables:
        assert (f"schemas/{table.topic}.avsc" in lacking) == (table.properties.table not in names)
