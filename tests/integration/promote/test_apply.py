"""Apply, again, changed, interrupted, throttled, destroyed: against moto."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto.cloudformation.models import Event, cloudformation_backends

from labctl.config.promoted import load_promoted, outputs_path
from labctl.errors import ExitCode, LabError
from labctl.promote.apply.promoted_state import destroy, read_state
from labctl.promote.apply.uploads import empty_bucket
from labctl.promote.aws_names import STACKS
from labctl.promote.broker_logins import java_client
from tests.connector_file import raise_by_one
from tests.integration.promote.conftest import ACCOUNT, Account, Deployment
from tests.integration.promote.test_guards import let_databases_go

pytestmark = pytest.mark.long

CONNECTORS = {
    "source-connector-mysql-kafka-avro-tickit",
    "source-connector-mssql-kafka-avro-tickit",
    "source-connector-postgres-kafka-avro-tickit",
}


def summary(changes: list[Any]) -> set[tuple[str, str, str]]:
    return {(change.where, change.action, change.what) for change in changes}


def test_apply_makes_the_lab_and_again_changes_nothing(deployment: Deployment) -> None:
    first = deployment.apply()
    planned = first.preview()
    made = {*STACKS} - {"api"}
    assert {change.where for change in planned} == {*made, "S3", "MSK Connect", "EMR"}
    assert {change.action for change in planned} == {"add"}
    first.carry_out()

    again = deployment.apply()
    assert again.preview() == []
    calls = len(deployment.account.connect.calls)
    again.carry_out()
    assert again.preview() == []
    called = deployment.account.connect.calls[calls:]
    assert not {"CreateConnector", "UpdateConnector", "DeleteConnector"} & set(called)

    parts = read_state(deployment.account.aws(), deployment.promotion())
    assert {part.name: part.state for part in parts if part.kind == "stack"} == {
        "tickit-foundation": "CREATE_COMPLETE",
        "tickit-data": "CREATE_COMPLETE",
        "tickit-connect": "CREATE_COMPLETE",
        "tickit-spark": "CREATE_COMPLETE",
    }
    assert {part.name for part in parts if part.kind == "connector"} == CONNECTORS
    assert {part.state for part in parts if part.kind == "connector"} == {"RUNNING"}
    assert [part.name for part in parts if part.kind == "job"] == ["tickit-silver"]


def test_what_connectors_get_is_the_file_with_addresses_in_secrets(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    promotion = deployment.promotion()
    held = {c["connectorName"]: c for c in deployment.account.connect.connectors.values()}
    for connector in promotion.connectors:
        sent = held[connector.name.replace("_", "-")]["connectorConfiguration"]
        assert sent == connector.file.config
    client = deployment.account.client("secretsmanager")
    mysql = json.loads(client.get_secret_value(SecretId="demo/mysql")["SecretString"])
    assert mysql.pop("hostname").startswith("tickit-mysql.")
    assert mysql == {
        "username": "debezium",
        "password": "generated-by-moto",
        "port": "3306",
        "database": "ecomm",
    }
    kafka = json.loads(client.get_secret_value(SecretId="demo/kafka")["SecretString"])
    assert kafka == {
        "bootstrap.servers": "b-1.tickit.example:9098,b-2.tickit.example:9098",
        **java_client("iam"),
    }
    assert not [words for words in deployment.said if "generated-by-moto" in words]


def test_the_workgroup_is_made_changed_and_taken_away(deployment: Deployment) -> None:
    deployment.apply(until="foundation").carry_out()
    athena = deployment.account.client("athena")

    def limit() -> int:
        found = athena.get_work_group(WorkGroup="tickit-athena")["WorkGroup"]["Configuration"]
        assert found["ResultConfiguration"]["OutputLocation"].endswith("-111122223333/athena/")
        return int(found["BytesScannedCutoffPerQuery"])

    assert limit() == 10 * 1024**3
    deployment.changes["athena.scan_gib"] = 1
    changed = deployment.apply(until="foundation")
    assert summary(changed.preview()) == {("foundation", "change", "Workgroup")}
    changed.carry_out()
    assert limit() == 1024**3
    names = {d["Name"] for d in deployment.account.client("glue").get_databases()["DatabaseList"]}
    assert names == {"tickit", "tickit_demo", "tickit_gold"}
    policies = deployment.account.client("iam").list_policies(Scope="Local")["Policies"]
    assert [policy["PolicyName"] for policy in policies] == ["tickit-athena"]
    destroy(deployment.account.aws(), deployment.promotion(), print, data=True)
    listed = athena.list_work_groups()["WorkGroups"]
    assert [workgroup["Name"] for workgroup in listed] == ["primary"]


def test_outputs_are_written_for_the_profile(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    promotion = deployment.promotion()
    path = outputs_path(promotion.project, "aws")
    found = load_promoted(path)
    assert found.servers["postgres"].host.startswith("tickit-postgres.")
    assert found.kafka is not None
    assert found.kafka.authentication == "iam"
    assert found.objectstore is not None
    assert found.objectstore.bucket == "tickit-lake-111122223333"
    assert "generated-by-moto" not in path.read_text()


def test_a_changed_connector_is_changed_in_place(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    before = dict(deployment.account.connect.connectors)
    connectors = deployment.promotion().project / "connectors"
    file = connectors / "source_connector_mysql_kafka_avro_tickit.json"
    _, after = raise_by_one(file, "poll.interval.ms")
    changed = deployment.apply()
    words = "source-connector-mysql-kafka-avro-tickit (connectorConfiguration)"
    found = summary(changed.preview())
    assert ("MSK Connect", "change", words) in found
    # The Spark application carries the files too: its archive, and with it its step, is another.
    assert {where for where, _, _ in found} <= {"MSK Connect", "S3", "EMR"}
    deployment.account.client("emr")
    changed._connectors.carry_out(changed._connectors.compare(changed._requests()))
    assert deployment.account.connect.connectors.keys() == before.keys()
    (mysql,) = [
        c for c in deployment.account.connect.connectors.values() if "mysql" in c["connectorName"]
    ]
    assert mysql["connectorConfiguration"]["poll.interval.ms"] == after
    assert mysql["currentVersion"] == "V2"


def test_a_changed_setting_of_a_stack_is_a_change_set(deployment: Deployment) -> None:
    deployment.apply(until="foundation").carry_out()
    wider = deployment.promotion(**{"network.clients": ["10.0.0.0/16", "10.9.0.0/16"]})
    applying = deployment.apply(wider, until="foundation")
    assert summary(applying.preview()) == {
        ("foundation", "add", "Client2ToKafka9098"),
        ("foundation", "add", "Client2ToDatabases3306"),
        ("foundation", "add", "Client2ToDatabases5432"),
    }
    assert "10.9.0.0/16" not in open_addresses(deployment)
    applying.carry_out()
    assert "10.9.0.0/16" in open_addresses(deployment)
    assert deployment.apply(wider, until="foundation").preview() == []


def open_addresses(deployment: Deployment) -> set[str]:
    groups = deployment.account.client("ec2").describe_security_groups()["SecurityGroups"]
    rules = [rule for group in groups for rule in group["IpPermissions"]]
    return {ip["CidrIp"] for rule in rules for ip in rule["IpRanges"]}


def test_more_workers_are_given_in_place(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    wider = deployment.promotion(**{"connect.workers": 2})
    applying = deployment.apply(wider)
    assert {(c.action, c.kind) for c in applying.preview()} == {("change", "connector")}
    applying.carry_out()
    held = deployment.account.connect.connectors.values()
    assert {c["capacity"]["provisionedCapacity"]["workerCount"] for c in held} == {2}


@pytest.mark.parametrize(
    "operation",
    ["ExecuteChangeSet", "PutObject", "PutSecretValue", "CreateConnector", "AddJobFlowSteps"],
)
def test_an_interrupted_apply_goes_on(deployment: Deployment, operation: str) -> None:
    deployment.account.interrupt = operation
    with pytest.raises(KeyboardInterrupt):
        deployment.apply().carry_out()
    assert deployment.account.interrupt is None
    rest = deployment.apply()
    rest.preview()
    rest.carry_out()
    assert deployment.apply().preview() == []
    names = [c["connectorName"] for c in deployment.account.connect.connectors.values()]
    assert sorted(names) == sorted(CONNECTORS)


def test_throttling_is_waited_out(
    deployment: Deployment, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _seconds: None)
    account.throttle.update({"DescribeStacks": 3, "CreateChangeSet": 2, "PutSecretValue": 2})
    deployment.apply(until="data").carry_out()
    assert len(account.throttled) == 7
    assert not +account.throttle


def test_a_connector_that_failed_says_why_and_is_made_anew(deployment: Deployment) -> None:
    deployment.account.connect.fail_next = "could not reach the database"
    with pytest.raises(LabError, match="could not reach the database") as raised:
        deployment.apply().carry_out()
    assert raised.value.hint is not None
    assert "/labctl/tickit/connect" in raised.value.hint
    assert not [
        c
        for c in deployment.account.connect.connectors.values()
        if c["connectorState"] == "RUNNING"
    ]
    rest = deployment.apply()
    assert ("MSK Connect", "replace") in {(c.where, c.action) for c in rest.preview()}
    rest.carry_out()
    assert {c["connectorState"] for c in deployment.account.connect.connectors.values()} == {
        "RUNNING"
    }


def test_another_account_is_refused(deployment: Deployment) -> None:
    wrong = deployment.promotion(account="111122223333")
    with pytest.raises(LabError, match=f"of account {ACCOUNT}, the profile is for") as raised:
        deployment.apply(wrong).preview()
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_version_the_account_does_not_offer_is_refused(deployment: Deployment) -> None:
    old = deployment.promotion(**{"msk.kafka_version": "3.7.x"})
    with pytest.raises(LabError, match=r"msk.kafka_version: 3.7.x is not among 3.9.x, 4.1.x"):
        deployment.apply(old).preview()


def test_a_parameter_that_rds_does_not_have_is_refused(deployment: Deployment) -> None:
    deployment.account.rds_parameters.remove("gtid-mode")
    with pytest.raises(LabError, match=r"rds.mysql.version: RDS's mysql8.4 has no .* gtid-mode"):
        deployment.apply().preview()


def test_a_subnet_of_another_zone_is_refused(deployment: Deployment) -> None:
    zones = deployment.account.subnets
    swapped = dict(zip(zones, reversed(zones.values()), strict=True))
    with pytest.raises(LabError, match="does not have what the profile names") as raised:
        deployment.apply(deployment.promotion(**{"network.subnets": swapped})).preview()
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_stack_of_somebody_else_is_left_alone(deployment: Deployment) -> None:
    client = deployment.account.client("cloudformation")
    body = json.dumps({"Resources": {"Mine": {"Type": "AWS::SNS::Topic"}}})
    client.create_stack(StackName="tickit-connect", TemplateBody=body)
    with pytest.raises(LabError, match="tickit-connect was not made by labctl") as raised:
        deployment.apply().preview()
    assert raised.value.exit_code is ExitCode.USAGE
    with pytest.raises(LabError, match="was not made by labctl"):
        destroy(deployment.account.aws(), deployment.promotion(), print, data=True)
    assert client.get_template(StackName="tickit-connect")["TemplateBody"] == json.loads(body)


def test_a_connector_of_somebody_else_is_left_alone(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    for tags in deployment.account.connect.tags.values():
        tags["labctl"] = "other/aws"
    with pytest.raises(LabError, match=r"a connector .* that labctl did not make"):
        deployment.apply().preview()
    destroy(deployment.account.aws(), deployment.promotion(), print, data=False)
    assert len(deployment.account.connect.connectors) == len(CONNECTORS)


def test_destroy_keeps_data_unless_asked(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    promotion = deployment.promotion()
    left = destroy(deployment.account.aws(), promotion, deployment.said.append, data=False)
    assert {part.name for part in left} == {"tickit-foundation", "tickit-data"}
    assert deployment.account.connect.connectors == {}
    rds = deployment.account.client("rds")
    assert len(rds.describe_db_instances()["DBInstances"]) == 2

    again = destroy(deployment.account.aws(), promotion, deployment.said.append, data=False)
    assert again == left
    back = deployment.apply()
    assert {change.where for change in back.preview()} == {"connect", "spark", "MSK Connect", "EMR"}
    back.carry_out()

    let_databases_go(deployment)
    promotion = deployment.promotion()
    s3 = deployment.account.client("s3")
    for content in (b"first", b"second"):
        s3.put_object(Bucket=promotion.profile.lake.bucket, Key="silver/x", Body=content)
    s3.delete_object(Bucket=promotion.profile.lake.bucket, Key="silver/x")
    gone = destroy(deployment.account.aws(), promotion, deployment.said.append, data=True)
    assert gone == []
    assert f"s3://{promotion.profile.lake.bucket} is gone, with 3 versions of objects" in (
        deployment.said
    )
    assert rds.describe_db_instances()["DBInstances"] == []
    assert deployment.account.client("s3").list_buckets()["Buckets"] == []
    assert deployment.account.client("kafka").list_clusters_v2()["ClusterInfoList"] == []
    assert not outputs_path(promotion.project, "aws").exists()


SERVERLESS = {"emr.kind": "serverless", "emr.python": "plugins/msk-config-providers.jar"}


def test_a_job_of_emr_serverless_is_run_once_and_replaced_when_it_changes(
    deployment: Deployment,
) -> None:
    promotion = deployment.promotion(**SERVERLESS)
    deployment.apply(promotion).carry_out()
    assert deployment.apply(promotion).preview() == []
    larger = deployment.promotion(**SERVERLESS, **{"emr.driver_memory": "8g"})
    changed = deployment.apply(larger)
    assert summary(changed.preview()) == {("EMR", "replace", "tickit-silver")}
    changed.carry_out()
    assert deployment.apply(larger).preview() == []
    client = deployment.account.client("emr-serverless")
    (application,) = client.list_applications()["applications"]
    runs = client.list_job_runs(applicationId=application["id"])["jobRuns"]
    assert sorted(run["state"] for run in runs) == ["CANCELLED", "RUNNING"]
    left = destroy(deployment.account.aws(), larger, deployment.said.append, data=False)
    assert {part.name for part in left} == {"tickit-foundation", "tickit-data"}


def test_cloudformation_makes_the_connectors_where_it_owns_them(deployment: Deployment) -> None:
    promotion = deployment.promotion(**{"connect.connectors": "cloudformation"})
    deployment.apply(promotion, until="connect").carry_out()
    assert deployment.account.connect.connectors == {}
    stack = deployment.account.client("cloudformation").describe_stack_resources(
        StackName="tickit-connect"
    )["StackResources"]
    kinds = [one["ResourceType"] for one in stack]
    assert kinds.count("AWS::KafkaConnect::Connector") == len(CONNECTORS)


def test_a_stack_whose_creation_failed_is_made_anew(deployment: Deployment) -> None:
    deployment.apply(until="foundation").carry_out()
    backend = cloudformation_backends[ACCOUNT]["us-east-1"]
    (stack,) = backend.stacks.values()
    stack.status = "ROLLBACK_COMPLETE"
    # A creation that is rolled back takes everything it had made with it.
    s3 = deployment.account.client("s3")
    for bucket in s3.list_buckets()["Buckets"]:
        empty_bucket(deployment.account.aws(), bucket["Name"], print)
    secrets = deployment.account.client("secretsmanager")
    for secret in secrets.list_secrets()["SecretList"]:
        secrets.delete_secret(SecretId=secret["Name"], ForceDeleteWithoutRecovery=True)
    iam = deployment.account.client("iam")
    for policy in iam.list_policies(Scope="Local")["Policies"]:
        iam.delete_policy(PolicyArn=policy["Arn"])
    again = deployment.apply(until="foundation")
    assert {change.action for change in again.preview()} == {"add"}
    # Looking changes nothing: what is left of the failure is removed by the apply itself.
    assert [one.status for one in backend.stacks.values()] == ["ROLLBACK_COMPLETE"]
    again.carry_out()
    assert [one.status for one in backend.stacks.values()] == ["CREATE_COMPLETE"]


def test_a_stack_that_fails_says_what_failed(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    applying = deployment.apply(until="foundation")
    backend = cloudformation_backends[ACCOUNT]["us-east-1"]
    execute = backend.execute_change_set

    def fail(**request: Any) -> None:
        execute(**request)
        (stack,) = backend.stacks.values()
        stack.status = "ROLLBACK_COMPLETE"
        event = Event(
            stack_id=stack.stack_id,
            stack_name=stack.name,
            logical_resource_id="LakeBucket",
            physical_resource_id="",
            resource_type="AWS::S3::Bucket",
            resource_status="CREATE_FAILED",
            resource_status_reason="tickit-lake already exists",
            resource_properties=None,
        )
        stack.events.append(event)

    monkeypatch.setattr(backend, "execute_change_set", fail)
    with pytest.raises(LabError, match="could not be made what it should be") as raised:
        applying.carry_out()
    assert raised.value.details == ("LakeBucket: tickit-lake already exists",)


def test_a_secret_that_is_there_already_is_left_alone(deployment: Deployment) -> None:
    client = deployment.account.client("secretsmanager")
    client.create_secret(Name="demo/mysql", SecretString="theirs")
    with pytest.raises(LabError, match="There is a secret demo/mysql already") as raised:
        deployment.apply().preview()
    assert raised.value.exit_code is ExitCode.USAGE
    assert client.get_secret_value(SecretId="demo/mysql")["SecretString"] == "theirs"


def test_a_bucket_of_an_earlier_promotion_is_gone_on_with(deployment: Deployment) -> None:
    s3 = deployment.account.client("s3")
    names = ("tickit-lake-111122223333", "tickit-artifacts-111122223333")
    for name in names:
        s3.create_bucket(Bucket=name)
        tags = [{"Key": "labctl", "Value": "tickit/aws"}]
        s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tags})
    with pytest.raises(LabError, match="is there from an earlier promotion") as raised:
        deployment.apply().preview()
    assert raised.value.hint is not None
    assert "profiles.aws.lake.create = false" in raised.value.hint
    kept = deployment.promotion(**{"lake.create": False})
    deployment.apply(kept, until="foundation").carry_out()
    assert deployment.apply(kept, until="foundation").preview() == []


def test_a_bucket_of_somebody_else_is_not_emptied(deployment: Deployment) -> None:
    deployment.apply(until="foundation").carry_out()
    s3 = deployment.account.client("s3")
    s3.put_bucket_tagging(Bucket="tickit-lake-111122223333", Tagging={"TagSet": []})
    with pytest.raises(LabError, match="bucket tickit-lake-111122223333 was not made by labctl"):
        destroy(deployment.account.aws(), deployment.promotion(), print, data=True)
    names = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    assert "tickit-lake-111122223333" in names


def test_a_plan_without_artifacts_is_not_applied(deployment: Deployment) -> None:
    from labctl.promote.apply.apply_run import Apply
    from labctl.promote.plan import render

    promotion = deployment.promotion()
    incomplete = Apply(promotion, render(promotion, None), deployment.account.aws(), print)
    with pytest.raises(LabError, match="no artifacts"):
        incomplete.carry_out()
