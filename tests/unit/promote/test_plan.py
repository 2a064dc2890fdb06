"""What a plan holds, and that it is the same every time."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from labctl.config.kafka_clients import LOGIN_KEYS
from labctl.config.lab_config import LabConfig
from labctl.engines.sqlserver import ENGINE as SQLSERVER
from labctl.engines.sqlserver.sqlserver_capture_instance import capture_instance
from labctl.errors import ExitCode, LabError
from labctl.promote import load_promotion
from labctl.promote.archive import zip_bytes
from labctl.promote.artifacts import project_archive, spark_uploads
from labctl.promote.broker_logins import Login, java_client
from labctl.promote.connector_secrets import known_values, referenced
from labctl.promote.emr_application import application_arguments, submit_options
from labctl.promote.plan import Plan, render, write_plan
from labctl.promote.plugins import build_plugin, plugin_of
from labctl.sources import ENGINES, Engine, TableRef
from labctl.sources.engine import Preparation
from lakecontract.options import Options
from lakecontract.properties import load_tables
from lakecontract.sink_config import load_sink_config
from tests.unit.promote.conftest import Promote


class FakeStore:
    """An artefact store whose parts are small."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, name: str) -> Path:
        part = self._folder / name
        part.mkdir(parents=True, exist_ok=True)
        (part / f"{name}-1.jar").write_bytes(name.encode() * 100)
        return part


def texts(plan: Plan) -> dict[str, bytes]:
    return {path: content for path, content in plan.files.items() if isinstance(content, bytes)}


def test_a_plan_is_the_same_bytes_wherever_it_is_made(
    promote: Promote, project: Path, tmp_path: Path
) -> None:
    first = texts(render(promote(), None))
    moved = tmp_path / "elsewhere"
    shutil.copytree(project, moved)
    config = LabConfig.load(moved / "lab.toml")
    again = texts(render(load_promotion(moved, config, "aws"), None))
    assert first == again
    assert write_plan(render(promote(), None), tmp_path / "a") == write_plan(
        render(promote(), None), tmp_path / "b"
    )


def test_connector_files_are_the_projects_byte_for_byte(promote: Promote, project: Path) -> None:
    files = texts(render(promote(), None))
    folder = project / "connectors"
    originals = {
        path.name for path in (folder / "worker.properties", *folder.glob("*_tickit.json"))
    }
    assert len(originals) == 5
    planned = {path.split("/")[1] for path in files if path.startswith("connectors/")}
    assert planned == originals, "those of this lab, and no other's"
    for name in originals:
        assert files[f"connectors/{name}"] == (folder / name).read_bytes()


def test_every_source_has_its_request_worker_and_sql(promote: Promote) -> None:
    promotion = promote()
    plan = render(promotion, None)
    for engine, source in promotion.config.sources.items():
        assert f"payloads/connectors/{source.connector}.json" in plan.texts
        assert f"worker/{source.connector}.properties" in plan.texts
        assert f"sql/{engine}.sql" in plan.texts
    assert set(plan.connectors) == {s.connector for s in promotion.config.sources.values()}


def test_a_request_is_the_file(promote: Promote) -> None:
    promotion = promote()
    plan = render(promotion, None)
    for connector in promotion.connectors:
        assert plan.connectors[connector.name]["connectorConfiguration"] == connector.file.config


def test_a_schema_history_logs_in_as_the_brokers_want_it(promote: Promote) -> None:
    """A connector refers to every key, so that each has a value whatever the login."""
    keys = {
        key
        for secret, found in referenced(promote()).items()
        for key in found
        if secret == "demo/kafka"  # noqa: S105 - a name
    }
    assert keys == {"bootstrap.servers", *LOGIN_KEYS}
    logins: tuple[Login, ...] = ("iam", "none")
    for login in logins:
        values = known_values(promote({"msk.authentication": [login]}))["demo/kafka"]
        assert set(values) == keys
        assert all(values.values())
        assert values.items() >= java_client(login).items()


def test_workers_keep_the_projects_settings_and_name_the_provider(promote: Promote) -> None:
    promotion = promote()
    template = render(promotion, None).templates["connect"]["Resources"]
    for connector in promotion.connectors:
        words = connector.name.split("_")
        worker = template["Worker" + "".join(w.capitalize() for w in words)]["Properties"]
        text = base64.b64decode(worker["PropertiesFileContent"]).decode()
        properties = dict(line.split("=", 1) for line in text.splitlines())
        assert properties.items() >= promotion.worker.items()
        assert properties["config.providers"] == "secretManager"
        assert properties["config.providers.secretManager.param.region"] == "us-east-1"
        assert properties["offset.storage.topic"] == f"tickit-offsets-{connector.name}"
        assert worker["Name"].startswith("tickit-source-connector-")


def test_a_changed_worker_gets_another_name(promote: Promote, project: Path) -> None:
    def worker_names() -> set[str]:
        resources = render(promote(), None).templates["connect"]["Resources"].values()
        kind = "AWS::KafkaConnect::WorkerConfiguration"
        return {r["Properties"]["Name"] for r in resources if r["Type"] == kind}

    before = worker_names()
    with (project / "connectors" / "worker.properties").open("a") as file:
        file.write("producer.batch.size=1\n")
    assert not before & worker_names()


def test_plugins_hold_connector_converter_and_provider(
    promote: Promote, project: Path, tmp_path: Path
) -> None:
    (project / "plugins").mkdir()
    provider = zip_bytes({"lib/provider.jar": b"p", "lib/README": b"r"})
    (project / "plugins" / "msk-config-providers.zip").write_bytes(provider)
    promotion = promote()
    (mysql,) = [c for c in promotion.connectors if c.engine == "mysql"]
    plugin = plugin_of(promotion, mysql)
    store: Any = FakeStore(tmp_path / "store")
    content = build_plugin(promotion, plugin, store)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == [
            f"{plugin.name}/0-labctl-connect.jar",
            f"{plugin.name}/apicurio-converter-1.jar",
            f"{plugin.name}/debezium-mysql-1.jar",
            f"{plugin.name}/provider.jar",
        ]
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert (
        hashlib.sha256(content).digest()
        == hashlib.sha256(build_plugin(promotion, plugin, store)).digest()
    )


def test_another_provider_is_another_plugin(promote: Promote, project: Path) -> None:
    def name() -> str:
        promotion = promote()
        return plugin_of(promotion, promotion.connectors[0]).name

    before = name()
    (project / "plugins").mkdir()
    (project / "plugins" / "msk-config-providers.zip").write_bytes(b"other")
    assert name() != before


def test_a_provider_that_is_no_zip_is_named(
    promote: Promote, project: Path, tmp_path: Path
) -> None:
    (project / "plugins").mkdir()
    (project / "plugins" / "msk-config-providers.zip").write_bytes(b"no zip")
    promotion = promote()
    store: Any = FakeStore(tmp_path / "store")
    with pytest.raises(LabError, match=r"msk-config-providers.zip is not a usable ZIP"):
        build_plugin(promotion, plugin_of(promotion, promotion.connectors[0]), store)


def test_the_application_reads_its_own_command_line(promote: Promote) -> None:
    (step,) = render(promote(), None).work
    arguments = step["HadoopJarStep"]["Args"]
    (entry,) = [a for a in arguments if isinstance(a, str) and a.endswith(".py")]
    assert re.fullmatch(r"s3://tickit-artifacts-111122223333/spark/silver-[0-9a-f]{12}\.py", entry)
    own = [str(a) for a in arguments[arguments.index(entry) + 1 :]]
    options = Options.parse(own)
    assert options.target_base_path == "s3://tickit-lake-111122223333/silver"
    assert options.bootstrap_servers == "kafka.BootstrapServers"
    assert options.hoodie_conf["hoodie.write.table.version"] == "6"
    assert options.hoodie_conf["hoodie.write.auto.upgrade"] == "false"
    assert set(options.tables) >= {"tickit.sale", "tickit.event"}


@pytest.mark.parametrize("hudi", ["lock", "release"])
def test_spark_gets_the_classes_of_record_keys_with_the_hudi_they_are_made_for(
    promote: Promote, hudi: str
) -> None:
    promotion = promote({"emr.hudi": hudi})
    uploaded = [
        key for key in (one.key for one in spark_uploads(promotion).values()) if "jar" in key
    ]
    options = submit_options(promotion)
    given = options[options.index("--jars") + 1].split(",")
    assert len(uploaded) == (hudi == "lock")
    assert [
        key for key in uploaded if f"s3://{promotion.profile.lake.artifacts}/{key}" in given
    ] == (uploaded)


def test_the_application_goes_with_the_contract_that_it_needs(
    promote: Promote, project: Path
) -> None:
    uploads = spark_uploads(promote()).values()
    (content,) = [one.content for one in uploads if re.search(r"lakehouse-\w+\.zip", one.key)]
    assert isinstance(content, bytes)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {"lakehouse/spark_process.py", "lakecontract/__init__.py"} <= set(archive.namelist())
    own = project / "spark" / "lakehouse" / "__init__.py"
    own.write_text("CONTRACT = 7\n", encoding="utf-8")
    with pytest.raises(LabError, match="needs version 7"):
        spark_uploads(promote())


@pytest.mark.parametrize(("hudi", "catalog"), [("lock", "hive"), ("release", "glue")])
def test_the_application_registers_its_tables(promote: Promote, hudi: str, catalog: str) -> None:
    """Beside its commits, so that Hudi's writer is not asked to do it in the middle of them."""
    arguments = application_arguments(promote({"emr.hudi": hudi}))
    options = Options.parse([str(argument) for argument in arguments])
    assert options.catalog == catalog
    assert not any("sync" in key for key in options.hoodie_conf)


def test_serverless_runs_the_same_application(promote: Promote) -> None:
    changes = {"emr.kind": "serverless", "emr.python": "python.tar.gz"}
    plan = render(promote(changes), None)
    (run,) = plan.work
    (step,) = render(promote(), None).work
    submit = run["jobDriver"]["sparkSubmit"]
    args = step["HadoopJarStep"]["Args"]
    assert submit["entryPointArguments"] == args[args.index(submit["entryPoint"]) + 1 :]
    assert run["mode"] == "STREAMING"
    assert "environment.tar.gz#environment" in submit["sparkSubmitParameters"]
    assert plan.templates["spark"]["Resources"]["Silver"]["Type"].startswith("AWS::EMRServerless")


def test_what_spark_gets_is_the_projects_files_and_no_secret(
    promote: Promote, project: Path
) -> None:
    upload = project_archive(promote())
    assert isinstance(upload.content, bytes)
    with zipfile.ZipFile(io.BytesIO(upload.content)) as archive:
        for path in sorted((project / "spark" / "properties").glob("*.properties")):
            assert archive.read(f"spark/properties/{path.name}") == path.read_bytes()
        references = archive.read("references/demo/objectstore").decode()
    assert "access.key=\n" in references
    assert "bucket=tickit-lake-111122223333\n" in references


def test_the_application_understands_the_files_it_is_given(
    promote: Promote, tmp_path: Path
) -> None:
    promotion = promote()
    upload = project_archive(promotion)
    assert isinstance(upload.content, bytes)
    with zipfile.ZipFile(io.BytesIO(upload.content)) as archive:
        archive.extractall(tmp_path / "lab")
    (step,) = render(promotion, None).work
    arguments = [str(argument) for argument in step["HadoopJarStep"]["Args"]]
    entry = next(i for i, argument in enumerate(arguments) if argument.endswith(".py"))
    options = Options.parse(arguments[entry + 1 :])
    (sink_config,) = options.sink_configs
    assert options.secrets_dir is not None
    sink = load_sink_config(tmp_path / sink_config, tmp_path / options.secrets_dir)
    assert sink.bucket == "tickit-lake-111122223333"
    assert sink.rotate_schedule_interval_ms == 60_000
    tables = load_tables(
        [tmp_path / folder for folder in options.properties],
        only=options.tables,
        overrides=options.hoodie_conf,
    )
    assert {table.name for table in tables} == {table.name for table in promotion.tables}
    assert {table.hoodie["hoodie.write.table.version"] for table in tables} == {"6"}
    assert {table.ordering_field for table in tables} == {"__kafka_offset"}


def test_cloudformation_can_own_the_connectors(promote: Promote) -> None:
    plan = render(promote({"connect.connectors": "cloudformation"}), None)
    resources = plan.templates["connect"]["Resources"]
    connectors = [r for r in resources.values() if r["Type"] == "AWS::KafkaConnect::Connector"]
    assert len(connectors) == len(plan.connectors)
    configurations = [c["Properties"]["ConnectorConfiguration"] for c in connectors]
    assert configurations == [r["connectorConfiguration"] for r in plan.connectors.values()]
    assert set(plan.templates["connect"]["Parameters"]) == {
        "BootstrapServers",
        "ConnectGroup",
        "ConnectRole",
    }


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_sql_takes_the_password_from_its_client(promote: Promote, engine: str) -> None:
    text = render(promote(), None).texts[f"sql/{engine}.sql"].decode()
    assert "cdc_password" in text
    wanted = {
        "postgres": [
            "GRANT rds_replication TO debezium",
            'ALTER PUBLICATION tickit_debezium SET TABLE "ems"."category", "ems"."event"',
        ],
        "mysql": ["rds_set_configuration('binlog retention hours', 72)", "GRANT RELOAD"],
    }
    for words in wanted[engine]:
        assert words in text


def test_sqlserver_is_switched_on_by_rds_own_procedure(promote: Promote) -> None:
    plan = render(promote({"rds.sqlserver.multi_az": True}), None)
    text = plan.texts["sql/sqlserver.sql"].decode()
    assert "EXEC msdb.dbo.rds_cdc_enable_db N'tickit'" in text
    assert "@source_schema = N'crm'" in text
    assert "@source_name = N'user'" in text
    assert "cdc_capture_maxtrans', 1000" in text
    assert "$(CDC_PASSWORD)" in text


def test_a_capture_instance_has_one_name_everywhere() -> None:
    """A long table's has a shorter one, by which its change records are found again."""
    short, long = TableRef("crm", "user"), TableRef("crm", "c" * 100)
    source = Preparation("shop", ("crm",), (short, long), "cdc", "", (), multi_az=False)
    text = SQLSERVER.preparation(source)
    assert text.count("sp_cdc_enable_table") == 2
    named = re.findall(r"@capture_instance = N'([^']+)'", text)
    assert named == ["crm_user", capture_instance(long)]


def test_secrets_have_names_and_no_values(promote: Promote) -> None:
    plan = render(promote(), None)
    resources = plan.templates["foundation"]["Resources"].values()
    secrets = [r["Properties"] for r in resources if r["Type"] == "AWS::SecretsManager::Secret"]
    assert {s["Name"] for s in secrets} >= {"demo/kafka", "demo/mysql", "demo/postgres"}
    assert not any("SecretString" in secret for secret in secrets)
    everything = b"\n".join(texts(plan).values())
    assert b'"MasterUserPassword"' not in everything
    assert b'"ManageMasterUserPassword": true' in everything


def test_databases_and_buckets_outlive_their_stack(promote: Promote) -> None:
    kept = {
        resource["Type"]: resource["DeletionPolicy"]
        for template in render(promote(), None).templates.values()
        for resource in template["Resources"].values()
        if "DeletionPolicy" in resource
    }
    assert kept == {
        "AWS::S3::Bucket": "Retain",
        "AWS::S3::BucketPolicy": "Retain",
        "AWS::RDS::DBInstance": "Snapshot",
    }


def test_everything_that_can_have_tags_says_who_made_it(promote: Promote) -> None:
    for template in render(promote(), None).templates.values():
        for name, resource in template["Resources"].items():
            tags = resource["Properties"].get("Tags")
            if tags is None:
                assert resource["Type"] in {
                    "AWS::EC2::SecurityGroupEgress",
                    "AWS::EC2::SecurityGroupIngress",
                    "AWS::Glue::Database",
                    "AWS::IAM::InstanceProfile",
                    "AWS::S3::BucketPolicy",
                    "AWS::IAM::ManagedPolicy",
                    "AWS::MSK::Configuration",
                }, name
                continue
            plain = tags if isinstance(tags, dict) else {t["Key"]: t["Value"] for t in tags}
            assert plain["labctl"] == "tickit/aws", name
            assert plain["project"] == "tickit-cdc", name


def test_the_lake_is_asked_in_a_workgroup_of_its_own(promote: Promote) -> None:
    plan = render(promote({"athena.scan_gib": 2, "athena.result_days": 3}), None)
    resources = plan.templates["foundation"]["Resources"]
    workgroup = resources["Workgroup"]["Properties"]
    assert workgroup["Name"] == "tickit-athena"
    told = workgroup["WorkGroupConfiguration"]
    assert told["EnforceWorkGroupConfiguration"] is True
    assert told["BytesScannedCutoffPerQuery"] == 2 * 1024**3
    assert told["EngineVersion"] == {"SelectedEngineVersion": "Athena engine version 3"}
    place = told["ResultConfiguration"]["OutputLocation"]
    bucket = resources["LakeBucket"]["Properties"]
    rule, old_versions = bucket["LifecycleConfiguration"]["Rules"]
    assert place == f"s3://{bucket['BucketName']}/{rule['Prefix']}"
    assert rule["ExpirationInDays"] == 3
    artifacts = resources["ArtifactsBucket"]["Properties"]
    assert artifacts["LifecycleConfiguration"]["Rules"] == [old_versions]
    readme = plan.texts["README.md"].decode()
    assert "has read 2 GiB" in readme
    assert "lifecycle rule" not in readme
    assert "for 3 more days" in readme
    theirs = render(promote({"lake.create": False}), None).texts["README.md"].decode()
    assert "give it a lifecycle rule" in theirs
    assert "requests without TLS" in theirs
    assert "more days" not in theirs


def test_readers_may_read_silver_and_the_views_and_write_results_alone(promote: Promote) -> None:
    promotion = promote()
    resources = render(promotion, None).templates["foundation"]["Resources"]
    document = resources["ReadersPolicy"]["Properties"]["PolicyDocument"]
    allowed = {
        (action, resource.split(":", 5)[-1])
        for statement in document["Statement"]
        for action in statement["Action"]
        for resource in statement["Resource"]
    }
    for database in ("tickit", "tickit_demo", "tickit_gold"):
        assert ("glue:GetTable", f"table/{database}/*") in allowed
        assert f"Catalog{database.title().replace('_', '')}" in resources
    assert ("athena:StartQueryExecution", "workgroup/tickit-athena") in allowed
    bucket = promotion.profile.lake.bucket
    assert {place for action, place in allowed if action == "s3:PutObject"} == {
        f"{bucket}/athena/*"
    }
    changing = {"Create", "Update", "Delete", "BatchCreate", "BatchDelete", "BatchUpdate"}
    assert not [a for a, _ in allowed if a.startswith(tuple(f"glue:{word}" for word in changing))]


def test_views_of_other_tables_have_no_part_in_the_plan(promote: Promote, project: Path) -> None:
    (project / "gold" / "abroad").mkdir()
    (project / "gold" / "abroad" / "far.sql").write_text("SELECT id FROM elsewhere.things\n")
    (project / "queries" / "named" / "abroad").mkdir()
    (project / "queries" / "named" / "abroad" / "far.sql").write_text("SELECT id FROM things\n")
    promotion = promote()
    plan = render(promotion, None)
    assert promotion.view_databases == ("tickit_demo", "tickit_gold")
    assert [name for name in plan.texts if name.startswith("queries/")] == [
        "queries/named/tickit_demo/buyer_likes_by_category.sql",
        "queries/prepared/tickit_sales_by_seller.sql",
    ]
    assert "gold/abroad/far.sql" not in plan.texts
    name = "gold/tickit_gold/sales_by_day_and_category.sql"
    assert plan.texts[name] == (project / name).read_bytes()


def test_a_plan_replaces_a_plan_and_nothing_else(promote: Promote, tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    plan = render(promote(), None)
    write_plan(plan, folder)
    (folder / "stray").write_text("x")
    write_plan(plan, folder)
    assert not (folder / "stray").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").write_text("x")
    with pytest.raises(LabError, match="holds something that is no plan") as raised:
        write_plan(plan, other)
    assert raised.value.exit_code is ExitCode.USAGE
    assert [path.name for path in other.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "| MSK Connect unit (MCU) | 3 |"),
        ({"rds.postgres.multi_az": True}, "| RDS postgres, db.t4g.medium | 2 |"),
    ],
)
def test_the_readme_lists_what_aws_bills(
    promote: Promote, changes: dict[str, Any], line: str
) -> None:
    readme = render(promote(changes), None).texts["README.md"].decode()
    assert f"\n{line}\n" in readme
    assert "https://calculator.aws/" in readme


def test_json_files_are_json(promote: Promote) -> None:
    for path, content in texts(render(promote(), None)).items():
        if path.endswith(".json"):
            json.loads(content)


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_no_program_gets_a_password_on_its_command_line(engine: Engine) -> None:
    """`printf` is the shell's own: it starts no process whose arguments others could read."""
    started = engine.sql_client.format(file="sql/file.sql").split("| ")[-1]
    assert started.split()[0] in ("psql", "mysql", "sqlcmd")
    assert "$" not in started


def test_the_shell_passes_the_password_on(tmp_path: Path) -> None:
    script = tmp_path / "mysql.sql"
    script.write_text("SELECT 1;\n")
    command = ENGINES["mysql"].sql_client.format(file=script).replace("| mysql", "| cat")
    done = subprocess.run(
        ["sh", "-c", command], env={"CDC_PASSWORD": "p%s d"}, capture_output=True, check=True
    )
    assert done.stdout == b"SET @cdc_password='p%s d';\nSELECT 1;\n"
