"""dbt with its Athena adapter, unmodified: a project of a view and a table over it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.sqlapi.clients import installed, run
from tests.integration.sqlapi.conftest import Athena


# Two rounds of three commands, each of which takes some ten seconds.
@pytest.mark.soak
def test_run_and_test(athena: Athena, aws_variables: dict[str, str], tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(Path(__file__).with_name("clients") / "dbt", project)
    program = installed("dbt") / "dbt"

    def dbt(command: str) -> tuple[int, str]:
        done = run(
            *(program, "--no-send-anonymous-usage-stats", "--no-use-colors", command),
            environment=aws_variables,
            folder=project,
        )
        return done.returncode, done.stdout

    # the second time its own table and view are there, and are replaced
    for _ in range(2):
        code, told = dbt("run")
        assert (code, "PASS=2 WARN=0 ERROR=0" in told) == (0, True), told
        rows = athena.rows("SELECT * FROM amounts ORDER BY category", "dbt")
        assert rows == [["Musicals", "21.00", "1"], ["Öper", "3.25", "1"]]
        code, told = dbt("test")
        assert (code, "PASS=4 WARN=0 ERROR=0" in told) == (0, True), told
    table = athena.client.get_table_metadata(
        CatalogName="AwsDataCatalog", DatabaseName="dbt", TableName="amounts"
    )["TableMetadata"]
    assert table["Parameters"]["classification"] == "parquet"
    # a test of dbt's that does not hold
    (project / "tests").mkdir()
    (project / "tests" / "none.sql").write_text("SELECT * FROM {{ ref('amounts') }}")
    code, told = dbt("test")
    assert (code, "ERROR=1" in told) == (1, True), told
