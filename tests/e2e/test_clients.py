"""Each engine's own client says something to the lab, by its name alone."""

from __future__ import annotations

import shutil

import pytest

from labctl.lab.lab import Lab
from tests.e2e.conftest import Labctl

pytestmark = pytest.mark.long

STATEMENTS = {
    "psql": ("-At", "-v", "ON_ERROR_STOP=1", "-c", "SELECT 6 * 7"),
    "mysql": ("--batch", "--skip-column-names", "-e", "SELECT 6 * 7"),
    "sqlcmd": ("-Q", "SELECT 6 * 7 AS answer"),
}


@pytest.mark.parametrize("program", STATEMENTS)
def test_a_statement_runs(labctl: Labctl, lab: Lab, program: str) -> None:
    done = labctl("--lab", lab.name, "client", program, *STATEMENTS[program])
    assert (done.returncode, "42" in done.stdout.split()) == (0, True), done


@pytest.mark.parametrize("program", ["psql", "mysql"])
def test_the_exit_code_is_the_programs(labctl: Labctl, lab: Lab, program: str) -> None:
    *options, _ = STATEMENTS[program]
    done = labctl("--lab", lab.name, "client", program, *options, "SELECT no_such_column")
    assert done.returncode == 1
    assert "no_such_column" in done.stderr


@pytest.mark.parametrize(
    ("program", "owner", "administrator"),
    [("psql", "labctl_owner", "labctl"), ("mysql", "labctl@%", "labctl_admin@%")],
)
def test_a_client_is_the_sources_owner_or_by_request_the_administrator(
    labctl: Labctl, lab: Lab, program: str, owner: str, administrator: str
) -> None:
    *options, _ = STATEMENTS[program]
    brackets = "()" if program == "mysql" else ""
    for more, user in (((), owner), (("--admin",), administrator)):
        done = labctl(
            "--lab", lab.name, "client", program, *more, *options, f"SELECT current_user{brackets}"
        )
        assert (done.returncode, done.stdout.strip()) == (0, user), done.stderr


def test_kafkas_tools_know_where_kafka_is(labctl: Labctl, lab: Lab) -> None:
    done = labctl("--lab", lab.name, "client", "kafka", "topics", "--list")
    assert done.returncode == 0, done.stderr
    assert {table.topic for table in lab.tables} <= set(done.stdout.split())
    one = labctl(
        *("--lab", lab.name, "client", "kafka", "console-consumer", "--topic", lab.tables[0].topic),
        *("--from-beginning", "--max-messages", "1", "--timeout-ms", "60000"),
        *("--property", "print.value=false", "--property", "print.partition=true"),
    )
    assert one.returncode == 0, one.stderr
    assert one.stdout.strip() == "Partition:0"


@pytest.mark.skipif(shutil.which("aws") is None, reason="the machine has no AWS CLI")
def test_the_aws_cli_lists_the_bucket(labctl: Labctl, lab: Lab) -> None:
    done = labctl("--lab", lab.name, "client", "aws", "s3", "ls")
    assert done.returncode == 0, done.stderr
    assert lab.endpoints.objectstore.bucket in done.stdout
