"""PostgreSQL's kinds of tables, from the source to silver: equal, or left out by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labctl.engines.postgres.postgres_limits import postgres_reload_refused
from labctl.errors import ExitCode
from labctl.scaffolding.examples import example_source
from labctl.sources import TableRef, connect
from tests.integration.own_project import OwnProject, unstarted_project

pytestmark = pytest.mark.long

TABLES = (
    "CREATE TABLE line (id int PRIMARY KEY, qty int, note text,"
    " total int GENERATED ALWAYS AS (qty * 10) STORED)",
    "CREATE TABLE half (id int PRIMARY KEY, qty int, note text,"
    " doubled int GENERATED ALWAYS AS (qty * 2) VIRTUAL)",
    "CREATE TABLE event (id int, day date, v text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)",
    "CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM ('2023-01-01') TO ('2024-01-01')",
    "CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
    "CREATE DOMAIN instant AS timestamptz",
    "CREATE TABLE moment (at instant, clock time, note text, PRIMARY KEY (at, clock))",
    "INSERT INTO moment VALUES ('9999-12-31 23:59:59.999999+00', '10:00:00.000001', 'a')"
    ", ('2024-05-05 10:00:00.123456+02', '24:00', 'b'), ('1500-01-01 00:00:00+00', '00:00', 'c')",
    "CREATE TABLE price (amount money PRIMARY KEY)",
    "INSERT INTO price VALUES ('1.50'), ('2.00')",
    "ALTER TABLE half ALTER note SET STORAGE EXTERNAL",
    "ALTER TABLE event ALTER v SET STORAGE EXTERNAL",
    "INSERT INTO line (id, qty, note) VALUES (1, 2, 'x'), (2, 3, 'y')",
    "INSERT INTO half (id, qty, note) VALUES (1, 2, repeat('x', 9000)), (2, 3, 'y')",
    "INSERT INTO event VALUES (1, '2023-05-05', 'a'), (2, '2024-05-05', 'b')",
)
CHANGES = (
    "INSERT INTO line (id, qty, note) VALUES (3, 4, 'z')",
    "UPDATE line SET note = 'x2' WHERE id = 1",
    "DELETE FROM line WHERE id = 2",
    "INSERT INTO half (id, qty, note) VALUES (3, 4, 'z')",
    # Its large value is in no log.
    "UPDATE half SET qty = 7 WHERE id = 1",
    "DELETE FROM half WHERE id = 2",
    "INSERT INTO event VALUES (3, '2023-06-06', repeat('c', 9000))",
    "CREATE TABLE event_3 PARTITION OF event FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')",
    "INSERT INTO event VALUES (4, '2025-06-06', repeat('d', 9000)), (5, '2025-07-07', 'e')",
    "UPDATE event SET day = '2024-07-07' WHERE id = 3",
    "UPDATE event SET day = '2025-07-08', v = 'e2' WHERE id = 5",
)


@pytest.fixture
def project() -> Iterator[OwnProject]:
    """A project with a PostgreSQL and a home of its own; its lab is destroyed after the test."""
    with unstarted_project("shop", example_source("shop", "postgres")) as project:
        yield project


def test_generated_columns_and_partitions_are_equal_or_left_out_by_name(
    project: OwnProject,
) -> None:
    project.run("up")
    endpoints = project.lab.endpoints
    with connect(endpoints, "shop") as source:
        for statement in TABLES:
            source.execute(statement)
        for table in ("line", "half", "event", "moment", "price"):
            project.run("table", "add", f"shop.public.{table}")
        assert "a partition of event" in project.run(
            "table", "add", "shop.public.event_1", code=ExitCode.USAGE
        )
        for statement in CHANGES:
            source.execute(statement)
        found = project.verified()
        assert found["shop.half"]["columns_uncaptured"] == ["doubled"]
        assert found["shop.line"]["columns_uncaptured"] == []
        assert found["shop.event"]["source_rows"] == 5
        # Debezium would write NULL for the stored column of every row.
        said = project.run("connectors", "backfill", "line", code=ExitCode.USAGE)
        assert "which PostgreSQL generates and stores" in said
        assert "labctl connectors snapshot source_connector_shop" in said
        assert "key amount, which is money" in project.run(
            "connectors", "backfill", "price", code=ExitCode.USAGE
        )
        moment = TableRef("public", "moment")
        assert '"driver.stringtype": "unspecified"' in str(
            postgres_reload_refused(source, moment, {})
        )
        for table in ("half", "moment"):
            project.run("connectors", "backfill", table)
        project.verified()
        source.execute("DROP TABLE event_2")
        assert project.verified(code=ExitCode.DIFFERENT)["shop.event"]["extra"] == 2
        # A file that no longer leaves the column out is refused, and nothing is changed.
        file = project.folder / "connectors" / "source_connector_shop.json"
        file.write_text(file.read_text().replace(r"half\\.doubled", r"half\\.none"))
        for command in ("validate", "apply"):
            said = project.run("connectors", command, code=ExitCode.USAGE)
            assert "public.half has doubled, generated" in said
            assert r'half\\.none,(?-i)public\\.half\\.doubled"' in said
