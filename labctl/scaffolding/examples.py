"""The example table of a new source."""

from __future__ import annotations

from labctl.engine_names import EngineName
from labctl.scaffolding.model import NewSource, NewTable
from labctl.sources import TableRef

__all__ = ["EXAMPLE_TABLE", "example_source"]

EXAMPLE_TABLE = "customer"
_HEADER = """\
-- The tables of the source `{source}`. `labctl up` runs this file when it has changed, so write it
-- for a database that has some of it already. A further table:
--   labctl table add {source}.{schema}.TABLE
"""
_SQL: dict[EngineName, str] = {
    "postgres": """\

CREATE TABLE IF NOT EXISTS {schema}.customer (
    customer_id integer PRIMARY KEY,
    name text NOT NULL,
    email text
);

INSERT INTO {schema}.customer (customer_id, name, email) VALUES
    (1, 'Ada', 'ada@example.com'),
    (2, 'Grace', NULL)
ON CONFLICT DO NOTHING;
""",
    "mysql": """\

CREATE TABLE IF NOT EXISTS {schema}.customer (
    customer_id int PRIMARY KEY,
    name varchar(100) NOT NULL,
    email varchar(200)
);

INSERT IGNORE INTO {schema}.customer (customer_id, name, email) VALUES
    (1, 'Ada', 'ada@example.com'),
    (2, 'Grace', NULL);
""",
    "sqlserver": """\

IF OBJECT_ID(N'{schema}.customer') IS NULL
    CREATE TABLE {schema}.customer (
        customer_id int NOT NULL PRIMARY KEY,
        name nvarchar(100) NOT NULL,
        email nvarchar(200)
    );
GO

IF NOT EXISTS (SELECT 1 FROM {schema}.customer)
    INSERT INTO {schema}.customer (customer_id, name, email) VALUES
        (1, N'Ada', N'ada@example.com'),
        (2, N'Grace', NULL);
GO
""",
}


def example_source(name: str, engine: EngineName) -> NewSource:
    """Return a source with one small table and two rows."""
    database = name.replace("-", "_")
    schema = {"postgres": "public", "sqlserver": "dbo", "mysql": database}[engine]
    return NewSource(
        name,
        engine,
        None if engine == "mysql" else database,
        (schema,),
        (NewTable(TableRef(schema, EXAMPLE_TABLE), ("customer_id",)),),
        (_HEADER + _SQL[engine]).format(source=name, schema=schema),
    )
