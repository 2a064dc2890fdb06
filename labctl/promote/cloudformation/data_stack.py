"""The resources that hold data: databases with CDC enabled, and the brokers."""

from __future__ import annotations

from typing import Any

from labctl.config.aws import RdsSettings
from labctl.engine_names import EngineName
from labctl.promote.aws_names import Names, logical
from labctl.promote.broker_logins import serverless
from labctl.promote.cloudformation.template import Template, attribute, ref, tag_list, tag_map
from labctl.promote.promotion import Promotion
from labctl.promote.rds import engine_name, family, parameters
from labctl.services.kafka_service import MESSAGE_BYTES
from labctl.sources import ENGINES

__all__ = ["template"]

ADMIN = "labadmin"
GROUP = "AWS::EC2::SecurityGroup::Id"


def template(promotion: Promotion) -> dict[str, Any]:
    built = Template(f"labctl {promotion.profile.prefix}: source databases and brokers")
    if any(database.create for database in promotion.rds.values()):
        built.parameter("DatabasesGroup", GROUP, "Group of the databases")
        built.add(
            "DatabaseSubnets",
            "AWS::RDS::DBSubnetGroup",
            {
                "DBSubnetGroupName": f"{promotion.profile.prefix}-databases",
                "DBSubnetGroupDescription": f"Private subnets of {promotion.profile.prefix}",
                "SubnetIds": sorted(promotion.profile.network.subnets.values()),
                "Tags": tag_list(promotion),
            },
        )
    for engine, database in promotion.rds.items():
        _add_database(built, promotion, engine, database)
    built.parameter("KafkaGroup", GROUP, "Group of the brokers")
    if serverless(promotion.profile.msk):
        _add_serverless(built, promotion)
    else:
        _add_brokers(built, promotion)
    built.output("ClusterArn", ref("Brokers"), "The MSK cluster")
    return built.body()


def _add_database(
    built: Template, promotion: Promotion, engine: EngineName, database: RdsSettings
) -> None:
    settings = parameters(promotion, engine)
    group = logical(engine, "parameters")
    if settings:
        built.add(
            group,
            "AWS::RDS::DBParameterGroup",
            {
                "DBParameterGroupName": Names.of(promotion).parameter_group(engine),
                "Description": f"Change data capture from {engine}",
                "Family": family(engine, database),
                "Parameters": settings,
                "Tags": tag_list(promotion),
            },
        )
        built.output(group, ref(group), f"Parameter group for {engine}")
    if not database.create:
        return
    name = logical(engine, "database")
    properties: dict[str, Any] = {
        "DBInstanceIdentifier": database.instance,
        "Engine": engine_name(engine, database),
        "EngineVersion": database.version,
        "DBInstanceClass": database.instance_class,
        "AllocatedStorage": str(database.storage_gib),
        "StorageType": "gp3",
        "StorageEncrypted": True,
        "MasterUsername": ADMIN,
        # RDS makes the password and keeps it in Secrets Manager; nobody else gets it.
        "ManageMasterUserPassword": True,
        "Port": str(database.port),
        "BackupRetentionPeriod": database.backup_days,
        "MultiAZ": database.multi_az,
        "PubliclyAccessible": False,
        "DeletionProtection": database.deletion_protection,
        "CopyTagsToSnapshot": True,
        "DBSubnetGroupName": ref("DatabaseSubnets"),
        "VPCSecurityGroups": [ref("DatabasesGroup")],
        "Tags": tag_list(promotion),
    }
    if settings:
        properties["DBParameterGroupName"] = ref(group)
    if ENGINES[engine].rds.licensed:
        # SQL Server has no database at first (the SQL makes it). The price includes the licence.
        properties["LicenseModel"] = "license-included"
    else:
        properties["DBName"] = database.database
    built.add(name, "AWS::RDS::DBInstance", properties, keep="Snapshot")
    built.output(f"{engine.capitalize()}Host", attribute(name, "Endpoint.Address"), "Its address")
    built.output(
        f"{engine.capitalize()}Admin",
        attribute(name, "MasterUserSecret.SecretArn"),
        "Secret of its administrator",
    )


def _add_serverless(built: Template, promotion: Promotion) -> None:
    built.add(
        "Brokers",
        "AWS::MSK::ServerlessCluster",
        {
            "ClusterName": Names.of(promotion).cluster,
            "ClientAuthentication": {"Sasl": {"Iam": {"Enabled": True}}},
            "VpcConfigs": [
                {
                    "SubnetIds": sorted(promotion.profile.network.subnets.values()),
                    "SecurityGroups": [ref("KafkaGroup")],
                }
            ],
            "Tags": tag_map(promotion),
        },
    )


def broker_properties(promotion: Promotion) -> dict[str, str]:
    """Return the brokers' configuration: that of the lab's own broker, except for replication."""
    copies = min(promotion.profile.msk.brokers, 3)
    return {
        # A connector's settings create topics; a mistyped name must not.
        "auto.create.topics.enable": "false",
        "default.replication.factor": str(copies),
        "min.insync.replicas": str(max(1, copies - 1)),
        "num.partitions": "1",
        "message.max.bytes": str(MESSAGE_BYTES),
        "replica.fetch.max.bytes": str(MESSAGE_BYTES),
    }


def _add_brokers(built: Template, promotion: Promotion) -> None:
    msk, names = promotion.profile.msk, Names.of(promotion)
    built.add(
        "BrokerConfiguration",
        "AWS::MSK::Configuration",
        {
            "Name": names.cluster,
            "Description": f"Brokers of {names.prefix}",
            "KafkaVersionsList": [msk.kafka_version],
            "ServerProperties": "".join(
                f"{key}={value}\n" for key, value in broker_properties(promotion).items()
            ),
        },
    )
    built.add(
        "Brokers",
        "AWS::MSK::Cluster",
        {
            "ClusterName": names.cluster,
            "KafkaVersion": msk.kafka_version,
            "NumberOfBrokerNodes": msk.brokers,
            "BrokerNodeGroupInfo": {
                "InstanceType": msk.broker_type,
                "ClientSubnets": sorted(promotion.profile.network.subnets.values()),
                "SecurityGroups": [ref("KafkaGroup")],
                "StorageInfo": {"EBSStorageInfo": {"VolumeSize": msk.storage_gib}},
            },
            "ClientAuthentication": {
                "Sasl": {
                    "Iam": {"Enabled": "iam" in msk.authentication},
                    "Scram": {"Enabled": "scram" in msk.authentication},
                },
                "Unauthenticated": {"Enabled": "none" in msk.authentication},
            },
            "EncryptionInfo": {"EncryptionInTransit": {"ClientBroker": "TLS", "InCluster": True}},
            "ConfigurationInfo": {
                "Arn": ref("BrokerConfiguration"),
                "Revision": attribute("BrokerConfiguration", "LatestRevision.Revision"),
            },
            "Tags": tag_map(promotion),
        },
    )
    if "scram" in msk.authentication:
        secret = built.parameter("ScramSecret", "String", "ARN of the SCRAM users' secret")
        built.add(
            "ScramUsers",
            "AWS::MSK::BatchScramSecret",
            {"ClusterArn": ref("Brokers"), "SecretArnList": [secret]},
        )
