"""SQL Server's capture instances: a table's columns as they were at the instance's creation."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from labctl.engines.sqlserver.sqlserver_sql_files import text_literal
from labctl.kafkaconnect.column_filters import is_taken
from labctl.sources.base import TableRef

if TYPE_CHECKING:
    from labctl.kafkaconnect.connector_files import ConnectorFile
    from labctl.sources.base import Source

__all__ = ["capture_instance", "sqlserver_instances", "sqlserver_unrecorded"]

_LONGEST = 40
"""Longest name of a capture instance, in bytes. SQL Server allows 100 characters. The stand-in puts
it into names of PostgreSQL, of which the longest adds 23 bytes."""


def capture_instance(ref: TableRef) -> str | None:
    """Return the name of a table's capture instance; None if the default name is short enough."""
    name = f"{ref.schema}_{ref.name}"
    if len(name.encode()) <= _LONGEST:
        return None
    end = f"_{zlib.crc32(name.encode()):08x}"
    return name.encode()[: _LONGEST - len(end)].decode(errors="ignore") + end


def sqlserver_instances(
    database: Source, refs: Collection[TableRef], _publication: str
) -> Mapping[TableRef, frozenset[str]]:
    """Return the capture instances of tables: a name comes again, but not at the same time."""
    # A database without change data capture has no `cdc` tables to query.
    tracked = database.captured("") or set()
    return {
        ref: frozenset(
            f"{name} of {created:%Y-%m-%d %H:%M:%S.%f}"
            for name, created in database.execute(
                "SELECT capture_instance, create_date FROM cdc.change_tables"
                " WHERE source_object_id = OBJECT_ID(%s)",
                (database.qualified(ref),),
            )
        )
        for ref in refs
        if ref in tracked
    }


def sqlserver_unrecorded(
    database: Source, refs: Collection[TableRef], file: ConnectorFile
) -> Mapping[TableRef, str]:
    """Return why not all changes reach the connector, by table; complete tables are left out.

    The connector reads from each table's newest capture instance.
    """
    found: dict[TableRef, str] = {}
    tracked = database.captured(file.publication) or set()
    for ref in refs:
        # A database without change data capture has no `cdc` tables to query.
        if ref not in tracked:
            found[ref] = "it has no change data capture: labctl connectors apply"
            continue
        ((identity, name),) = database.execute(
            "SELECT TOP 1 object_id, capture_instance FROM cdc.change_tables"
            " WHERE source_object_id = OBJECT_ID(%s) ORDER BY create_date DESC",
            (database.qualified(ref),),
        )
        if changed := _changed(database, ref, file, identity):
            found[ref] = (
                f"its capture instance {name} was made before {', '.join(changed)} changed; make "
                f"another one: EXEC sys.sp_cdc_enable_table {text_literal(ref.schema)}, "
                f"{text_literal(ref.name)}, "
                "@capture_instance = N'A NEW NAME', @role_name = NULL"
            )
    return found


def _changed(database: Source, ref: TableRef, file: ConnectorFile, identity: object) -> list[str]:
    """Return columns that the capture instance lacks or has with another type, or has alone."""
    from labctl.engines.sqlserver.sqlserver_types import SQLSERVER

    captured: dict[str, str] = dict(
        database.execute(
            "SELECT column_name, column_type FROM cdc.captured_columns WHERE object_id = %s",
            (identity,),
        )
    )
    table = database.describe(ref)
    now = {column.name: column.declared.name for column in table.columns}
    names = [*now, *(column.name for column in table.unread)]
    return [
        *(
            name
            for name in names
            if is_taken(file.config, ref, name)
            and (
                name not in captured
                # A user-defined type has another name in `cdc.captured_columns`.
                or (captured[name] in SQLSERVER and now.get(name, captured[name]) != captured[name])
            )
        ),
        *(name for name in captured if name not in names),
    ]
