"""Resource types that moto's CloudFormation lacks, made with moto's own services where it has them.

Importing this module teaches them to moto; it must happen before its first stack.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from moto.athena.models import athena_backends
from moto.cloudformation.models import ChangeSet, CloudFormationBackend
from moto.core.common_models import CloudFormationModel
from moto.emrserverless import models as emrserverless_models
from moto.emrserverless.models import emrserverless_backends
from moto.glue.models import glue_backends
from moto.kafka.models import kafka_backends
from moto.rds.models import DBInstance, DBParameterGroup
from moto.s3.models import FakeBucket
from moto.secretsmanager.models import secretsmanager_backends

__all__ = ["SUFFIX"]

SUFFIX = "11111111-2222-3333-4444-555555555555-1"


class _Added(CloudFormationModel):
    """A resource with an id and attributes; subclasses make something behind it."""

    type_: ClassVar[str] = ""
    name_: ClassVar[str] = ""

    def __init__(self, identity: str, attributes: dict[str, Any] | None = None) -> None:
        self.physical_resource_id = identity
        self.attributes = attributes or {}

    @classmethod
    def cloudformation_type(cls) -> str:
        return cls.type_

    @classmethod
    def cloudformation_name_type(cls) -> str:
        return cls.name_

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        return True

    def get_cfn_attribute(self, name: str) -> Any:
        return self.attributes[name]

    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> _Added:
        return cls(name)

    @classmethod
    def drop(cls, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        """Nothing stands behind it."""

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
        **_: Any,
    ) -> _Added:
        return cls.make(resource_name, cloudformation_json["Properties"], account_id, region_name)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> _Added:
        properties = cloudformation_json["Properties"]
        cls.drop(original_resource.physical_resource_id, properties, account_id, region_name)
        return cls.make(new_resource_name, properties, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        cls.drop(resource_name, cloudformation_json["Properties"], account_id, region_name)

    def is_created(self) -> bool:
        return True


def _direct(cls: type[_Added], type_: str, name: str = "") -> type:
    """moto looks at the direct subclasses of its own base alone."""
    members = {k: v for k, v in {**_Added.__dict__, **cls.__dict__}.items() if k != "__dict__"}
    members |= {"type_": type_, "name_": name}
    members.pop("__weakref__", None)
    return type(f"Direct{cls.__name__}", (CloudFormationModel,), members)


class Egress(_Added):
    """A rule that lets traffic out."""


class Secret(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        backend = secretsmanager_backends[account][region]
        generate = properties.get("GenerateSecretString")
        value = None
        if generate and "GenerateStringKey" not in generate:
            value = "generated-by-moto"
        elif generate:
            made = {**json.loads(generate["SecretStringTemplate"])}
            made[generate["GenerateStringKey"]] = "generated-by-moto"
            value = json.dumps(made)
        answer = backend.create_secret(
            name=properties["Name"],
            secret_string=value,
            secret_binary=None,
            description=None,
            tags=properties.get("Tags", []),
            kms_key_id=None,
            client_request_token=None,
            replica_regions=[],
            force_overwrite=False,
        )
        return cls(json.loads(answer)["ARN"])

    @classmethod
    def drop(cls, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        secretsmanager_backends[account][region].delete_secret(
            secret_id=properties["Name"],
            recovery_window_in_days=None,
            force_delete_without_recovery=True,
        )


class Catalog(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        database = properties["DatabaseInput"]
        glue_backends[account][region].create_database(database["Name"], database)
        return cls(database["Name"])

    @classmethod
    def drop(cls, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        glue_backends[account][region].delete_database(properties["DatabaseInput"]["Name"])


class Workgroup(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        athena_backends[account][region].create_work_group(
            name=properties["Name"],
            configuration=dict(properties["WorkGroupConfiguration"]),
            description=properties["Description"],
            tags=properties["Tags"],
        )
        return cls(properties["Name"])

    @classmethod
    def drop(cls, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        athena_backends[account][region].delete_work_group(properties["Name"])


class BucketPolicy(_Added):
    """Not handed to the bucket: moto looks at no condition, and would refuse every request."""


class BrokerConfiguration(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        arn = f"arn:aws:kafka:{region}:{account}:configuration/{properties['Name']}/{SUFFIX}"
        return cls(arn, {"LatestRevision.Revision": "1"})


class Cluster(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        arn, *_ = kafka_backends[account][region].create_cluster_v2(
            cluster_name=properties["ClusterName"],
            tags=properties.get("Tags"),
            provisioned={
                "brokerNodeGroupInfo": {},
                "kafkaVersion": properties.get("KafkaVersion"),
                "numberOfBrokerNodes": properties.get("NumberOfBrokerNodes"),
            },
            serverless=None,
        )
        return cls(arn)

    @classmethod
    def drop(cls, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        backend = kafka_backends[account][region]
        for arn, cluster in list(backend.clusters.items()):
            if cluster.cluster_name == properties["ClusterName"]:
                backend.delete_cluster(arn, "")


class Plugin(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        kind = "custom-plugin" if "ContentType" in properties else "worker-configuration"
        arn = f"arn:aws:kafkaconnect:{region}:{account}:{kind}/{properties['Name']}/{SUFFIX}"
        return cls(arn, {"CustomPluginArn": arn, "WorkerConfigurationArn": arn, "Revision": 1})


class Connector(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        arn = f"arn:aws:kafkaconnect:{region}:{account}:connector/{properties['ConnectorName']}"
        return cls(f"{arn}/{SUFFIX}")


class Cache(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        identity = properties["ReplicationGroupId"]
        return cls(identity, {"PrimaryEndPoint.Address": f"master.{identity}.example"})


class CacheSubnets(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        return cls(properties["CacheSubnetGroupName"])


class Scaling(_Added):
    """How many tasks there are; no test reads it."""


class SparkApplication(_Added):
    @classmethod
    def make(cls, name: str, properties: dict[str, Any], account: str, region: str) -> Any:
        made = emrserverless_backends[account][region].create_application(
            name=properties["Name"],
            release_label=properties["ReleaseLabel"],
            application_type=properties["Type"],
            client_token="0",  # noqa: S106 - no secret
            initial_capacity="",
            maximum_capacity="",
            tags={},
            auto_start_configuration="",
            auto_stop_configuration="",
            network_configuration=None,
        )
        # moto knows no list of runs before the first one.
        emrserverless_backends[account][region].job_runs.setdefault(made.id, [])
        return cls(made.id, {"ApplicationId": made.id})

    @classmethod
    def drop(cls, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        backend = emrserverless_backends[account][region]
        for identity, application in list(backend.applications.items()):
            if application.name == properties["Name"]:
                alive = ("RUNNING", "SUBMITTED", "PENDING", "SCHEDULED")
                runs = backend.job_runs.get(identity, [])
                assert not [run for run in runs if run.state in alive], "a job runs on it"
                backend.stop_application(identity)
                backend.delete_application(identity)


# A class knows its subclasses only as long as somebody else does.
_KEPT = [
    _direct(made, kind)
    for made, kind in (
        (Egress, "AWS::EC2::SecurityGroupEgress"),
        (Secret, "AWS::SecretsManager::Secret"),
        (Catalog, "AWS::Glue::Database"),
        (Workgroup, "AWS::Athena::WorkGroup"),
        (BucketPolicy, "AWS::S3::BucketPolicy"),
        (BrokerConfiguration, "AWS::MSK::Configuration"),
        (Cluster, "AWS::MSK::Cluster"),
        (SparkApplication, "AWS::EMRServerless::Application"),
        (Cache, "AWS::ElastiCache::ReplicationGroup"),
        (CacheSubnets, "AWS::ElastiCache::SubnetGroup"),
        (Scaling, "AWS::ApplicationAutoScaling::ScalableTarget"),
        (Scaling, "AWS::ApplicationAutoScaling::ScalingPolicy"),
        (Connector, "AWS::KafkaConnect::Connector"),
        (Plugin, "AWS::KafkaConnect::CustomPlugin"),
        (Plugin, "AWS::KafkaConnect::WorkerConfiguration"),
    )
]

patch: Any = setattr  # what moto does otherwise than AWS
_rds_attribute = DBInstance.get_cfn_attribute


def _with_admin_secret(database: DBInstance, name: str) -> Any:
    if name == "MasterUserSecret.SecretArn":
        name_of_secret = f"rds!{database.db_instance_identifier}"
        return f"arn:aws:secretsmanager:us-east-1:123456789012:secret:{name_of_secret}"
    return _rds_attribute(database, name)


patch(DBInstance, "get_cfn_attribute", _with_admin_secret)
# moto puts the object itself where a template refers to a parameter group.
patch(DBParameterGroup, "physical_resource_id", property(lambda group: group.name))


def _with_property(cls: Any, key: str, put: Any) -> None:
    """Have moto keep a property that it leaves out when a stack makes or changes a resource."""
    create, update = cls.create_from_cloudformation_json, cls.update_from_cloudformation_json

    def created(
        _cls: Any, /, name: str, template: Any, account: str, region: str, **more: Any
    ) -> Any:
        made = create(name, template, account, region, **more)
        put(made, template["Properties"].get(key))
        return made

    def updated(_cls: Any, /, **request: Any) -> Any:
        # Of a database moto lets a stack change nothing.
        kept = request["original_resource"] if cls is DBInstance else update(**request)
        put(kept, request["cloudformation_json"]["Properties"].get(key))
        return kept

    patch(cls, "create_from_cloudformation_json", classmethod(created))
    patch(cls, "update_from_cloudformation_json", classmethod(updated))


def _protect(database: DBInstance, value: Any) -> None:
    database.deletion_protection = bool(value)


def _keep_versions(bucket: FakeBucket, value: Any) -> None:
    bucket.versioning_status = (value or {}).get("Status")


_with_property(DBInstance, "DeletionProtection", _protect)
_with_property(FakeBucket, "VersioningConfiguration", _keep_versions)


def _apply(change_set: ChangeSet) -> None:
    """moto forgets a stack's outputs when a change set makes or changes it."""
    stack = change_set.stack
    stack.template = change_set.template
    stack._parse_template()
    stack.parameters = change_set.parameters
    stack.resource_map.update(stack.template_dict, change_set.parameters)
    stack.output_map = stack._create_output_map()


patch(ChangeSet, "apply", _apply)
_create_change_set = CloudFormationBackend.create_change_set


def _one_stack_a_name(backend: CloudFormationBackend, **request: Any) -> Any:
    """moto makes a second stack where the first waits for its first change set to be executed."""
    if request["change_set_type"] == "CREATE":
        for identity, stack in list(backend.stacks.items()):
            if stack.name == request["stack_name"] and stack.status == "REVIEW_IN_PROGRESS":
                del backend.stacks[identity]
    return _create_change_set(backend, **request)


patch(CloudFormationBackend, "create_change_set", _one_stack_a_name)
# moto's jobs have ended as soon as they begin.
patch(emrserverless_models, "JOB_STATUS", "RUNNING")
