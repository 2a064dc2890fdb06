"""The lake API applied and taken away: against moto."""

from __future__ import annotations

import json

import pytest

from labctl.errors import ExitCode, LabError
from labctl.promote.api_image import image, image_tag
from labctl.promote.apply.promoted_state import destroy, read_state
from tests.integration.promote.conftest import Deployment
from tests.unit.promote.bad_api_examples import API


def states(deployment: Deployment) -> dict[str, str]:
    parts = read_state(deployment.account.aws(), deployment.promotion())
    return {part.name: part.state for part in parts if part.kind == "stack"}


def push(deployment: Deployment) -> None:
    """As `docker push` ends."""
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"}
    deployment.account.client("ecr").put_image(
        repositoryName="tickit-api",
        imageManifest=json.dumps(manifest),
        imageTag=image_tag(deployment.promotion()),
    )


def test_it_is_made_once_its_image_is_there(deployment: Deployment) -> None:
    deployment.lab = API
    promotion = deployment.promotion()
    with pytest.raises(LabError) as caught:
        deployment.apply().carry_out()
    assert caught.value.exit_code is ExitCode.NOT_READY
    assert image(promotion) in caught.value.what
    assert "README" in (caught.value.hint or "")
    assert states(deployment)["tickit-api"] == "absent"
    assert states(deployment)["tickit-spark"] == "CREATE_COMPLETE"

    push(deployment)
    deployment.apply().carry_out()
    assert states(deployment)["tickit-api"] == "CREATE_COMPLETE"
    assert deployment.apply().preview() == []

    ecs = deployment.account.client("ecs")
    (service,) = ecs.describe_services(cluster="tickit-api", services=["tickit-api"])["services"]
    task = ecs.describe_task_definition(taskDefinition=service["taskDefinition"])["taskDefinition"]
    (container,) = task["containerDefinitions"]
    told = {one["name"]: one["value"] for one in container["environment"]}
    assert told["REDIS_HOST"] == "master.tickit-api.example"
    assert "generated-by-moto" not in str(task)


def test_what_it_was_is_taken_away_with_what_runs(deployment: Deployment) -> None:
    """Also when `lab.toml` does not switch it on any more."""
    deployment.lab = API
    deployment.apply(until="foundation").carry_out()
    push(deployment)
    deployment.apply().carry_out()
    deployment.lab = {}
    assert states(deployment)["tickit-api"] == "CREATE_COMPLETE"
    destroy(deployment.account.aws(), deployment.promotion(), deployment.said.append, data=False)
    assert "tickit-api" not in states(deployment)
    assert states(deployment)["tickit-foundation"] == "CREATE_COMPLETE"
