"""Row level security: a policy that hides rows hides them from a connector's first load alone.

The log has the changes of all rows.
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
        AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid AND polname = '{user}')
    LOOP
        EXECUTE format('CREATE POLICY {user} ON %s FOR SELECT TO {user} USING (true)', secured);
    END LOOP;
END {mark}"""


def policies_statement(tables: Sequence[TableRef], user: str) -> str:
    """Return the statement that lets `user` read every row of those of `tables` with policies.

    It changes nothing for other roles. A restrictive policy still hides rows.
    """
    names, mark = quoted_tables(tables)
    block = _BLOCK.replace("{user}", user).replace("{mark}", mark)
    # Names may contain braces, so insert them last.
    return block.replace("{tables}", names)
