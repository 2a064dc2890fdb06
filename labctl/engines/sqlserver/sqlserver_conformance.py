"""Statements by which `labctl test conformance` writes and reads SQL Server's tables."""

from __future__ import annotations

import zlib

from labctl.conformance.odd_values import text_pairs
from labctl.conformance.traits import Traits
from labctl.engines.sqlserver.sqlserver_column_types import SQLSERVER
from labctl.engines.sqlserver.sqlserver_sql_files import text_literal
from labctl.sources.base import TableRef

__all__ = ["TRAITS"]


_LONG = "x" * 128


def _recapture(ref: TableRef) -> str:
    """Return the statement for a second capture instance, whose name fits the stand-in."""
    instance = f"again_{zlib.crc32(str(ref).encode()):08x}"
    return (
        f"EXEC sys.sp_cdc_enable_table {text_literal(ref.schema)}, {text_literal(ref.name)}, "
        f"@capture_instance = N'{instance}', @role_name = NULL"
    )


def _read_as_text(form: str | None, name: str) -> str:
    # The client's own times have six digits; a CONVERT style gives three in the stand-in.
    return f"CONVERT(varchar(40), {name})" if form == "nanoseconds" else name


TRAITS = Traits(
    column_types=SQLSERVER,
    quotes=("[", "]"),
    # In bytes, of the stand-in; SQL Server itself takes 128 characters.
    longest_name=63,
    generated=("AS ([id] * 2)", "AS ([id] * 2) PERSISTED"),
    # A captured column cannot be renamed, and a DEFAULT is a constraint of its own.
    alterations=frozenset({"add", "drop", "retype"}),
    alters_defaults=False,
    recapture=_recapture,
    retype=lambda name, declared, nullable: (
        f"ALTER COLUMN {name} {declared} {'NULL' if nullable else 'NOT NULL'}"
    ),
    text_key="nvarchar(100)",
    text_pairs=text_pairs("N"),
    probes={
        "system-versioned tables": "CREATE TABLE {table} (id int PRIMARY KEY, "
        "a datetime2 GENERATED ALWAYS AS ROW START NOT NULL, "
        "b datetime2 GENERATED ALWAYS AS ROW END NOT NULL, "
        "PERIOD FOR SYSTEM_TIME (a, b)) WITH (SYSTEM_VERSIONING = ON)",
        "NUL in text": "CREATE TABLE {table} (c nvarchar(9));"
        "INSERT INTO {table} VALUES (N'a' + NCHAR(0))",
        "names of 128 characters": f"CREATE TABLE {{table}} ([{_LONG}] int);"
        f"ALTER TABLE {{table}} ADD [{_LONG[:-1]}y] int",
    },
    add_column="ADD",
    read_as_text=_read_as_text,
    drop_database="DROP DATABASE {name}",
    other_database="master",
)
