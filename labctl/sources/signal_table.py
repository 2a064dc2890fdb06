"""Debezium's signal table, through which a connector is asked to load rows again.

The connector writes to it as well: it marks in the database's log when it read which rows.
"""

from __future__ import annotations

from labctl.errors import LabError
from labctl.sources.base import Source, TableRef
from labctl.sources.engine import CDC_USER
from labctl.sources.engine_registry import ENGINES

__all__ = [
    "SIGNAL_SCHEMA",
    "make_signal_table",
    "own_signals",
    "send_signal",
]

SIGNAL_SCHEMA = "labctl"
"""Schema of the connectors' signal tables that labctl keeps, beside the sources' schemas."""


def own_signals(named: str) -> TableRef | None:
    """Return the signal table that a connector's file names; None if it is not labctl's own."""
    schema, _, name = named.rpartition(".")
    is_own = schema.rpartition(".")[2] == SIGNAL_SCHEMA
    return TableRef(SIGNAL_SCHEMA, name) if is_own else None


def make_signal_table(source: Source, ref: TableRef, publication: str) -> None:
    """Create a connector's signal table if it is missing, and let the connector use it.

    This runs as the source's owner. Where a schema is a database, the service creates it and grants
    rights.
    """
    engine = ENGINES[source.engine]
    if not engine.schemas_are_databases and ref.schema not in source.schemas():
        source.execute(f"CREATE SCHEMA {source.quote(ref.schema)}")
    if ref not in source.tables(ref.schema):
        source.execute(f"CREATE TABLE {source.qualified(ref)} ({engine.signal_columns})")
    source.capture([ref], publication)
    source.let_signal(CDC_USER, ref)


def send_signal(source: Source, ref: TableRef, identity: str, kind: str, data: str) -> None:
    """Write a signal; the connector acts on it once it reads that place in the database's log.

    Earlier signals are deleted first. Raises LabError if the table cannot be written.
    """
    table = source.qualified(ref)
    try:
        source.execute(f"DELETE FROM {table}")  # noqa: S608
        source.execute(
            f"INSERT INTO {table} (id, type, data) VALUES (%s, %s, %s)",  # noqa: S608
            (identity, kind, data),
        )
    except LabError as error:
        raise LabError(
            f"The connector's signal table {ref} cannot be written: {error.what}",
            hint="labctl connectors apply makes it, where it is in the schema "
            f"{SIGNAL_SCHEMA}; another one is yours to make",
            exit_code=error.exit_code,
        ) from error
