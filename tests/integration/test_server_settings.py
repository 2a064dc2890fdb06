"""Changes of a user's server or session that decide what its log has, or how it is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labctl.engine_names import EngineName
from labctl.errors import ExitCode
from labctl.kafkaconnect.opening import connect_client
from labctl.sources import connect_server
from tests.integration.own_project import OwnProject, own_project, own_source
from tests.waiting import wait_for

pytestmark = pytest.mark.long

REKEYED = (
    "CREATE TABLE {schema}.rekeyed"
    " (tenant int NOT NULL, id int NOT NULL, CONSTRAINT own PRIMARY KEY (id))"
)
ANOTHER_KEY = {"postgres": "DROP CONSTRAINT own", "mysql": "DROP PRIMARY KEY"}
POSTGRES = "CREATE TABLE {schema}.kept (id integer PRIMARY KEY, b bytea, i interval)"
MYSQL = "CREATE TABLE {schema}.documents (id int PRIMARY KEY, n int, doc json)"
LETTERS = "CREATE TABLE {schema}.letters (id int PRIMARY KEY, v varchar(20)) CHARSET utf8mb4"


@pytest.fixture(scope="module")
def project() -> Iterator[OwnProject]:
    """A project with tables of the two engines."""
    rekeyed = {"rekeyed": ["id"]}
    postgres = own_source("postgres", [POSTGRES, REKEYED], {"kept": ["id"], **rekeyed})
    keys = {"documents": ["id"], "letters": ["id"], **rekeyed}
    mysql = own_source("mysql", [MYSQL, LETTERS, REKEYED], keys)
    with own_project(postgres, mysql) as project:
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


@pytest.mark.parametrize("engine", ANOTHER_KEY)
def test_another_primary_key_than_the_record_key_is_named_with_the_way_back(
    engine: EngineName, project: OwnProject
) -> None:
    rekeyed = project.table(engine, "rekeyed")
    name = f"{rekeyed.db_schema}.rekeyed"
    # Under the new record key, these changes would leave a row that is gone.
    project.execute(
        engine,
        f"INSERT INTO {name} VALUES (1, 1), (1, 2), (1, 3)",
        f"UPDATE {name} SET tenant = 2 WHERE id = 2",
        f"DELETE FROM {name} WHERE id = 3",
    )
    project.verified(rekeyed.name)
    project.execute(
        engine,
        f"ALTER TABLE {name} {ANOTHER_KEY[engine]}, ADD PRIMARY KEY (tenant, id)",
        f"INSERT INTO {name} VALUES (3, 1)",
    )
    project.verified(rekeyed.name, code=ExitCode.DIFFERENT)
    said = " ".join(project.run("status", code=ExitCode.NOT_READY).split())
    assert "rows with the same id are one row here" in said
    key = "hoodie.datasource.write.recordkey.field="
    assert f"Write {key}tenant,id there" in said
    file = rekeyed.properties.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(f"{key}id\n", f"{key}tenant,id\n"), encoding="utf-8")
    connector = project.lab.config.sources[rekeyed.source].connector
    project.run("table", "rebuild", rekeyed.name)
    project.run("connectors", "snapshot", connector, "--start-over")
    assert project.verified(rekeyed.name)[rekeyed.name]["source_rows"] == 3
    project.run("status")


def test_a_default_character_set_that_changes_is_named(project: OwnProject) -> None:
    """Debezium decodes a column that is added afterwards by the former one."""
    letters = project.table("mysql", "letters")
    name = f"{letters.db_schema}.letters"
    project.execute(
        "mysql",
        f"INSERT INTO {name} VALUES (1, 'ä')",
        f"ALTER TABLE {name} DEFAULT CHARACTER SET latin1",
        f"ALTER TABLE {name} ADD COLUMN c varchar(20)",
        f"INSERT INTO {name} VALUES (2, 'ö', 'ß')",
    )
    (change,) = project.verified(letters.name, code=ExitCode.DIFFERENT)[letters.name]["changes"]
    assert change == {"key": {"id": 2}, "columns": {"c": ["ß", "\ufffd"]}}
    connector = project.lab.config.sources[letters.source].connector
    said = project.run("status", code=ExitCode.NOT_READY)
    assert "c is latin1, read as utf8mb4" in said
    assert f"labctl connectors snapshot {connector}" in said
    project.run("connectors", "snapshot", connector)
    project.execute("mysql", f"INSERT INTO {name} VALUES (3, 'ü', 'ä')")
    project.verified(letters.name)
    project.run("status")


def test_a_session_that_logs_statements_or_rows_in_part_is_named(project: OwnProject) -> None:
    letters = project.table("mysql", "letters")
    name = f"{letters.db_schema}.letters"
    connector = project.lab.config.sources[letters.source].connector
    with connect_server(project.lab.endpoints, "of-mysql") as session:
        session.execute("SET SESSION binlog_format = 'STATEMENT'")
        session.execute(f"INSERT INTO {name} (id, v) VALUES (10, 'text')")
    project.verified(letters.name, code=ExitCode.DIFFERENT)
    said = project.run("status", code=ExitCode.NOT_READY)
    assert f"INSERT INTO {name} (id, v) VALUES (10, 'text')" in said
    project.run("connectors", "backfill", letters.name)
    project.verified(letters.name)
    project.run("status")

    with connect_server(project.lab.endpoints, "of-mysql") as session:
        session.execute("SET SESSION binlog_row_image = 'MINIMAL'")
        session.execute(f"UPDATE {name} SET v = 'part' WHERE id = 10")
    client = connect_client(project.lab.endpoints.connect)
    wait_for(lambda: "FAILED" in [task["state"] for task in client.statuses()[connector]["tasks"]])
    said = project.run("status", code=ExitCode.NOT_READY)
    assert "a session logs rows in part" in said
    assert f"labctl connectors snapshot {connector}" in said
    project.run("connectors", "snapshot", connector)
    project.verified(letters.name)
