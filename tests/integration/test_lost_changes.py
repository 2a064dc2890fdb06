"""Changes that a source's log does not have: the table or the connector is named, and loaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labctl.errors import ExitCode
from labctl.sources import ENGINES
from tests.integration.own_project import OwnProject, own_project, own_source

pytestmark = pytest.mark.long

TABLE = "CREATE TABLE {schema}.kept (id integer PRIMARY KEY, v varchar(20))"


@pytest.fixture(scope="module")
def project() -> Iterator[OwnProject]:
    """A project with a table of each engine."""
    with own_project(*(own_source(name, [TABLE], {"kept": ["id"]}) for name in ENGINES)) as project:
        yield project


def test_a_table_whose_capture_was_off_for_a_while_is_named_until_it_is_equal(
    project: OwnProject,
) -> None:
    kept = project.table("sqlserver", "kept")
    source = f"@source_schema = '{kept.db_schema}', @source_name = 'kept'"
    rows = f"{kept.db_schema}.kept"
    project.execute("sqlserver", f"INSERT INTO {rows} VALUES (1, 'a')")
    project.verified(kept.name)
    project.execute(
        "sqlserver",
        f"EXEC sys.sp_cdc_disable_table {source}, @capture_instance = 'all'",
        f"INSERT INTO {rows} VALUES (2, 'lost')",
        f"EXEC sys.sp_cdc_enable_table {source}, @role_name = NULL",
        f"INSERT INTO {rows} VALUES (3, 'c')",
    )
    said = project.run("status", code=ExitCode.NOT_READY)
    assert f"labctl connectors backfill {kept.name}" in " ".join(said.split())
    assert project.verified(kept.name, code=ExitCode.DIFFERENT)[kept.name]["missing"] == 1
    project.run("connectors", "backfill", kept.name)
    project.run("status", code=ExitCode.NOT_READY)
    project.verified(kept.name)
    project.run("status")
    # Another instance beside it, and then in its place, as for a change of the table's columns.
    project.execute(
        "sqlserver",
        f"EXEC sys.sp_cdc_enable_table {source}, @capture_instance = 'another', @role_name = NULL",
    )
    project.run("status")
    project.execute(
        "sqlserver",
        f"EXEC sys.sp_cdc_disable_table {source}, @capture_instance = '{kept.db_schema}_kept'",
        f"INSERT INTO {rows} VALUES (4, 'd')",
    )
    project.verified(kept.name)
    project.run("status")
