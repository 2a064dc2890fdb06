"""PostgreSQL's SQL in the files of a project."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from labctl.sources.base import Source, TableRef
from labctl.sources.sql_files import CONTROL, SIZE, WORD, SqlFiles
from labctl.sources.sql_statements import tokenized

__all__ = ["SQL_FILES", "label_literal"]

_NAME = rf'(?:{WORD}|"(?:[^"]|"")+")'
_MORE = r"(?:precision|varying|with|without|time|zone|year|month|day|hour|minute|second|to)"
_EXAMPLE = """\

CREATE TABLE IF NOT EXISTS {schema}.customer (
    customer_id integer PRIMARY KEY,
    name text NOT NULL,
    email text
);

INSERT INTO {schema}.customer (customer_id, name, email) VALUES
    (1, 'Ada', 'ada@example.com'),
    (2, 'Grace', NULL)
ON CONFLICT DO NOTHING;
"""


def label_literal(label: str) -> str:
    """Return the label of an enum as one literal without control characters."""
    quoted = label.replace("'", "''")
    if CONTROL.search(label) is None:
        return f"'{quoted}'"
    escaped = quoted.replace("\\", "\\\\")
    return "E'" + CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"


def _create_schema(database: Source, schema: str) -> str | None:
    if schema == "public":
        return None
    return f"CREATE SCHEMA IF NOT EXISTS {database.quote(schema)}"


def _create_enums(database: Source, schemas: Collection[str]) -> Iterator[str]:
    """Yield statements that create enums, which belong to a schema and not to a table."""
    rows = database.execute(
        "SELECT n.nspname, t.typname, array_agg(e.enumlabel::text ORDER BY e.enumsortorder)"
        " FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid"
        " JOIN pg_namespace n ON n.oid = t.typnamespace GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for schema, name, labels in rows:
        if schema in schemas:
            listed = ", ".join(map(label_literal, labels))
            made = f"CREATE TYPE {database.qualified(TableRef(schema, name))} AS ENUM ({listed})"
            mark = "$labctl$"
            while mark in made:
                mark = f"{mark[:-1]}_$"
            yield f"DO {mark} BEGIN {made}; EXCEPTION WHEN duplicate_object THEN NULL; END {mark}"


SQL_FILES = SqlFiles(
    split=lambda text: tokenized(text, "postgres", 1),
    example=_EXAMPLE,
    # `timestamp(3) without time zone`, `ems."Odd"[]`, `geometry(Point,4326)`
    type_form=re.compile(rf"{_NAME}(?:\.{_NAME})?{SIZE}(?: {_MORE}{SIZE})*(?:\[\])*"),
    value_form=re.compile(r"NULL|'(?:[^'\\]|'')*'| ?E'(?:[^'\\]|''|\\.)*'", re.DOTALL),
    is_atomic=True,
    create_schema=_create_schema,
    create_types=_create_enums,
)
