"""Databases that RDS protects: against moto."""

from __future__ import annotations

import pytest
from moto.cloudformation.models import cloudformation_backends

from labctl.errors import ExitCode, LabError
from labctl.promote.apply.promoted_state import destroy, read_state
from tests.integration.promote.conftest import ACCOUNT, Deployment

pytestmark = pytest.mark.long


def let_databases_go(deployment: Deployment) -> None:
    """As the refusal of `destroy --data` says."""
    for engine in ("postgres", "mysql"):
        deployment.changes[f"rds.{engine}.deletion_protection"] = False
    deployment.apply(until="data").carry_out()


def test_a_protected_database_is_not_destroyed(deployment: Deployment) -> None:
    deployment.apply().carry_out()
    aws, promotion = deployment.account.aws(), deployment.promotion()
    with pytest.raises(LabError, match=r"RDS protects .*tickit-mysql") as raised:
        destroy(aws, promotion, deployment.said.append, data=True)
    assert raised.value.exit_code is ExitCode.USAGE
    assert "profiles.aws.rds.postgres.deletion_protection" in (raised.value.hint or "")
    assert deployment.apply().preview() == [], "nothing was removed"
    let_databases_go(deployment)
    assert destroy(aws, deployment.promotion(), deployment.said.append, data=True) == []


def test_databases_of_a_failed_creation_are_not_in_the_way(deployment: Deployment) -> None:
    """Protected as they are, RDS would refuse to let the rest of it go."""
    deployment.apply(until="data").carry_out()
    (stack,) = [
        one
        for one in cloudformation_backends[ACCOUNT]["us-east-1"].stacks.values()
        if one.name == "tickit-data"
    ]
    stack.status = "ROLLBACK_FAILED"
    deployment.apply(until="data").carry_out()
    rds = deployment.account.client("rds")
    found = rds.describe_db_instances()["DBInstances"]
    assert {one["DBInstanceIdentifier"]: one["DeletionProtection"] for one in found} == {
        "tickit-mysql": True,
        "tickit-postgres": True,
    }
    assert read_state(deployment.account.aws(), deployment.promotion())[1].state == (
        "CREATE_COMPLETE"
    )
