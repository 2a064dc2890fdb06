"""The stack that all others need: security groups, buckets, secrets without values, roles,
catalogue, workgroup."""

from __future__ import annotations

import json
from typing import Any

from labctl.promote.aws_names import Names, logical
from labctl.promote.cloudformation.api_stack import add_api_foundation
from labctl.promote.cloudformation.athena_stack import add_athena, add_catalog
from labctl.promote.cloudformation.buckets import add_buckets
from labctl.promote.cloudformation.groups import add_endpoints, add_groups
from labctl.promote.cloudformation.policies import (
    connect_policies,
    spark_policies,
    trust,
)
from labctl.promote.cloudformation.template import (
    Template,
    attribute,
    ref,
    tag_list,
)
from labctl.promote.connector_secrets import GENERATED, known_values, referenced
from labctl.promote.promotion import Promotion

__all__ = ["template"]

PASSWORD = {
    "PasswordLength": 32,
    # Such a password needs no escaping in SQL clients and properties files.
    "ExcludePunctuation": True,
}


def template(promotion: Promotion) -> dict[str, Any]:
    built = Template(f"labctl {promotion.profile.prefix}: network rules, buckets, secrets, roles")
    add_groups(built, promotion)
    add_endpoints(built, promotion)
    add_buckets(built, promotion)
    _add_secrets(built, promotion)
    _add_roles(built, promotion)
    built.add(
        "ConnectLogs",
        "AWS::Logs::LogGroup",
        {
            "LogGroupName": Names.of(promotion).log_group,
            "RetentionInDays": promotion.profile.connect.log_days,
            "Tags": tag_list(promotion),
        },
    )
    add_catalog(built, promotion)
    add_athena(built, promotion)
    if promotion.config.api.enabled:
        add_api_foundation(built, promotion)
    return built.body()


def _add_secrets(built: Template, promotion: Promotion) -> None:
    known = known_values(promotion)
    for name in referenced(promotion):
        properties: dict[str, Any] = {
            "Name": name,
            "Description": f"What connectors of {promotion.profile.prefix} refer to",
            "Tags": tag_list(promotion),
        }
        values = known.get(name, {})
        if GENERATED in values.values():
            properties["GenerateSecretString"] = {
                "SecretStringTemplate": json.dumps({"username": values["username"]}),
                "GenerateStringKey": "password",
                **PASSWORD,
            }
        built.add(logical("Secret", name), "AWS::SecretsManager::Secret", properties)
    msk = promotion.profile.msk
    if "scram" in msk.authentication and msk.scram_secret:
        built.add(
            "ScramSecret",
            "AWS::SecretsManager::Secret",
            {
                "Name": msk.scram_secret,
                "KmsKeyId": msk.kms_key or "",
                "GenerateSecretString": {
                    "SecretStringTemplate": json.dumps({"username": promotion.profile.prefix}),
                    "GenerateStringKey": "password",
                    **PASSWORD,
                },
                "Tags": tag_list(promotion),
            },
        )
        built.output("ScramSecret", ref("ScramSecret"), "Login of SCRAM clients")


def _add_roles(built: Template, promotion: Promotion) -> None:
    names, profile = Names.of(promotion), promotion.profile
    serverless = profile.emr.kind == "serverless"
    spark = "emr-serverless.amazonaws.com" if serverless else "ec2.amazonaws.com"
    for output, role, service, policies in (
        ("ConnectRole", names.connect_role, "kafkaconnect.amazonaws.com", connect_policies),
        ("SparkRole", names.spark_role, spark, spark_policies),
    ):
        # EC2 assumes a role for an instance without naming an account.
        account = None if service.startswith("ec2.") else profile.account
        built.add(
            output,
            "AWS::IAM::Role",
            {
                "RoleName": role,
                "AssumeRolePolicyDocument": trust(service, account),
                "Policies": policies(promotion),
                "Tags": tag_list(promotion),
            },
        )
        built.output(output, attribute(output, "Arn"), f"Role of {service}")
    if serverless:
        return
    built.add(
        "SparkInstanceProfile",
        "AWS::IAM::InstanceProfile",
        {"InstanceProfileName": names.spark_role, "Roles": [ref("SparkRole")]},
    )
    built.output("SparkInstanceProfile", ref("SparkInstanceProfile"), "Profile of EMR's instances")
    policy = "iam::aws:policy/service-role/AmazonEMRServicePolicy_v2"
    built.add(
        "EmrRole",
        "AWS::IAM::Role",
        {
            "RoleName": names.emr_role,
            "AssumeRolePolicyDocument": trust("elasticmapreduce.amazonaws.com", profile.account),
            "ManagedPolicyArns": [f"arn:{profile.partition}:{policy}"],
            "Policies": [_pass_role(promotion)],
            "Tags": tag_list(promotion),
        },
    )
    built.output("EmrRole", attribute("EmrRole", "Arn"), "Role of EMR itself")


def _pass_role(promotion: Promotion) -> dict[str, Any]:
    """Return a policy to pass the instances' role; AWS's own allows only a fixed role name."""
    role = f"role/{Names.of(promotion).spark_role}"
    return {
        "PolicyName": "instances",
        "PolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": ["iam:PassRole"],
                    "Resource": [promotion.profile.arn("iam", role, global_=True)],
                    "Condition": {"StringLike": {"iam:PassedToService": "ec2.amazonaws.com*"}},
                }
            ],
        },
    }
