"""Databases that RDS refuses to delete, among those that a stack made."""

from __future__ import annotations

from labctl.aws.session import Aws
from labctl.errors import ExitCode, LabError
from labctl.promote.promotion import Promotion

__all__ = ["DATABASE", "lift_protection", "protected", "require_unprotected"]

DATABASE = "AWS::RDS::DBInstance"


def protected(aws: Aws, instances: list[str]) -> list[str]:
    """Return the `instances` that exist and are protected against deletion."""
    client = aws.client("rds")
    found = []
    for instance in instances:
        try:
            answer = client.describe_db_instances(DBInstanceIdentifier=instance)
        except client.exceptions.DBInstanceNotFoundFault:
            continue
        if answer["DBInstances"][0].get("DeletionProtection"):
            found.append(instance)
    return found


def require_unprotected(aws: Aws, promotion: Promotion, instances: list[str]) -> None:
    """Raise LabError (USAGE) if one of `instances` is protected against deletion.

    CloudFormation would delete the brokers first, and then fail at the database.
    """
    names = protected(aws, instances)
    if not names:
        return
    keys = {
        database.instance: promotion.key(f"rds.{engine}.deletion_protection")
        for engine, database in promotion.rds.items()
    }
    settings = " and ".join(keys.get(name, f"the protection of {name}") for name in names)
    raise LabError(
        f"RDS protects {', '.join(names)} against deletion",
        hint=f"set {settings} = false in lab.toml, run `labctl promote apply --until data`, and "
        "destroy again; nothing was removed",
        exit_code=ExitCode.USAGE,
    )


def lift_protection(aws: Aws, instances: list[str]) -> None:
    """Let RDS delete `instances` of a stack whose creation failed; they hold no data."""
    client = aws.client("rds")
    for instance in protected(aws, instances):
        client.modify_db_instance(
            DBInstanceIdentifier=instance, DeletionProtection=False, ApplyImmediately=True
        )
