"""`information_schema` as Athena shows it, and the queries by which clients ask for it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.sqlapi.conftest import BUCKET, Athena, Endpoint

COLUMNS = [
    {"Name": "id", "Type": "int", "Comment": "the key"},
    {"Name": "price", "Type": "decimal(10,2)"},
    {"Name": "at", "Type": "timestamp"},
    {"Name": "note", "Type": "string"},
    {"Name": "code", "Type": "varchar(5)"},
    {"Name": "sign", "Type": "char(3)"},
    {"Name": "a", "Type": "array<int>"},
    {"Name": "m", "Type": "map<string,bigint>"},
    {"Name": "r", "Type": "struct<x:int,Y:string>"},
    {"Name": "b", "Type": "binary"},
    {"Name": "f", "Type": "float"},
    {"Name": "day", "Type": "date"},
    {"Name": "odd", "Type": "uniontype<int,string>"},
]
SHAPE = [
    ("id", "integer", "the key", None), ("price", "decimal(10,2)", None, None),
    ("at", "timestamp(3)", None, None), ("note", "varchar", None, None),
    ("code", "varchar(5)", None, None), ("sign", "char(3)", None, None),
    ("a", "array(integer)", None, None), ("m", "map(varchar, bigint)", None, None),
    ("r", "row(x integer, y varchar)", None, None), ("b", "varbinary", None, None),
    ("f", "real", None, None), ("day", "date", None, None),
    ("kind", "varchar", None, "partition key"),
]  # fmt: skip
"""What Trino 476 shows of a table and a view like these."""


@pytest.fixture
def database(endpoint: Endpoint, athena: Athena) -> Iterator[str]:
    """A database with the table `sales` and the view `sold`."""
    name = f"info_{uuid4().hex[:8]}"
    glue = endpoint.client("glue")
    glue.create_database(DatabaseInput={"Name": name})
    parquet = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
    glue.create_table(
        DatabaseName=name,
        TableInput={
            "Name": "sales", "TableType": "EXTERNAL_TABLE",
            "PartitionKeys": [{"Name": "kind", "Type": "string"}],
            "StorageDescriptor": {
                "Columns": COLUMNS, "Location": f"s3://{BUCKET}/{name}/sales",
                "InputFormat": parquet, "SerdeInfo": {},
            },
        },
    )  # fmt: skip
    athena.rows(
        'CREATE VIEW sold AS SELECT id AS ID2, price * 2 AS twice, "at", note FROM tickit.sale',
        name,
    )
    yield name
    athena.rows(f"DROP DATABASE {name} CASCADE")


def answer(endpoint: Endpoint, athena: Athena, sql: str) -> tuple[list[str], list[list[str]]]:
    """Labels, and the rows of the result's file with NULL as an empty text."""
    execution = athena.ended(athena.start(sql))
    assert execution["Status"]["State"] == "SUCCEEDED", execution["Status"]
    place = execution["ResultConfiguration"]["OutputLocation"].removeprefix(f"s3://{BUCKET}/")
    told = endpoint.client("s3").get_object(Bucket=BUCKET, Key=place)["Body"].read().decode()
    first, *rows = csv.reader(StringIO(told))
    return first, rows


def test_columns_are_those_of_trino(endpoint: Endpoint, athena: Athena, database: str) -> None:
    names, rows = answer(
        endpoint,
        athena,
        f"SELECT * FROM information_schema.columns WHERE table_schema = '{database}'",
    )
    assert names == [
        "table_catalog", "table_schema", "table_name", "column_name", "ordinal_position",
        "column_default", "is_nullable", "data_type",
    ]  # fmt: skip
    sales = [
        ["awsdatacatalog", database, "sales", name, str(number), "", "YES", kind]
        for number, (name, kind, _, _) in enumerate(SHAPE, 1)
    ]
    view = [("id2", "integer"), ("twice", "decimal(18,2)"), ("at", "timestamp(3)"),
            ("note", "varchar")]  # fmt: skip
    sold = [
        ["awsdatacatalog", database, "sold", name, str(number), "", "YES", kind]
        for number, (name, kind) in enumerate(view, 1)
    ]
    assert sorted(rows) == sorted([*sales, *sold])
    told = athena.rows(
        "SELECT column_name, data_type, comment, extra_info, column_comment"
        f" FROM information_schema.columns WHERE table_schema = '{database}'"
        " AND table_name = 'sales' ORDER BY ordinal_position"
    )
    assert told == [[*shape, shape[2]] for shape in SHAPE]


def test_tables_views_and_schemata(endpoint: Endpoint, athena: Athena, database: str) -> None:
    names, rows = answer(
        endpoint,
        athena,
        'SELECT * FROM AwsDataCatalog."INFORMATION_SCHEMA".Tables'
        f" WHERE table_schema = '{database}'",
    )
    assert names == ["table_catalog", "table_schema", "table_name", "table_type"]
    assert rows == [
        ["awsdatacatalog", database, "sales", "BASE TABLE"],
        ["awsdatacatalog", database, "sold", "VIEW"],
    ]
    views = f"SELECT * FROM information_schema.views WHERE table_schema = '{database}'"
    assert athena.rows(views) == [
        ["awsdatacatalog", database, "sold",
         'SELECT id AS ID2, price * 2 AS twice, "at", note FROM tickit.sale'],
    ]  # fmt: skip
    schemata = athena.rows("SELECT * FROM awsdatacatalog.information_schema.schemata")
    assert ["awsdatacatalog", database] in schemata
    assert schemata.count(["awsdatacatalog", "information_schema"]) == 1
    own = athena.rows(
        "SELECT table_name FROM tables WHERE table_schema = 'information_schema' ORDER BY 1",
        "information_schema",
    )
    assert [name for (name,) in own] == [
        "applicable_roles", "columns", "enabled_roles", "roles", "schemata", "table_privileges",
        "tables", "views",
    ]  # fmt: skip


def test_tables_of_the_lake_have_all_their_names(athena: Athena) -> None:
    found = athena.rows(
        "SELECT table_name, column_name, data_type, extra_info FROM information_schema.columns"
        " WHERE table_schema = 'moma' ORDER BY table_name, ordinal_position"
    )
    assert found == [
        row
        for name in ("artists", "artists_ro", "artists_rt")
        for row in ([name, "id", "integer", None], [name, "name", "varchar", "partition key"])
    ]


def test_columns_stand_in_the_order_in_which_star_and_describe_show_them(athena: Athena) -> None:
    for table in ("tickit.sale", "moma.artists", "tickit.shape"):
        database, _, name = table.partition(".")
        asked = athena.rows(
            f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{database}'"
            f" AND table_name = '{name}' ORDER BY ordinal_position"
        )
        first = athena.client.get_query_results(
            QueryExecutionId=athena.ended(athena.start(f"SELECT * FROM {table}"))[
                "QueryExecutionId"
            ]
        )["ResultSet"]["Rows"][0]["Data"]
        assert [column for (column,) in asked] == [value["VarCharValue"] for value in first]
        shown = athena.rows(f"SHOW COLUMNS IN {table}")
        assert [column for (column,) in asked] == [str(line).strip() for (line,) in shown]


@pytest.mark.parametrize(
    "condition",
    [
        "table_schema = '{database}' AND table_name = 'sales'",
        "table_schema IN ('{database}', 'x') AND table_name IN ('sales', 'y', 'z')",
        "(table_schema = '{database}' AND table_name = 'sales') OR table_name = 'it''s'",
        "lower(table_schema) = lower('{database}') AND table_name LIKE 'sale%'",
        "table_schema LIKE '{database}' AND NOT table_type = 'VIEW'",
        "table_catalog <> 'x' AND table_schema || '.' || table_name = '{database}.sales'",
        "table_schema IN (SELECT schema_name FROM information_schema.schemata"
        " WHERE schema_name = '{database}') AND table_type <> 'VIEW'",
        "'{database}' = table_schema AND table_name > 'r' AND table_name < 'sb'",
    ],
)
def test_any_condition_is_met(athena: Athena, database: str, condition: str) -> None:
    sql = f"SELECT table_schema, table_name FROM information_schema.tables WHERE {condition}"
    assert athena.rows(sql.format(database=database)) == [[database, "sales"]]


@pytest.mark.parametrize(
    "condition",
    ["table_schema = 'nosuch'", "table_schema = 'TICKIT'", "table_name = 'Sale'",
     "table_schema = 'tickit' AND table_schema = 'moma'", "table_catalog = 'AwsDataCatalog'",
     "table_schema = NULL"],
)  # fmt: skip
def test_what_is_not_there_gives_no_rows(athena: Athena, condition: str) -> None:
    for table in ("tables", "columns", "views"):
        sql = f"SELECT count(*) FROM information_schema.{table} WHERE {condition}"
        assert athena.rows(sql) == [["0"]], table


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT * FROM information_schema.nosuch",
         "Table 'awsdatacatalog.information_schema.nosuch' does not exist"),
        ("SELECT * FROM other.information_schema.tables", "Catalog 'other' not found"),
        ("SELECT * FROM information_schema.roles", "NOT_SUPPORTED"),
        ("SELECT * FROM information_schema.character_sets", "does not exist"),
        ("SELECT * FROM system.information_schema.tables", "Catalog 'system' not found"),
        ("SELECT * FROM pg_catalog.pg_tables", "Schema 'pg_catalog' does not exist"),
        ("SELECT database_name FROM information_schema.tables", "COLUMN_NOT_FOUND"),
        ("SELECT * FROM duckdb_tables()", "NOT_SUPPORTED"),
        ("SELECT * FROM sqlite_master", "does not exist"),
        ("DROP TABLE information_schema.tables", "does not exist"),
        ("CREATE VIEW information_schema.x AS SELECT 1 AS a", "not found"),
        ("CREATE DATABASE information_schema", "already exists"),
    ],
)  # fmt: skip
def test_nothing_else_is_there(athena: Athena, sql: str, error: str) -> None:
    assert error in athena.error(sql)


def test_it_is_no_data_that_is_scanned(athena: Athena) -> None:
    execution = athena.ended(athena.start("SELECT count(*) FROM information_schema.columns"))
    assert execution["Statistics"]["DataScannedInBytes"] == 0


def test_a_view_reads_it(athena: Athena, database: str) -> None:
    athena.rows(
        "CREATE VIEW tables AS SELECT table_name AS t FROM information_schema.tables"
        f" WHERE table_schema = '{database}'",
        database,
    )
    assert athena.rows("SELECT t FROM tables ORDER BY t", database) == [
        ["sales"], ["sold"], ["tables"],
    ]  # fmt: skip


CATALOG = """
select * from (
    (
        with tables as (
            select
                tables.table_catalog as table_database,
                tables.table_schema as table_schema,
                tables.table_name as table_name,
                case
                    when views.table_name is not null then 'view'
                    when table_type = 'BASE TABLE' then 'table'
                    else table_type
                end as table_type,
                null as table_comment
            from awsdatacatalog.information_schema.tables
            left join awsdatacatalog.information_schema.views
                on tables.table_catalog = views.table_catalog
                and tables.table_schema = views.table_schema
                and tables.table_name = views.table_name
        ),
        columns as (
            select
                table_catalog as table_database,
                table_schema as table_schema,
                table_name as table_name,
                column_name as column_name,
                ordinal_position as column_index,
                data_type as column_type,
                comment as column_comment
            from awsdatacatalog.information_schema.columns
        ),
        catalog as (
            select
                tables.table_database, tables.table_schema, tables.table_name, tables.table_type,
                tables.table_comment, columns.column_name, columns.column_index,
                columns.column_type, columns.column_comment
            from tables
            join columns
                on tables."table_database" = columns."table_database"
                and tables."table_schema" = columns."table_schema"
                and tables."table_name" = columns."table_name"
        )
        select * from catalog
        where "table_schema" = lower('DATABASE')
          and ("table_name" = lower('SALES') or "table_name" = lower('sold'))
    )
)
"""
RELATIONS = """
WITH views AS (
  select table_catalog as database, table_name as name, table_schema as schema
  from awsdatacatalog.INFORMATION_SCHEMA.views
  where table_schema = LOWER('DATABASE')
), tables AS (
  select table_catalog as database, table_name as name, table_schema as schema
  from awsdatacatalog.INFORMATION_SCHEMA.tables
  where table_schema = LOWER('DATABASE')
  EXCEPT
  select * from views
)
select views.*, 'view' AS table_type FROM views
UNION ALL
select tables.*, 'table' AS table_type FROM tables
"""
BY_PATTERN = """
select distinct
    table_schema as "table_schema",
    table_name as "table_name",
    case table_type
        when 'BASE TABLE' then 'table'
        when 'EXTERNAL TABLE' then 'external'
        when 'MATERIALIZED VIEW' then 'materializedview'
        else lower(table_type)
    end as "table_type"
from awsdatacatalog.information_schema.tables
where
    table_schema like lower('DATABASE')
    and table_name like lower('S%')
    and table_name not like lower('')
"""
IN_RELATION = """
select
    column_name,
    data_type,
    null as character_maximum_length,
    null as numeric_precision,
    null as numeric_scale
from awsdatacatalog.INFORMATION_SCHEMA.columns
where table_name = LOWER('SALES')
  and table_schema = LOWER('DATABASE')
order by ordinal_position
"""
IN_COMMON = """
SELECT first.column_name
FROM information_schema.columns AS first
JOIN information_schema.columns AS second ON first.column_name = second.column_name
WHERE first.table_schema = 'DATABASE' AND first.table_name = 'sales'
  AND second.table_schema = 'DATABASE' AND second.table_name = 'sold'
ORDER BY 1
"""


def test_what_dbt_and_its_packages_ask(athena: Athena, database: str) -> None:
    """Statements of dbt-athena (catalog, relations, columns), dbt_utils, and Athena's guide."""

    def asked(sql: str) -> list[list[Any]]:
        return athena.rows(sql.replace("DATABASE", database.upper()))

    catalog = asked(CATALOG)
    assert len(catalog) == len(SHAPE) + 4
    assert {tuple(row[:5]) for row in catalog} == {
        ("awsdatacatalog", database, "sales", "table", None),
        ("awsdatacatalog", database, "sold", "view", None),
    }
    assert ["id", "1", "integer", "the key"] in [row[5:] for row in catalog]
    assert sorted(asked(RELATIONS)) == [
        ["awsdatacatalog", "sales", database, "table"],
        ["awsdatacatalog", "sold", database, "view"],
    ]
    assert sorted(asked(BY_PATTERN)) == [
        [database, "sales", "table"], [database, "sold", "view"],
    ]  # fmt: skip
    assert [row[:2] for row in asked(IN_RELATION)] == [[name, kind] for name, kind, *_ in SHAPE]
    assert athena.rows(IN_COMMON.replace("DATABASE", database)) == [["at"], ["note"]]
    schemas = athena.rows(
        "select distinct schema_name from awsdatacatalog.INFORMATION_SCHEMA.schemata"
    )
    assert [database] in schemas
