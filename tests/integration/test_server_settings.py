"""Settings of a user's server that decide what its log has, or how a connector reads it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labctl.errors import ExitCode
from labctl.sources import connect_server
from tests.integration.own_project import OwnProject, own_project, own_source

pytestmark = pytest.mark.long

POSTGRES = "CREATE TABLE {schema}.kept (id integer PRIMARY KEY, b bytea, i interval)"
MYSQL = "CREATE TABLE {schema}.documents (id int PRIMARY KEY, n int, doc json)"


@pytest.fixture(scope="module")
def project() -> Iterator[OwnProject]:
    """A project with a table of each of the two engines."""
    postgres = own_source("postgres", [POSTGRES], {"kept": ["id"]})
    with own_project(postgres, own_source("mysql", [MYSQL], {"documents": ["id"]})) as project:
        yield project


def test_a_databases_output_formats_do_not_reach_the_connector(project: OwnProject) -> None:
    """Debezium reads hexadecimal digits, and intervals in PostgreSQL's own style alone."""
    kept = project.table("postgres", "kept")
    database = project.lab.config.sources[kept.source].database
    project.execute(
        "postgres",
        f"ALTER DATABASE {database} SET bytea_output = 'escape'",
        f"ALTER DATABASE {database} SET intervalstyle = 'sql_standard'",
    )
    project.run("connectors", "restart", project.lab.config.sources[kept.source].connector)
    project.execute(
        "postgres",
        r"INSERT INTO kept VALUES (1, '\x616263646566', '1 day')",
        r"INSERT INTO kept VALUES (2, '\x00ff5c', '-1 mon 2 days')",
        r"UPDATE kept SET b = '\x6162', i = '1 year 04:05:06' WHERE id = 1",
    )
    project.verified(kept.name)


def test_a_server_that_does_not_log_whole_rows_is_named(project: OwnProject) -> None:
    documents = project.table("mysql", "documents")
    project.execute(
        "mysql", f"INSERT INTO {documents.db_schema}.documents VALUES (1, 1, '{{\"a\": 1}}')"
    )
    project.verified(documents.name)
    with connect_server(project.lab.endpoints, "of-mysql") as server:
        server.execute("SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'")
        try:
            said = project.run("status", code=ExitCode.NOT_READY)
            assert "the server's binlog_row_value_options is PARTIAL_JSON" in said
            project.execute(
                "mysql",
                f"UPDATE {documents.db_schema}.documents SET n = 2, doc = JSON_SET(doc, '$.a', 2)",
            )
            project.verified(documents.name, code=ExitCode.DIFFERENT)
        finally:
            server.execute("SET GLOBAL binlog_row_value_options = ''")
    project.run("status")
    project.run("connectors", "backfill", documents.name)
    project.verified(documents.name)
