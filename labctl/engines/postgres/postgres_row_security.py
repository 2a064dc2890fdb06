"""Row level security: a policy hides rows from what a connector reads in the table itself.

These are its loads. The log has the changes of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from labctl.engines.postgres.postgres_replica_identity import quoted_tables
from labctl.sources.base import TableRef

__all__ = ["policies_statement"]

_BLOCK = """\
DO {mark}
DECLARE
    secured regclass;
BEGIN
    FOR secured IN
        SELECT oid FROM pg_class WHERE oid = ANY (ARRAY[{tables}]::regclass[]) AND relrowsecurity
    LOOP
        IF EXISTS (
            SELECT FROM pg_policy WHERE polrelid = secured AND NOT polpermissive
            AND polcmd IN ('r', '*') AND polroles && ARRAY[0::oid, '{user}'::regrole::oid]
        ) THEN
            RAISE EXCEPTION '% has a restrictive policy, which hides rows from {user}', secured
                USING HINT = 'ALTER POLICY … TO the roles that it is for';
        END IF;
        EXECUTE format('DROP POLICY IF EXISTS labctl_{user} ON %s', secured);
        EXECUTE format(
            'CREATE POLICY labctl_{user} ON %s FOR SELECT TO {user} USING (true)', secured
        );
    END LOOP;
END {mark}"""


def policies_statement(tables: Sequence[TableRef], user: str) -> str:
    """Return the statement that lets `user` read every row of those of `tables` with policies.

    It changes nothing for other roles. It raises an exception for a restrictive policy, which would
    still hide rows.
    """
    names, mark = quoted_tables(tables)
    block = _BLOCK.replace("{user}", user).replace("{mark}", mark)
    # Names may contain braces, so insert them last.
    return block.replace("{tables}", names)
