"""Something wrong for every pre-flight rule, and where its finding must point."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from labctl.promote.plan import Plan

__all__ = ["BAD", "MYSQL_FILE", "SINK_FILE", "Bad", "in_template"]

SQLSERVER = "rds.sqlserver"
POSTGRES_FILE = "source_connector_postgres_kafka_avro_tickit.json"
SINK_FILE = "sink_connector_kafka_s3_avro_tickit.json"
LONG_NAME = f"source_connector_{'x' * 120}"
MYSQL_FILE = "source_connector_mysql_kafka_avro_tickit.json"


@dataclass(frozen=True)
class Bad:
    """A profile, files or a plan with one thing wrong, and where the finding must point."""

    rule: str
    where: str
    says: str
    profile: dict[str, Any] = field(default_factory=dict)
    connector: tuple[str, str, str | None] | None = None
    """File, key and value (None: without the key) of a changed connector."""
    file: tuple[str, str] | None = None
    """Path and text added to a file of the project (made where it is not there)."""
    plan: Callable[[Plan], Plan] | None = None
    complete: bool = False
    rename: str | None = None
    """Another name for the MySQL connector."""
    lab: dict[str, Any] = field(default_factory=dict)
    """Values of `lab.toml` outside the profile."""
    removed: str | None = None
    """A file of the project that is not there."""


def in_template(stack: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Plan], Plan]:
    def changed(plan: Plan) -> Plan:
        templates: Any = copy.deepcopy(dict(plan.templates))
        change(templates[stack]["Resources"])
        return replace(plan, templates=templates)

    return changed


def in_request(change: Callable[[dict[str, Any]], None]) -> Callable[[Plan], Plan]:
    def changed(plan: Plan) -> Plan:
        connectors: Any = copy.deepcopy(dict(plan.connectors))
        change(connectors[MYSQL_FILE.removesuffix(".json")])
        return replace(plan, connectors=connectors)

    return changed


def allow_everything(resources: dict[str, Any]) -> None:
    statement = resources["SparkRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    statement[0]["Resource"] = ["*"]


def let_readers_do_everything(resources: dict[str, Any]) -> None:
    document = resources["ReadersPolicy"]["Properties"]["PolicyDocument"]
    document["Statement"][2]["Action"] = ["glue:*"]


def close_brokers(resources: dict[str, Any]) -> None:
    del resources["ConnectToKafka9098In"]


SERVERLESS = {"emr.kind": "serverless"}
STREAMER = {"emr.engine": "streamer"}
SCALING = {"connect.workers": None}

BAD = [
    Bad("connect_version", "connect.version", "no version '3.9'", {"connect.version": "3.9"}),
    Bad("connect_version", "connect.version", "needs Java 17", {"connect.version": "2.7.1"}),
    Bad("connect_capacity", "connect.mcu", "cannot have 3 units", {"connect.mcu": 3}),
    Bad(
        "connect_capacity",
        "connect.workers",
        "either a number of workers or autoscaling",
        {"connect.autoscaling": {"min_workers": 1, "max_workers": 2}},
    ),
    Bad("connect_capacity", "connect.workers", "either a number", {"connect.workers": None}),
    Bad("connect_capacity", "connect.workers", "10 workers at most", {"connect.workers": 11}),
    Bad(
        "connect_capacity",
        "connect.autoscaling.min_workers",
        "the least (3) is above the most (2)",
        {**SCALING, "connect.autoscaling": {"min_workers": 3, "max_workers": 2}},
    ),
    Bad(
        "connect_capacity",
        "connect.autoscaling.scale_in_percent",
        "removed at 90 % CPU and added at 80 %",
        {
            **SCALING,
            "connect.autoscaling": {"min_workers": 1, "max_workers": 2, "scale_in_percent": 90},
        },
    ),
    Bad(
        "worker_configuration",
        "connectors/worker.properties: rest.port",
        "refuses it",
        file=("connectors/worker.properties", "rest.port=1\n"),
    ),
    Bad(
        "worker_configuration",
        "connectors/worker.properties: producer.interceptor.classes",
        "refuses it",
        file=("connectors/worker.properties", "producer.interceptor.classes=x\n"),
    ),
    Bad(
        "message_size",
        "connectors/worker.properties: producer.max.request.size",
        "8388608 bytes at most, not 9000000",
        file=("connectors/worker.properties", "producer.max.request.size=9000000\n"),
    ),
    Bad(
        "config_provider",
        "connect.provider.file",
        "there is no file plugins/msk-config-providers.zip",
        complete=True,
    ),
    Bad(
        "config_provider",
        "connect.provider.file",
        "neither a jar nor a ZIP",
        {"connect.provider.file": "plugins/provider.tar"},
    ),
    Bad(
        "config_provider",
        "connect.provider.sha256",
        "another checksum",
        {"connect.provider.sha256": "0" * 64},
        file=("plugins/msk-config-providers.zip", "x"),
    ),
    Bad(
        "registered_converters",
        f"connectors/{MYSQL_FILE}: value.converter",
        "not in the connector's plugin",
        connector=(MYSQL_FILE, "value.converter", "io.confluent.connect.avro.AvroConverter"),
    ),
    Bad(
        "connector_keys",
        f"connectors/{MYSQL_FILE}: slot.nmae",
        "unknown key",
        connector=(MYSQL_FILE, "slot.nmae", "x"),
    ),
    Bad("kafka_version", "msk.kafka_version", "no Kafka '2.8.1'", {"msk.kafka_version": "2.8.1"}),
    Bad("broker_type", "msk.broker_type", "no type of broker", {"msk.broker_type": "m7g.large"}),
    Bad("broker_zones", "msk.brokers", "3 brokers cannot be spread", {"msk.brokers": 3}),
    Bad(
        "broker_zones",
        "network.subnets",
        "2 or 3 zones, here are 1",
        {"network.subnets": {"us-east-1a": "subnet-0a1b2c3d"}},
    ),
    *(
        Bad(
            "retention",
            f"connectors/{MYSQL_FILE}: topic.creation.default.retention.ms",
            says,
            connector=(MYSQL_FILE, "topic.creation.default.retention.ms", value),
        )
        for value, says in (
            (None, "deletes messages after 7 days"),
            ("3600000", "deleted after 1 hours"),
            ("for ever", "no number"),
        )
    ),
    Bad(
        "broker_login",
        "msk.authentication",
        "Serverless knows IAM alone",
        {"msk.kind": "serverless", "msk.authentication": ["iam", "scram"]},
    ),
    Bad("broker_login", "msk.authentication", "could not reach", {"msk.authentication": ["scram"]}),
    Bad(
        "scram_secret",
        "msk.scram_secret",
        "begin with AmazonMSK_",
        {
            "msk.authentication": ["iam", "scram"],
            "msk.scram_secret": "kafka-users",
            "msk.kms_key": "arn:aws:kms:us-east-1:111122223333:key/0",
        },
    ),
    Bad(
        "scram_secret",
        "msk.kms_key",
        "under AWS's own key",
        {"msk.authentication": ["iam", "scram"], "msk.scram_secret": "AmazonMSK_tickit"},
    ),
    Bad("source_has_database", "rds.mysql", "the lab captures mysql", {"rds.mysql": None}),
    Bad(
        "engine_version", "rds.mysql.version", "not known to work", {"rds.mysql.version": "5.7.44"}
    ),
    Bad(
        "sqlserver_edition",
        "rds.sqlserver.edition",
        "no change data capture in Express",
        {f"{SQLSERVER}.edition": "ex"},
    ),
    Bad(
        "sqlserver_edition",
        "rds.sqlserver.edition",
        "no change data capture in Web",
        {f"{SQLSERVER}.edition": "web"},
    ),
    Bad(
        "sqlserver_edition",
        "rds.sqlserver.version",
        "Standard edition 13.00.4411.0.v1 has no",
        {f"{SQLSERVER}.version": "13.00.4411.0.v1"},
    ),
    Bad(
        "edition_of_licensed_only",
        "rds.mysql.edition",
        "mysql has no editions",
        {"rds.mysql.edition": "ee"},
    ),
    Bad("mysql_backups", "rds.mysql.backup_days", "no binary log", {"rds.mysql.backup_days": 0}),
    Bad(
        "database_zones",
        "network.subnets",
        "2 zones, here is 1",
        {"network.subnets": {"us-east-1a": "subnet-0a1b2c3d"}},
    ),
    Bad(
        "existing_database",
        "rds.sqlserver.security_group",
        "does not know its security_group",
        {f"{SQLSERVER}.security_group": None},
    ),
    Bad(
        "replication_slots",
        f"connectors/{POSTGRES_FILE}: slot.name",
        "no replication slot called 'Tickit-1'",
        connector=(POSTGRES_FILE, "slot.name", "Tickit-1"),
    ),
    Bad(
        "zones",
        "network.subnets.us-east-2a",
        "no availability zone of us-east-1",
        {"network.subnets": {"us-east-1a": "subnet-0a1b2c3d", "us-east-2a": "subnet-0a1b2c3e"}},
    ),
    Bad("zones", "network.subnets", "there is no subnet", {"network.subnets": {}}),
    Bad(
        "zones",
        "network.subnets",
        "named for two zones",
        {"network.subnets": {"us-east-1a": "subnet-0a1b2c3d", "us-east-1b": "subnet-0a1b2c3d"}},
    ),
    Bad("way_out", "network.egress", "could not reach Secrets Manager", {"network.egress": "none"}),
    Bad("way_out", "network.route_tables", "S3 endpoint", {"network.egress": "endpoints"}),
    Bad(
        "open_ports",
        "network.allow",
        "Connect asks for schemas on port 8080, and nothing lets that out",
        {"network.allow": [{"cidr": "0.0.0.0/0", "ports": [443]}]},
    ),
    Bad(
        "open_ports",
        "network.allow",
        "calls the APIs of AWS on port 443",
        {"network.allow": [{"cidr": "10.0.0.0/16", "ports": [8080]}]},
    ),
    Bad(
        "open_ports",
        "msk.authentication",
        "port 9098, which the group Kafka does not let in",
        plan=in_template("foundation", close_brokers),
    ),
    Bad(
        "references_answered",
        f"connectors/{MYSQL_FILE}: database.password",
        "no secret 'demo/mysqll'",
        connector=(MYSQL_FILE, "database.password", "${secretManager:demo/mysqll:password}"),
    ),
    Bad(
        "references_answered",
        f"connectors/{MYSQL_FILE}: database.user",
        "the secret 'demo/mysql' will have no 'user'",
        connector=(MYSQL_FILE, "database.user", "${secretManager:demo/mysql:user}"),
    ),
    Bad(
        "provider_known",
        f"connectors/{MYSQL_FILE}: database.user",
        "no config provider is called 'file'",
        connector=(MYSQL_FILE, "database.user", "${file:demo/mysql:username}"),
    ),
    Bad(
        "no_written_secret",
        f"connectors/{MYSQL_FILE}: database.password",
        "a secret in clear",
        connector=(MYSQL_FILE, "database.password", "hunter2"),
    ),
    Bad(
        "resource_names",
        "cloudformation/data.json: Resources.PostgresDatabase.Properties.DBInstanceIdentifier",
        "single hyphens",
        {"rds.postgres.instance": "tickit--postgres"},
    ),
    Bad(
        "resource_names",
        "cloudformation/connect.json: Resources.WorkerSourceConnectorMysqlKafkaAvroTickit",
        "is not 1 to 128",
        plan=in_template(
            "connect",
            lambda r: r["WorkerSourceConnectorMysqlKafkaAvroTickit"]["Properties"].update(
                Name="x" * 129
            ),
        ),
    ),
    Bad(
        "connector_names",
        f"connectors/{LONG_NAME}.json: (its name)",
        "is no name for MSK Connect",
        rename=LONG_NAME,
    ),
    Bad("tags", "tags.labctl", "neither `labctl`", {"tags": {"labctl": "mine"}}),
    Bad("tags", "tags.aws:owner", "nor `aws:…`", {"tags": {"aws:owner": "me"}}),
    Bad(
        "template_size",
        "cloudformation/data.json: (its size)",
        "takes 51200",
        plan=in_template("data", lambda r: r.update(x={"Type": "T", "D": "x" * 60_000})),
    ),
    Bad(
        "named_resources",
        "cloudformation/foundation.json: Resources.SparkRole.Policies.lake",
        "on *",
        plan=in_template("foundation", allow_everything),
    ),
    Bad(
        "named_resources",
        "cloudformation/foundation.json: Resources.ReadersPolicy.PolicyDocument",
        "every action glue:*",
        plan=in_template("foundation", let_readers_do_everything),
    ),
    Bad(
        "results_apart",
        f"connectors/{SINK_FILE}: topics.dir",
        "deleted after 7 days",
        connector=(SINK_FILE, "topics.dir", "athena/bronze"),
    ),
    Bad(
        "views_have_tables",
        "gold/tickit_gold/new.sql: tickit.salez",
        "no such table",
        file=("gold/tickit_gold/new.sql", "SELECT saleid FROM tickit.salez\n"),
    ),
    Bad("emr_release", "emr.release", "not known", {"emr.release": "emr-7.99.0"}),
    Bad("emr_release", "emr.release", "runs Spark 4.0", {"emr.release": "emr-spark-8.0.0"}),
    Bad(
        "release_hudi",
        "emr.hudi",
        "brings Hudi 0.15.0",
        {"emr.release": "emr-7.10.0", "emr.hudi": "release"},
    ),
    Bad(
        "athena_table_version",
        "spark/properties/tickit.ecomm.sale.properties: hoodie.write.table.version",
        "asks for version 8",
        file=("spark/properties/tickit.ecomm.sale.properties", "hoodie.write.table.version=8\n"),
    ),
    Bad("python_environment", "emr.python", "the application needs 3.11", SERVERLESS),
    Bad(
        "python_environment",
        "emr.python",
        "there is no file environment.tar.gz",
        {**SERVERLESS, "emr.python": "environment.tar.gz"},
        complete=True,
    ),
    Bad(
        "streamer_schemas",
        "schemas/tickit.ecomm.date.avsc: (the file)",
        "needs the schema of its bronze files",
        STREAMER,
    ),
    Bad(
        "streamer_schemas",
        "schemas/tickit.ecomm.sale.avsc: __kafka_offset",
        "not in the schema",
        STREAMER,
        file=("schemas/tickit.ecomm.sale.avsc", '{"fields": [{"name": "salesid"}]}'),
    ),
    Bad(
        "bronze_retention",
        "emr.engine",
        "lake.retention is 30d, and only the application removes",
        STREAMER,
        lab={"lake.retention": "30d"},
    ),
    Bad(
        "ordering_fields",
        "emr.hudi",
        "ordered by __kafka_offset, other",
        {"emr.hudi": "release"},
        file=(
            "spark/properties/tickit.ecomm.sale.properties",
            "hoodie.table.ordering.fields=other\n",
        ),
    ),
    Bad(
        "registry_address",
        "registry.url",
        "no base address",
        {"registry.url": "http://registry:8080/apis/registry/v2"},
    ),
    Bad(
        "registry_address",
        "registry.url",
        "on this machine",
        {"registry.url": "http://localhost:8080"},
    ),
    Bad(
        "templates_lint",
        "cloudformation/connect.json: Resources.ConnectorSourceConnector",
        "3 is not one of [1, 2, 4, 8]",
        {"connect.mcu": 3, "connect.connectors": "cloudformation"},
    ),
    Bad(
        "requests_fit",
        f"payloads/connectors/{MYSQL_FILE}: CreateConnector",
        "Missing required parameter",
        plan=in_request(lambda r: r.pop("serviceExecutionRoleArn")),
    ),
    Bad(
        "requests_fit",
        f"payloads/connectors/{MYSQL_FILE}: tasks.max",
        "1 is no string",
        plan=in_request(lambda r: r["connectorConfiguration"].update({"tasks.max": 1})),
    ),
    Bad(
        "requests_fit",
        f"payloads/connectors/{MYSQL_FILE}: capacity",
        "exactly one of",
        plan=in_request(lambda r: r["capacity"].update(autoScaling={})),
    ),
]
