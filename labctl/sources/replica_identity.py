"""SQL that decides how much of an old row PostgreSQL's log has, so that no statement fails.

PostgreSQL refuses an UPDATE or DELETE of a published table whose replica identity a publication
does not cover. FULL has the whole old row: a delete tells what was deleted, and a large value that
an update leaves as it is comes with the update. But it is no identity for a table with virtual
generated columns (PostgreSQL 18), nor for one that any publication shows in part.
"""

from __future__ import annotations

from collections.abc import Iterable

from labctl.sources.base import TableRef, quoted

__all__ = ["OPTIONS", "OPTIONS_OF_18", "identity_statement"]

OPTIONS = "publish_via_partition_root = true"
"""Changes of a partition come under the name of its table, whenever the partition was made."""
OPTIONS_OF_18 = f"{OPTIONS}, publish_generated_columns = stored"
"""The same from PostgreSQL 18 on: stored generated columns are published, too."""

_BLOCK = """\
DO {mark}
DECLARE
    part record;
    version integer := current_setting('server_version_num')::integer;
    family oid[];
    by_schema oid[];
    is_keyed boolean;
    has_stored boolean;
    is_part_shown boolean;
BEGIN
    FOR part IN
        -- A publication has the partitions of its tables, and what inherits from them.
        WITH RECURSIVE tree (relid) AS (
            SELECT unnest(ARRAY[{tables}]::regclass[])::oid
            UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = relid
        )
        SELECT c.oid, c.oid::regclass AS name, c.relreplident AS identity
        FROM tree JOIN pg_class c ON c.oid = tree.relid AND c.relkind IN ('r', 'p')
    LOOP
        family := ARRAY(SELECT relid::oid FROM pg_partition_ancestors(part.oid)) || part.oid;
        by_schema := ARRAY[]::oid[];
        IF version >= 150000 THEN
            by_schema := ARRAY(
                SELECT pnpubid FROM pg_publication_namespace WHERE pnnspid IN (
                    SELECT relnamespace FROM pg_class WHERE oid = ANY (family)));
        END IF;
        is_keyed := EXISTS (SELECT FROM pg_index WHERE indrelid = part.oid AND indisprimary);
        has_stored := EXISTS (SELECT FROM pg_attribute WHERE attrelid = part.oid
            AND NOT attisdropped AND attgenerated = 's');
        -- FULL asks every publication of the table for all columns.
        is_part_shown := EXISTS (SELECT FROM pg_attribute WHERE attrelid = part.oid
            AND NOT attisdropped AND attgenerated = 'v');
        is_part_shown := is_part_shown OR EXISTS (
            SELECT FROM pg_publication p
            LEFT JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = ANY (family)
            WHERE (p.pubupdate OR p.pubdelete)
              AND (p.puballtables OR r.oid IS NOT NULL OR p.oid = ANY (by_schema))
              AND (to_jsonb(r) ->> 'prattrs' IS NOT NULL
                   OR has_stored AND to_jsonb(p) ->> 'pubgencols' <> 's'));
        IF NOT is_part_shown THEN
            IF part.identity <> 'f' THEN
                EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', part.name);
            END IF;
        ELSIF NOT is_keyed THEN
            RAISE EXCEPTION '% has no primary key, and a publication does not show all of its '
                'columns: UPDATE and DELETE would fail', part.name
                USING HINT = 'give it a primary key';
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
    """Return the statement that gives tables, and their parts, a replica identity.

    It is FULL wherever no statement of an application fails by it, else the primary key. It changes
    nothing that is right already, and is to run before the tables are published.
    """
    names = ", ".join(
        quoted(f"{quoted(ref.schema, _MARKS)}.{quoted(ref.name, _MARKS)}", ("'", "'"))
        for ref in tables
    )
    mark = "$labctl$"
    while mark in names:
        mark = f"{mark[:-1]}_$"
    # Names may hold braces, so they come last.
    return _BLOCK.replace("{mark}", mark).replace("{tables}", names)


_MARKS = ('"', '"')
