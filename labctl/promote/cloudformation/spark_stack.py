"""EMR: an application of EMR Serverless, or a cluster on EC2. `apply` starts its jobs."""

from __future__ import annotations

from typing import Any

from labctl.promote.artifacts import LOGS, bootstrap, url
from labctl.promote.aws_names import Names
from labctl.promote.cloudformation.template import Template, attribute, ref, tag_list
from labctl.promote.promotion import Promotion

__all__ = ["template"]

IDLE_MINUTES = 15
GLUE_FACTORY = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"


def template(promotion: Promotion) -> dict[str, Any]:
    built = Template(f"labctl {promotion.profile.prefix}: Spark")
    built.parameter("SparkGroup", "AWS::EC2::SecurityGroup::Id", "Group of Spark")
    if promotion.profile.emr.kind == "serverless":
        _add_application(built, promotion)
        built.output("ApplicationId", attribute("Silver", "ApplicationId"), "EMR Serverless")
    else:
        _add_cluster(built, promotion)
        built.output("ClusterId", ref("Silver"), "EMR cluster")
    return built.body()


def _add_application(built: Template, promotion: Promotion) -> None:
    built.add(
        "Silver",
        "AWS::EMRServerless::Application",
        {
            "Name": Names.of(promotion).application,
            "Type": "SPARK",
            "ReleaseLabel": promotion.profile.emr.release,
            "Architecture": "X86_64",
            "AutoStartConfiguration": {"Enabled": True},
            "AutoStopConfiguration": {"Enabled": True, "IdleTimeoutMinutes": IDLE_MINUTES},
            "NetworkConfiguration": {
                "SubnetIds": sorted(promotion.profile.network.subnets.values()),
                "SecurityGroupIds": [ref("SparkGroup")],
            },
            "Tags": tag_list(promotion),
        },
    )


def _add_cluster(built: Template, promotion: Promotion) -> None:
    emr, lake = promotion.profile.emr, promotion.profile.lake
    instance_profile = built.parameter("SparkInstanceProfile", "String", "Of the instances")
    service_role = built.parameter("EmrRole", "String", "Role of EMR itself")
    # AWS's own policy for EMR covers only resources with this tag.
    managed = {"Key": "for-use-with-amazon-emr-managed-policies", "Value": "true"}
    built.add(
        "Silver",
        "AWS::EMR::Cluster",
        {
            "Name": Names.of(promotion).application,
            "ReleaseLabel": emr.release,
            "Applications": [{"Name": "Hadoop"}, {"Name": "Hive"}, {"Name": "Spark"}],
            "JobFlowRole": instance_profile,
            "ServiceRole": service_role,
            "LogUri": f"s3://{lake.artifacts}/{LOGS}/emr/",
            "VisibleToAllUsers": True,
            "Instances": {
                "Ec2SubnetIds": sorted(promotion.profile.network.subnets.values())[:1],
                "AdditionalMasterSecurityGroups": [ref("SparkGroup")],
                "AdditionalSlaveSecurityGroups": [ref("SparkGroup")],
                "KeepJobFlowAliveWhenNoSteps": True,
                "TerminationProtected": False,
                "MasterInstanceGroup": _instances("master", emr.instance_type, 1),
                "CoreInstanceGroup": _instances("core", emr.instance_type, emr.core_instances),
            },
            "BootstrapActions": [
                {
                    "Name": "Python 3.11",
                    "ScriptBootstrapAction": {"Path": url(promotion, bootstrap(promotion))},
                }
            ],
            "Configurations": [
                {
                    "Classification": "spark-hive-site",
                    "ConfigurationProperties": {
                        "hive.metastore.client.factory.class": GLUE_FACTORY
                    },
                }
            ],
            "Tags": [*tag_list(promotion), managed],
        },
    )


def _instances(name: str, type_: str, count: int) -> dict[str, Any]:
    return {"Name": name, "InstanceType": type_, "InstanceCount": count, "Market": "ON_DEMAND"}
