"""Columns that change records of a table would lack, read from the database before capture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labctl.sources.base import Source, TableRef

__all__ = [
    "NO_LIMITS",
    "Limits",
    "mysql_limits",
    "postgres_limits",
    "postgres_reload_refused",
    "sqlserver_limits",
]

_UNLOGGED = (
    "generated, of which the database's log has no value: it would be NULL after the first change"
)
_UNSENT = (
    "which may be large, and PostgreSQL does not send what an update leaves as it is: it would be "
    "NULL then"
)
_UNDECODED = (
    "of the type name, which Debezium reads in the first load and in no change: it would be NULL "
    "then; declare it as text or varchar(63)"
)
_UNUSUAL = (
    "a numeric whose scale is negative, or more than its digits, which no decimal of a lake has; "
    "declare it with a scale of 0 up to its digits, or without a size"
)
_OVERFLOWING = (
    "which has times outside 1677-09-21T00:12:44 to 2262-04-11T23:47:16: Debezium sends the type's "
    "nanoseconds, which wrap around there to another time; declare it as datetime2(6)"
)
_ESCAPED = (
    "an ENUM with a comma in one of its names, before which Debezium writes a backslash in each "
    "change; rename it without one"
)
_UNPUBLISHED = (
    "which the column list of the connector's publication leaves out: it would be NULL after the "
    "first change"
)


@dataclass(frozen=True)
class Limits:
    """The limits of capturing one table."""

    refused: str | None = None
    """Why the table cannot be captured at all, and what to do; None if it can."""
    unlogged: tuple[str, ...] = ()
    """Generated columns that only the first load would have, and no later change."""
    unsent: tuple[str, ...] = ()
    """Columns whose large values are missing from an update of other columns. What arrives
    instead cannot be told from NULL."""
    undecoded: tuple[str, ...] = ()
    """Columns of a type whose values Debezium does not read in a change."""
    unusual: tuple[str, ...] = ()
    """Columns declared in a way that silver has no type for."""
    overflowing: tuple[str, ...] = ()
    """Columns with values that Debezium sends as different values."""
    escaped: tuple[str, ...] = ()
    """Columns with a text that changes contain in another form."""
    unpublished: tuple[str, ...] = ()
    """Columns that the column list of the connector's publication leaves out."""
    correction: str = ""
    """Statements that make the publication show these columns."""
    needs_reselect: bool = False
    """Whether large values that an update does not change must be read from the table."""

    def by_reason(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the columns that a change would not contain, grouped by reason, with the reason."""
        yield from (
            (names, why)
            for names, why in (
                (self.unlogged, _UNLOGGED),
                (self.unsent, _UNSENT),
                (self.undecoded, _UNDECODED),
                (self.unusual, _UNUSUAL),
                (self.overflowing, _OVERFLOWING),
                (self.escaped, _ESCAPED),
                (self.unpublished, f"{_UNPUBLISHED} ({self.correction})"),
            )
            if names
        )

    def columns(self) -> dict[str, str]:
        """Return each column that a change would not contain, with the first reason."""
        reasons: dict[str, str] = {}
        for names, why in self.by_reason():
            for name in names:
                reasons.setdefault(name, why)
        return reasons


NO_LIMITS = Limits()
"""The limits of a table whose changes contain every column."""


_POSTGRES = """
SELECT c.relkind, c.relpersistence,
    CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::regclass::text END,
    ARRAY(SELECT inhrelid::regclass::text FROM pg_inherits
        WHERE inhparent = c.oid AND c.relkind = 'r' ORDER BY 1),
    ARRAY(SELECT relid::text FROM pg_partition_tree(c.oid) JOIN pg_class p ON p.oid = relid
        WHERE p.relpersistence <> 'p' OR p.relkind = 'f' ORDER BY 1),
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND NOT attisdropped AND (
        attgenerated = 'v' OR attgenerated = 's'
        AND current_setting('server_version_num')::integer < 180000) ORDER BY attnum),
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND NOT attisdropped
        AND attnum > 0 AND attstorage <> 'p' AND attgenerated <> 'v'
        AND regexp_replace(format_type(atttypid, NULL), '.*[.]', '') NOT IN ('text',
            'character varying', 'character', 'json', 'jsonb', 'xml', 'bytea', 'numeric', 'citext',
            'text[]', 'character varying[]', 'inet', 'cidr') ORDER BY attnum),
    EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND NOT attisdropped AND attnum > 0
        AND attstorage <> 'p' AND attgenerated <> 'v'),
    {is_shown_in_part},
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND NOT attisdropped
        AND attnum > 0 AND (WITH RECURSIVE base(type, of) AS (
            SELECT atttypid, (SELECT typbasetype FROM pg_type WHERE oid = atttypid)
            UNION ALL
            SELECT t.oid, t.typbasetype FROM base JOIN pg_type t ON t.oid = of
        ) SELECT bool_or(type = 'name'::regtype) FROM base) ORDER BY attnum),
    -- A size is the digits, and in eleven bits the scale: a large one where it is negative.
    ARRAY(SELECT attname::text FROM (
            SELECT attname, attnum, CASE typbasetype WHEN 0 THEN t.oid ELSE typbasetype END AS kind,
                CASE typbasetype WHEN 0 THEN atttypmod ELSE typtypmod END - 4 AS size
            FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
            WHERE attrelid = c.oid AND NOT attisdropped AND attnum > 0) sized
        WHERE kind IN ('numeric'::regtype, 'numeric[]'::regtype)
        AND size >= 0 AND (size & 2047) > (size >> 16) ORDER BY attnum),
    ARRAY(SELECT a.attname::text FROM pg_index JOIN pg_attribute a ON a.attrelid = indrelid
        AND a.attnum = ANY (indkey::int2[])
        WHERE indrelid = c.oid AND indisprimary AND indimmediate)
FROM pg_class c WHERE c.oid = to_regclass(%s)
"""


_STORED = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attgenerated = 's' AND NOT attisdropped ORDER BY attnum
"""


def postgres_limits(database: Source, ref: TableRef, publication: str) -> Limits:
    """Return the limits of a table that is to be added to `publication`."""
    from labctl.sources.publication import read_publication, readded, shown_of
    from labctl.sources.replica_identity import SHOWN_IN_PART

    shown = SHOWN_IN_PART.replace("{table}", "c.oid").replace("{own}", "%s")
    found = database.execute(
        _POSTGRES.replace("{is_shown_in_part}", shown), (publication, database.qualified(ref))
    )
    if not found:
        return Limits()
    kind, persistence, root, children, unlike, unlogged, unsent, *others = found[0]
    has_large, in_part, undecoded, unusual, key = others
    refused = None
    if root is not None:
        refused = f"it is a partition of {root}; capture that table instead, which has all its rows"
    elif children:
        refused = (
            f"it has the rows of {', '.join(children)}, which inherit from it, and their changes "
            "would not come under its name; capture each of those tables, or make it a "
            "partitioned table"
        )
    elif persistence != "p" and kind == "r":
        refused = (
            "it is unlogged, so PostgreSQL writes none of its changes down; "
            f"ALTER TABLE {database.qualified(ref)} SET LOGGED"
        )
    elif unlike:
        refused = (
            f"changes of {', '.join(unlike)}, partitions of it that are unlogged or foreign, are "
            "in no log; make them plain tables, or detach them"
        )
    elif in_part and not key:
        refused = (
            "it has no primary key, or a deferrable one, and a publication does not show all of "
            "its columns: UPDATE and DELETE would fail; give it one that is not deferrable"
        )
    elif lost := [name for name in key if name in unlogged]:
        refused = (
            f"its key column {lost[0]} is generated, and PostgreSQL writes no value of it down; "
            "make it a plain column"
        )
    elif lost := [name for name in key if name in undecoded]:
        refused = f"its key column {lost[0]} is {_UNDECODED}"
    elif lost := [name for name in key if name in unusual]:
        refused = f"its key column {lost[0]} is {_UNUSUAL}"
    # Report the publication's faults last: those of the table would remain after they are fixed.
    if refused is None and (existing := read_publication(database, publication)) is not None:
        refused = existing.refuses(database, ref)
    visible = shown_of(database, publication, ref)
    limits = Limits(
        refused,
        tuple(unlogged),
        undecoded=tuple(undecoded),
        unusual=tuple(unusual),
        unpublished=visible.left_out,
        correction=readded(database, publication, ref) if visible.left_out else "",
    )
    # A partition created later has its primary key as its replica identity.
    if not in_part and kind != "p":
        return limits
    return replace(limits, unsent=tuple(unsent), needs_reselect=has_large)


def postgres_reload_refused(database: Source, ref: TableRef) -> str | None:
    """Return why Debezium cannot read a table again while it streams; None if it can.

    An incremental snapshot of Debezium 3.3.1 reads a table without its stored generated columns:
    each becomes NULL in every row, and the next change ends the connector.
    """
    stored = database.execute(_STORED, (database.qualified(ref),))
    if not stored:
        return None
    names = ", ".join(str(name) for (name,) in stored)
    return f"Debezium would write NULL for {names}, which PostgreSQL generates and stores"


def mysql_limits(database: Source, ref: TableRef, _publication: str) -> Limits:
    """Return the limits of a table: Debezium's parser escapes commas in the names of an ENUM."""
    declared = database.execute(
        "SELECT COLUMN_NAME, COLUMN_KEY, COLUMN_TYPE FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND DATA_TYPE = 'enum'"
        " ORDER BY ORDINAL_POSITION",
        (ref.schema, ref.name),
    )
    # Each name is in quotes; a quote within it is doubled.
    found = [
        (str(name), key)
        for name, key, kind in declared
        if any("," in one for one in re.findall(r"'((?:[^']|'')*)'", str(kind)))
    ]
    lost = [name for name, key in found if key == "PRI"]
    refused = f"its key column is {lost[0]}, {_ESCAPED}" if lost else None
    return Limits(refused, escaped=tuple(name for name, _ in found))


def sqlserver_limits(database: Source, ref: TableRef, _publication: str) -> Limits:
    """Return the limits of a table: change data capture has NULL for each computed column."""
    table = (database.qualified(ref),)
    computed = database.execute(
        "SELECT name FROM sys.columns WHERE object_id = OBJECT_ID(%s) AND is_computed = 1"
        " ORDER BY column_id",
        table,
    )
    described = database.describe(ref)
    overflowing = tuple(
        column.name
        for column in described.columns
        if column.declared.full == "datetime2(7)" and _overflows(database, ref, column.name)
    )
    lost = [name for name in described.keys if name in overflowing]
    refused = f"its key column is {lost[0]}, {_OVERFLOWING}" if lost else None
    unlogged = tuple(name for (name,) in computed)
    return Limits(refused, unlogged=unlogged, overflowing=overflowing)


def _overflows(database: Source, ref: TableRef, column: str) -> bool:
    name = database.quote(column)
    return bool(
        database.execute(
            f"SELECT TOP 1 1 FROM {database.qualified(ref)}"  # noqa: S608 - names are quoted
            f" WHERE {name} < '1677-09-21T00:12:43.1452242'"
            f" OR {name} > '2262-04-11T23:47:16.8547758'"
        )
    )
