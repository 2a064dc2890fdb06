"""The limits of capturing a PostgreSQL table."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.engines.postgres.postgres_publication import read_publication, readded, shown_of
from labctl.engines.postgres.postgres_replica_identity import SHOWN_IN_PART
from labctl.sources.base import Source, TableRef
from labctl.sources.capture_limits import UNLOGGED, Lack, Limits

__all__ = [
    "UNDECODED",
    "UNPUBLISHED",
    "UNSENT",
    "UNUSUAL",
    "postgres_limits",
    "postgres_reload_refused",
]

UNSENT = (
    "which may be large, and PostgreSQL does not send what an update leaves as it is: it would be "
    "NULL then"
)
UNDECODED = (
    "of the type name, which Debezium reads in the first load and in no change: it would be NULL "
    "then; declare it as text or varchar(63)"
)
UNUSUAL = (
    "a numeric whose scale is negative, or more than its digits, which no decimal of a lake has; "
    "declare it with a scale of 0 up to its digits, or without a size"
)
UNPUBLISHED = (
    "which the column list of the connector's publication leaves out: it would be NULL after the "
    "first change"
)

_TABLE = """
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
        WHERE indrelid = c.oid AND indisprimary AND indimmediate),
    c.relrowsecurity AND c.relforcerowsecurity
FROM pg_class c WHERE c.oid = to_regclass(%s)
"""


_STORED = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attgenerated = 's' AND NOT attisdropped ORDER BY attnum
"""


_KEY_TYPES = """
WITH RECURSIVE kinds AS (
    SELECT a.attname, a.attnum, a.atttypid AS kind FROM pg_index JOIN pg_attribute a
        ON a.attrelid = indrelid AND a.attnum = ANY (indkey::int2[])
    WHERE indrelid = to_regclass(%s) AND indisprimary
    UNION ALL
    SELECT attname, attnum, typbasetype FROM kinds JOIN pg_type t ON t.oid = kind
    WHERE typbasetype <> 0
)
SELECT attname, kind::regtype::text FROM kinds ORDER BY attnum
"""
"""Key columns and their types. For a domain, also the type beneath it."""
_READ_AS_TEXT = (
    "timestamp with time zone",
    "timestamp without time zone",
    "time with time zone",
    "time without time zone",
    "bit",
    "bit varying",
)
_STRING_TYPE_KEY = "driver.stringtype"
"""Setting of PostgreSQL's driver by which the server decides what type a text is."""


def postgres_limits(database: Source, ref: TableRef, publication: str) -> Limits:
    """Return the limits of a table that is to be added to `publication`."""
    shown = SHOWN_IN_PART.replace("{table}", "c.oid").replace("{own}", "%s")
    found = database.execute(
        _TABLE.replace("{is_shown_in_part}", shown), (publication, database.qualified(ref))
    )
    if not found:
        return Limits()
    kind, persistence, root, children, unlike, unlogged, unsent, *others = found[0]
    has_large, in_part, undecoded, unusual, key, is_forced = others
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
    elif is_forced:
        refused = (
            "its row level security is forced on its owner, as whom labctl reads it: rows would be "
            f"hidden from the comparison; ALTER TABLE {database.qualified(ref)} NO FORCE ROW LEVEL "
            "SECURITY"
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
        refused = f"its key column {lost[0]} is {UNDECODED}"
    elif lost := [name for name in key if name in unusual]:
        refused = f"its key column {lost[0]} is {UNUSUAL}"
    # Report the publication's faults last: those of the table would remain after they are fixed.
    if refused is None and (existing := read_publication(database, publication)) is not None:
        refused = existing.refuses(database, ref)
    visible = shown_of(database, publication, ref)
    # A partition created later has its primary key as its replica identity.
    is_keyed = in_part or kind == "p"
    correction = readded(database, publication, ref) if visible.left_out else ""
    lacks = (
        Lack(tuple(unlogged), UNLOGGED),
        Lack(tuple(unsent) if is_keyed else (), UNSENT),
        Lack(tuple(undecoded), UNDECODED),
        Lack(tuple(unusual), UNUSUAL),
        Lack(visible.left_out, f"{UNPUBLISHED} ({correction})"),
    )
    return Limits(refused, lacks, needs_reselect=is_keyed and has_large)


def postgres_reload_refused(
    database: Source, ref: TableRef, connector: Mapping[str, str]
) -> str | None:
    """Return why Debezium cannot read a table again while it streams; None if it can.

    An incremental snapshot of Debezium (3.3.1) reads a table without its stored generated columns:
    each becomes NULL in every row, and the next change ends the connector. Debezium 3.6.1 compares
    some keys with a text, and money with a number. The key is taken to be the primary key; a table
    that `message.key.columns` names may have another.
    """
    table = (database.qualified(ref),)
    if stored := database.execute(_STORED, table):
        names = ", ".join(str(name) for (name,) in stored)
        return f"Debezium would write NULL for {names}, which PostgreSQL generates and stores"
    for name, kind in database.execute(_KEY_TYPES, table):
        if kind == "money":
            return f"Debezium would compare its key {name}, which is money, with a number"
        if kind in _READ_AS_TEXT and connector.get(_STRING_TYPE_KEY) != "unspecified":
            return (
                f"Debezium would compare its key {name}, a {kind}, with a text, unless the "
                f'file has "{_STRING_TYPE_KEY}": "unspecified" (then labctl connectors apply)'
            )
    return None
