"""Types and features that the generator knows and that a server of the lab lacks."""

from __future__ import annotations

from contextlib import suppress

from labctl.engine_names import EngineName
from labctl.errors import LabError
from labctl.sources import ENGINES, Source
from labctl.sources.base import TableRef

__all__ = ["missing_kinds"]


def missing_kinds(source: Source, engine: EngineName, schema: str) -> list[str]:
    """Create the types that need setup statements, and return what this server lacks.

    These are types, declarations of generated columns, and the features that the engine's traits
    have a probe for.
    """
    traits = ENGINES[engine].conformance()
    table = source.qualified(TableRef(schema, "probe"))
    id_ = source.quote("id")
    missing = []
    for kind in traits.column_types:
        for statement in kind.setup:
            with suppress(LabError):
                source.execute(statement)
        created = f"CREATE TABLE {table} (c {kind.declared})"
        inserted = f"INSERT INTO {table} VALUES ({kind.typical})"  # noqa: S608 - our own
        if not _takes(source, table, created, inserted):
            missing.append(kind.declared)
    for clause in traits.generated:
        if not _takes(source, table, f"CREATE TABLE {table} ({id_} int, c {clause})"):
            missing.append(clause)
    for title, statement in traits.probes.items():
        if not _takes(source, table, *statement.format(table=table).split(";")):
            missing.append(title)
    return missing


def _takes(source: Source, table: str, *statements: str) -> bool:
    """Return whether the server executes all statements; drop the table that they create."""
    try:
        for statement in statements:
            source.execute(statement)
    except LabError:
        return False
    finally:
        with suppress(LabError):
            source.execute(f"DROP TABLE {table}")
    return True
