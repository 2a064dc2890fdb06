"""`labctl promote apply`, `status` and `destroy` as they are typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import labctl.cli.promote  # noqa: F401 - registers the commands
from labctl.cli.app import root
from tests.integration.promote.conftest import ACCOUNT, Deployment

pytestmark = pytest.mark.long

Run = Callable[..., Any]  # typer.testing.Result, which typer does not name


@pytest.fixture
def run(deployment: Deployment, project: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line in the project's folder; AWS is moto, locked parts are small."""
    toml = project / "lab.toml"
    text = toml.read_text()
    fitted = {
        "111122223333": ACCOUNT,
        "vpc-0a1b2c3d4e5f60718": deployment.account.vpc,
        "subnet-0a1b2c3d4e5f60711": deployment.account.subnets["us-east-1a"],
        "subnet-0a1b2c3d4e5f60712": deployment.account.subnets["us-east-1b"],
        "sg-0a1b2c3d4e5f60713": deployment.account.group,
        "plugins/msk-config-providers.zip": "plugins/msk-config-providers.jar",
    }
    for old, new in fitted.items():
        text = text.replace(old, new)
    toml.write_text(text)
    monkeypatch.setattr("labctl.aws.session.Aws", lambda _region: deployment.account.aws())
    monkeypatch.setattr("labctl.artifacts.ArtifactStore", lambda: deployment.store)
    monkeypatch.chdir(project)
    return lambda *words: CliRunner().invoke(root, ["promote", *words])


def test_apply_shows_asks_and_makes(run: Run, project: Path) -> None:
    unasked = run("apply")
    assert unasked.exit_code == 2, unasked.output
    assert "Nobody is here to confirm it" in unasked.stderr
    assert "KafkaConnect::CustomPlugin" in unasked.stderr
    assert {part["state"] for part in parts(run)} == {"absent"}

    made = run("apply", "--yes")
    assert made.exit_code == 0, made.output
    assert "changes made; addresses are in" in made.stdout
    assert "tickit-data: create complete" in made.stderr
    assert (project / "promoted" / "aws" / "outputs.json").is_file()
    assert (project / "promoted" / "aws" / "plan" / "README.md").is_file()

    again = run("apply")
    assert again.exit_code == 0, again.output
    assert "nothing to change" in again.stdout


def test_status_and_destroy_tell_what_there_is(run: Run, project: Path) -> None:
    assert run("apply", "--yes").exit_code == 0
    states = {part["name"]: part["state"] for part in parts(run)}
    assert states["tickit-foundation"] == "CREATE_COMPLETE"
    assert states["source-connector-mysql-kafka-avro-tickit"] == "RUNNING"
    assert states["tickit-silver"] == "running"

    unasked = run("destroy")
    assert unasked.exit_code == 2
    assert parts(run) != []

    gone = run("destroy", "--yes")
    assert gone.exit_code == 0, gone.output
    assert "still there, and paid for:" in gone.stdout
    assert "tickit-data" in gone.stdout
    assert "tickit-spark" not in gone.stdout

    refused = run("destroy", "--data", "--yes")
    assert refused.exit_code == 2
    assert "RDS protects tickit-postgres, tickit-mysql against deletion" in refused.stderr
    assert "profiles.aws.rds.mysql.deletion_protection" in refused.stderr
    toml = project / "lab.toml"
    text = toml.read_text().replace("deletion_protection = true", "deletion_protection = false")
    section = "[profiles.aws.rds.mysql]\n"
    toml.write_text(text.replace(section, f"{section}deletion_protection = false\n"))
    assert run("apply", "--until", "data", "--yes").exit_code == 0
    assert run("destroy", "--data", "--yes").stdout.strip() == "all gone"


def test_stages_are_made_up_to_the_one_that_is_named(run: Run) -> None:
    assert run("apply", "--until", "data", "--yes").exit_code == 0
    states = {part["name"]: part["state"] for part in parts(run)}
    assert states["tickit-data"] == "CREATE_COMPLETE"
    assert states["tickit-connect"] == "absent"


def parts(run: Run) -> list[dict[str, str]]:
    shown = run("status", "--output", "json")
    assert shown.exit_code == 0, shown.output
    found: list[dict[str, str]] = json.loads(shown.stdout)["parts"]
    return found
