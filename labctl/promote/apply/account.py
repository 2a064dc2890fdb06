"""Checks that need the account: its identity, its region's offers, its existing names."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.aws.session import Aws
from labctl.errors import ExitCode, LabError
from labctl.promote.apply.uploads import owned_bucket
from labctl.promote.aws_names import Names
from labctl.promote.broker_logins import serverless
from labctl.promote.connector_secrets import referenced
from labctl.promote.outputs import Outputs
from labctl.promote.promotion import Promotion
from labctl.promote.rds import family, parameters

__all__ = ["bootstrap_servers", "check_account", "check_names_free", "check_offers"]

_BROKERS = {
    "iam": "BootstrapBrokerStringSaslIam",
    "scram": "BootstrapBrokerStringSaslScram",
    "none": "BootstrapBrokerStringTls",
}


def check_account(aws: Aws, promotion: Promotion) -> None:
    """Raise LabError (USAGE) unless the credentials belong to the profile's account."""
    account = aws.client("sts").get_caller_identity()["Account"]
    if account != promotion.profile.account:
        raise LabError(
            f"The credentials are of account {account}, the profile is for "
            f"{promotion.profile.account}",
            hint="set AWS_PROFILE, or correct the profile's account; nothing was changed",
            exit_code=ExitCode.USAGE,
        )


def check_offers(aws: Aws, promotion: Promotion) -> None:
    """Raise LabError (USAGE) for a version, subnet or parameter that the account does not have.

    The account is asked because AWS's offers change more often than this program.
    """
    profile = promotion.profile
    problems = []
    if not serverless(profile.msk):
        versions = {
            one["Version"]
            for one in aws.pages("kafka", "list_kafka_versions", "KafkaVersions")
            if one.get("Status", "ACTIVE") == "ACTIVE"
        }
        if versions and profile.msk.kafka_version not in versions:
            problems.append(
                f"{promotion.key('msk.kafka_version')}: {profile.msk.kafka_version} is not among "
                f"{', '.join(sorted(versions))}"
            )
    zones = aws.client("ec2").describe_subnets(SubnetIds=sorted(profile.network.subnets.values()))
    for subnet in zones["Subnets"]:
        zone = next(z for z, s in profile.network.subnets.items() if s == subnet["SubnetId"])
        if subnet["AvailabilityZone"] != zone or subnet["VpcId"] != profile.network.vpc:
            problems.append(
                f"{promotion.key('network.subnets')}: {subnet['SubnetId']} is in "
                f"{subnet['AvailabilityZone']} of {subnet['VpcId']}"
            )
    problems += _refused_parameters(aws, promotion)
    if problems:
        raise LabError(
            f"The account does not have what the profile names: {problems[0]}",
            details=tuple(problems[1:]),
            hint="correct lab.toml; nothing was changed",
            exit_code=ExitCode.USAGE,
        )


def _refused_parameters(aws: Aws, promotion: Promotion) -> Iterator[str]:
    """Yield the plan's parameters that RDS does not have or does not allow to be changed.

    CloudFormation would report them only when it makes the group.
    """
    pages = aws.client("rds").get_paginator("describe_engine_default_parameters")
    for engine, database in promotion.rds.items():
        wanted, name = parameters(promotion, engine), family(engine, database)
        if not wanted:
            continue
        modifiable = {
            one["ParameterName"]
            for page in pages.paginate(DBParameterGroupFamily=name)
            for one in page["EngineDefaults"].get("Parameters", [])
            if one.get("IsModifiable", True)
        }
        for parameter in wanted:
            if parameter not in modifiable:
                key = promotion.key(f"rds.{engine}.version")
                yield f"{key}: RDS's {name} has no parameter {parameter} that can be set"


def check_names_free(aws: Aws, promotion: Promotion) -> None:
    """Raise LabError (USAGE) for a secret or bucket that the first stack could not make.

    The connector files name the secrets, so an account and region can hold only one lab's. Buckets
    outlive their stack.
    """
    client = aws.client("secretsmanager")
    for name in referenced(promotion):
        try:
            client.describe_secret(SecretId=name)
        except client.exceptions.ResourceNotFoundException:
            continue
        raise LabError(
            f"There is a secret {name} already, and the stack that makes it is not there",
            hint="is another lab in this account and region? Remove the secret if it is not needed",
            exit_code=ExitCode.USAGE,
        )
    lake = promotion.profile.lake
    for bucket in (lake.bucket, lake.artifacts):
        if lake.create and owned_bucket(aws, Names.of(promotion), bucket):
            raise LabError(
                f"The bucket {bucket} is there from an earlier promotion",
                hint=f"set {promotion.key('lake.create')} = false to go on with what is in it",
                exit_code=ExitCode.USAGE,
            )


def bootstrap_servers(aws: Aws, promotion: Promotion, outputs: Outputs, login: str) -> str | None:
    """Return the brokers' addresses for clients with `login`; None without a cluster."""
    arn = outputs.get("data", {}).get("ClusterArn")
    if not arn:
        return None
    answer = aws.client("kafka").get_bootstrap_brokers(ClusterArn=arn)
    servers: str | None = answer.get(_BROKERS[login])
    if servers is None:
        raise LabError(
            f"The MSK cluster {promotion.profile.prefix} has no address for {login} yet",
            hint="apply again in a minute",
            exit_code=ExitCode.NOT_READY,
        )
    return servers
