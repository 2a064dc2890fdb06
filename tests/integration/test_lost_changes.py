"""Changes that a source's log does not have: the table or the connector is named, and loaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from labctl.errors import ExitCode
from labctl.lab.connectors.source_files import source_file
from labctl.lab.snapshots.snapshot_files import copy_folder
from labctl.sources import ENGINES, connect_server
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


def test_a_table_that_was_out_of_its_publication_for_a_while_is_named(project: OwnProject) -> None:
    kept = project.table("postgres", "kept")
    rows = f"{kept.db_schema}.kept"
    project.execute("postgres", f"INSERT INTO {rows} VALUES (1, 'a')")
    project.verified(kept.name)
    publication = source_file(project.lab, "of-postgres").publication
    project.execute(
        "postgres",
        f'ALTER PUBLICATION "{publication}" DROP TABLE {rows}',
        f"INSERT INTO {rows} VALUES (2, 'lost')",
        f'ALTER PUBLICATION "{publication}" ADD TABLE {rows}',
        f"INSERT INTO {rows} VALUES (3, 'c')",
    )
    said = project.run("status", code=ExitCode.NOT_READY)
    assert f"labctl connectors backfill {kept.name}" in " ".join(said.split())
    assert project.verified(kept.name, code=ExitCode.DIFFERENT)[kept.name]["missing"] == 1
    project.run("connectors", "backfill", kept.name)
    project.verified(kept.name)
    project.run("status")


def test_a_source_that_was_put_back_is_named_until_it_is_loaded_again(
    project: OwnProject, tmp_path: Path
) -> None:
    """The files of PostgreSQL, which has the data of SQL Server's stand-in, and of MySQL."""
    data, servers = project.lab.state.folder / "data", ("postgres", "mysql")
    project.run("down")
    for name in servers:
        copy_folder(data / name, tmp_path / name)
    project.run("up")
    with connect_server(project.lab.endpoints, "of-postgres") as server:
        # The start of a lab writes to PostgreSQL, too: its log would pass the position before long.
        for _ in range(3):
            server.execute("SELECT pg_logical_emit_message(false, 'test', '')")
            server.execute("SELECT pg_switch_wal()")
    for engine in ENGINES:
        rows = f"{project.table(engine, 'kept').db_schema}.kept"
        inserts = (f"INSERT INTO {rows} VALUES ({n}, 'gone')" for n in range(10, 40))
        project.execute(engine, *inserts)
    project.verified()
    project.run("status")
    project.run("down")
    for name in servers:
        shutil.rmtree(data / name)
        copy_folder(tmp_path / name, data / name)
    # MySQL's connector fails at its start. The others run, and look sound.
    project.run("up", code=ExitCode.NOT_READY)
    connectors = [source.connector for source in project.lab.config.sources.values()]
    said = " ".join(project.run("status", code=ExitCode.NOT_READY).split())
    for name in connectors:
        assert f"labctl connectors snapshot {name}" in said
        project.run("connectors", "snapshot", name, "--start-over")
    project.verified()
    project.run("status")
