"""The limits of capturing a MySQL table."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from labctl.engines.mysql.mysql_charsets import UNREADABLE
from labctl.sources.base import Source, TableRef
from labctl.sources.capture_limits import Lack, Limits

if TYPE_CHECKING:
    from labctl.kafkaconnect.connector_files import ConnectorFile

__all__ = ["ACTING", "mysql_limits", "mysql_unrecorded"]

ACTING = "(DELETE_RULE IN ('CASCADE', 'SET NULL') OR UPDATE_RULE IN ('CASCADE', 'SET NULL'))"
"""Condition of foreign keys that change rows, on information_schema.REFERENTIAL_CONSTRAINTS."""

_ESCAPED = (
    "an ENUM with a comma in one of its names, before which Debezium writes a backslash in each "
    "change; rename it without one"
)
_OTHER_LETTERS = "which Debezium takes for another one in each change; convert it to utf8mb4"

_LOGGED: Mapping[str, str] = {
    # Debezium drops a statement, and an update of a part of a document, without an error.
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_value_options": "",
}
"""Settings of the server with which its log has each change as whole rows."""


def mysql_unrecorded(
    database: Source, refs: Collection[TableRef], _file: ConnectorFile
) -> Mapping[TableRef, str]:
    """Return why not all changes reach the connector, by table: the server logs something else."""
    ((*found,),) = database.execute(f"SELECT {', '.join(f'@@GLOBAL.{name}' for name in _LOGGED)}")
    wrong = [
        f"the server's {name} is {value}: SET GLOBAL {name} = '{wanted}'"
        for (name, wanted), value in zip(_LOGGED.items(), found, strict=True)
        if str(value) != wanted
    ]
    return dict.fromkeys(refs, "; ".join(wrong)) if wrong else {}


def mysql_limits(database: Source, ref: TableRef, _publication: str) -> Limits:
    """Return the limits of a table.

    Debezium's parser escapes commas in the names of an ENUM, Java lacks some character sets, and
    MySQL before 9.6 does not log what a foreign key does.
    """
    found = _changed(database, ref)
    lost = [f"{name}, {why}" for name, key, why in found if key == "PRI"]
    refused = f"its key column is {lost[0]}" if lost else None
    lacks = tuple(
        Lack(tuple(name for name, _, reason in found if reason == why), why)
        for why in dict.fromkeys(reason for _, _, reason in found)
    )
    return Limits(refused, lacks, unlogged_rows=_unlogged_rows(database, ref))


def _changed(database: Source, ref: TableRef) -> list[tuple[str, str, str]]:
    """Return the columns whose values arrive as others, with the kind of their key and the reason.

    They are ENUM columns with a comma in a name, and texts of a character set that Java lacks.
    """
    declared = database.execute(
        "SELECT COLUMN_NAME, COLUMN_KEY, COLUMN_TYPE, CHARACTER_SET_NAME"
        " FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND CHARACTER_SET_NAME IS NOT NULL"
        " AND DATA_TYPE <> 'set' ORDER BY ORDINAL_POSITION",
        (ref.schema, ref.name),
    )
    found = []
    for name, key, kind, charset in declared:
        # Each name is in quotes; a quote within it is doubled. The log has an ENUM's number.
        names = re.findall(r"'((?:[^']|'')*)'", str(kind))
        if any("," in one for one in names):
            found.append((str(name), str(key), _ESCAPED))
        elif not names and charset in UNREADABLE:
            why = f"of the character set {charset}, {_OTHER_LETTERS}"
            found.append((str(name), str(key), why))
    return found


def _unlogged_rows(database: Source, ref: TableRef) -> str | None:
    acting = database.execute(
        "SELECT CONSTRAINT_NAME, REFERENCED_TABLE_NAME, DELETE_RULE, UPDATE_RULE"  # noqa: S608
        " FROM information_schema.REFERENTIAL_CONSTRAINTS"
        " WHERE CONSTRAINT_SCHEMA = %s AND TABLE_NAME = %s"
        f" AND {ACTING} ORDER BY CONSTRAINT_NAME",
        (ref.schema, ref.name),
    )
    # Servers before 9.6 have no such setting: InnoDB itself changes the rows.
    set_off = ("innodb_native_foreign_keys", "OFF")
    if not acting or set_off in database.execute(
        "SHOW GLOBAL VARIABLES LIKE 'innodb_native_foreign_keys'"
    ):
        return None
    keys = ", ".join(
        f"{name} (to {parent}, ON DELETE {deleted}, ON UPDATE {updated})"
        for name, parent, deleted, updated in acting
    )
    return (
        f"what its foreign keys do to rows is not in this server's log, so silver keeps such rows "
        f"as they were: {keys}; MySQL from 9.6 on logs it, without innodb_native_foreign_keys=ON"
    )
