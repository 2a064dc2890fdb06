"""SQL that sets how much of an old row PostgreSQL logs, without making any statement fail.

PostgreSQL refuses an UPDATE or DELETE of a published table whose replica identity a publication
does not cover. FULL logs the whole old row: a delete shows what was deleted, and an update contains
a large value that it does not change. But FULL is not possible for a table with virtual generated
columns (PostgreSQL 18), nor for a table that any publication shows in part.
"""

from __future__ import annotations

from collections.abc import Iterable

from labctl.sources.base import TableRef, quoted

__all__ = ["SHOWN_IN_PART", "identity_statement", "quoted_tables"]

SHOWN_IN_PART = """\
CASE
WHEN EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = {table} AND NOT attisdropped AND attgenerated = 'v'
) THEN TRUE
WHEN EXISTS (
    SELECT FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid
    WHERE (p.pubupdate OR p.pubdelete) AND to_jsonb(r) ->> 'prattrs' IS NOT NULL
    AND (prrelid = {table} OR prrelid IN (SELECT relid FROM pg_partition_ancestors({table})))
) THEN TRUE
WHEN current_setting('server_version_num')::integer >= 180000 AND EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = {table} AND NOT attisdropped AND attgenerated = 's'
) THEN EXISTS (
    -- By name: to look a name up asks for rights in its schema.
    WITH family (schema, name) AS (
        SELECT nspname, relname FROM pg_class k JOIN pg_namespace n ON n.oid = relnamespace
        WHERE k.oid = {table} OR k.oid IN (SELECT relid FROM pg_partition_ancestors({table}))
    )
    SELECT FROM pg_publication p
    JOIN pg_publication_tables t ON t.pubname = p.pubname
    JOIN family ON schema = t.schemaname AND name = t.tablename
    WHERE (p.pubupdate OR p.pubdelete) AND p.pubname <> {own}
    AND EXISTS (SELECT FROM pg_attribute a WHERE attrelid = {table} AND NOT attisdropped
        AND attgenerated = 's' AND NOT to_jsonb(t) -> 'attnames' ? a.attname::text))
ELSE FALSE END"""
"""SQL condition that a publication would refuse FULL as the identity of `{table}`, an oid. `{own}`
is a publication whose options are not set yet. The columns that all publications show are queried
only where they matter: the query takes milliseconds for each of hundreds of tables."""

_BLOCK = """\
DO {mark}
DECLARE
    part record;
    is_shown_in_part boolean;
BEGIN
    FOR part IN
        -- A publication has the partitions of its tables, and what inherits from them.
        WITH RECURSIVE tree (relid) AS (
            SELECT unnest(ARRAY[{tables}]::regclass[])::oid
            UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = relid
        )
        SELECT c.oid, c.oid::regclass AS name, c.relreplident AS identity,
            -- One that is deferrable is no identity.
            EXISTS (SELECT FROM pg_index
                WHERE indrelid = c.oid AND indisprimary AND indimmediate) AS is_keyed
        FROM tree JOIN pg_class c ON c.oid = tree.relid AND c.relkind IN ('r', 'p')
    LOOP
        is_shown_in_part := {is_shown_in_part};
        IF NOT is_shown_in_part THEN
            IF part.identity <> 'f' THEN
                EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', part.name);
            END IF;
        ELSIF NOT part.is_keyed THEN
            RAISE EXCEPTION '% has no primary key, or a deferrable one, and a publication does '
                'not show all of its columns: UPDATE and DELETE would fail', part.name
                USING HINT = 'give it a primary key that is not deferrable';
        ELSIF part.identity IN ('f', 'n') THEN
            EXECUTE format('ALTER TABLE %s REPLICA IDENTITY DEFAULT', part.name);
        ELSIF part.identity = 'i' AND EXISTS (
            SELECT FROM pg_index key JOIN pg_index own ON own.indrelid = key.indrelid
            WHERE key.indrelid = part.oid AND key.indisprimary AND own.indisreplident
              AND NOT (key.indkey::int2[] <@ own.indkey::int2[])
        ) THEN
            RAISE EXCEPTION '% has a replica identity index without its primary key: a delete '
                'would not tell which row it is of', part.name
                USING HINT = 'ALTER TABLE … REPLICA IDENTITY DEFAULT';
        END IF;
    END LOOP;
END {mark}"""


def identity_statement(tables: Iterable[TableRef]) -> str:
    """Return the statement that gives tables and their partitions a replica identity.

    The identity is FULL unless that would make an application's statement fail, else the primary
    key. It changes nothing that is right already. Run it before the tables are published.
    """
    names, mark = quoted_tables(tables)
    shown = SHOWN_IN_PART.replace("{table}", "part.oid").replace("{own}", "''")
    block = _BLOCK.replace("{is_shown_in_part}", shown).replace("{mark}", mark)
    # Names may contain braces, so insert them last.
    return block.replace("{tables}", names)


def quoted_tables(tables: Iterable[TableRef]) -> tuple[str, str]:
    """Return the names of tables as a list of texts, and a dollar quote that none of them has."""
    names = ", ".join(
        quoted(f"{quoted(ref.schema, _MARKS)}.{quoted(ref.name, _MARKS)}", ("'", "'"))
        for ref in tables
    )
    mark = "$labctl$"
    while mark in names:
        mark = f"{mark[:-1]}_$"
    return names, mark


_MARKS = ('"', '"')
