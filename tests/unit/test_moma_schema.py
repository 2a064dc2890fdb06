"""The DDL says what the declaration says, and the data set is found beside the others."""

from __future__ import annotations

import json
import re

import pglast
import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

import labctl.cli.seed  # noqa: F401 - registers the command
from labctl.cli.app import root
from labctl.config.endpoints import SourceDatabase
from labctl.datasets import data_set, data_sets
from labctl.datasets.loading import sources_of
from seeds.moma import DATA_SET, TABLES, ddl
from seeds.table_declarations import Table


def created_columns(table: Table) -> dict[str, tuple[str, bool]]:
    """Type and nullability of each column in the table's CREATE TABLE statement."""
    match = re.search(
        rf"CREATE TABLE IF NOT EXISTS {table.schema}\.{table.name} \((.*?)\n\);",
        ddl(table.engine),
        re.S,
    )
    assert match, f"no CREATE TABLE for {table.label}"
    columns = {}
    for line in match[1].strip().split("\n"):
        name, declared, *rest = line.strip().rstrip(",").split()
        columns[name] = (declared, rest[:2] != ["NOT", "NULL"])
    return columns


@pytest.mark.parametrize("name", TABLES)
def test_ddl_follows_the_declaration(name: str) -> None:
    table = TABLES[name]
    expected = {c.name: (c.declared, c.nullable) for c in table.columns}
    assert created_columns(table) == expected
    assert re.search(rf"^    {table.key} +integer NOT NULL PRIMARY KEY,$", ddl("postgres"), re.M)


def test_ddl_is_sql_of_postgresql_and_safe_to_run_again() -> None:
    script = ddl("postgres")
    assert len(pglast.parse_sql(script)) == script.count("IF NOT EXISTS") == len(TABLES)


def test_only_keys_cannot_be_null() -> None:
    required = {t.name: [c.name for c in t.columns if not c.nullable] for t in TABLES.values()}
    assert required == {"artists": ["artist_id"], "artworks": ["artwork_id", "artist_id"]}


def test_the_data_set_is_found_by_its_entry_point() -> None:
    assert data_set("moma") is DATA_SET
    assert [one.name for one in data_sets()] == ["moma", "tickit"]


def test_seed_list_shows_every_data_set() -> None:
    done = CliRunner().invoke(root, ["seed", "--list", "--output", "json"])
    assert done.exit_code == 0, done.output
    listed = {one["name"]: one for one in json.loads(done.stdout)}
    assert list(listed) == ["moma", "tickit"]
    assert listed["moma"]["tables"] == ["public.artists", "public.artworks"]
    assert "120,000 artworks" in listed["moma"]["title"]
    assert "ems.event" in listed["tickit"]["tables"]


def source(database: str, *schemas: str) -> SourceDatabase:
    return SourceDatabase(
        host="127.0.0.1",
        port=1,
        user="nobody",
        password=SecretStr(""),
        database=database,
        engine="postgres",
        schemas=schemas,
    )


@pytest.mark.parametrize(
    ("sources", "meant"),
    [
        ({"shop": source("shop", "public"), "museum": source("moma", "public")}, "museum"),
        ({"museum": source("moma", "public"), "shop": source("shop", "public")}, "museum"),
        ({"tickit": source("tickit", "ems"), "mine": source("mine", "x", "public")}, "mine"),
        ({"tickit": source("moma", "ems")}, None),
    ],
)
def test_tables_go_to_the_source_with_their_database(
    sources: dict[str, SourceDatabase], meant: str | None
) -> None:
    expected = {} if meant is None else {meant: list(DATA_SET.tables)}
    assert sources_of(DATA_SET, sources) == expected


def test_the_followed_row_moves_to_another_nationality() -> None:
    followed = DATA_SET.followed
    assert followed is not None
    assert (followed.table, followed.key, followed.column) == (
        "artists",
        "artist_id",
        "nationality",
    )
    for before in (None, "American", "French", "Côte d'Ivoire"):
        assert followed.next(before) not in (None, before)
