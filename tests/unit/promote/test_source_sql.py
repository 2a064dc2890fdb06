"""The SQL that an administrator runs on RDS has a foreign database's names as names alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pglast import parse_sql
from pglast.ast import AlterPublicationStmt, DoStmt

from labctl.engine_names import EngineName
from labctl.engines.postgres.postgres_replica_identity import identity_statement
from labctl.sources import ENGINES, Preparation, TableRef

HOSTILE = TableRef("s`]\"'; DROP TABLE t; --", "t\"`]'; DROP TABLE t; --")
PLAIN = TableRef("s", "t")


def prepared(engine: EngineName, ref: TableRef) -> str:
    return ENGINES[engine].preparation(
        Preparation(
            database="d",
            schemas=(ref.schema,),
            tables=(ref,),
            user="debezium",
            publication="p",
            published=(ref,),
            multi_az=False,
        )
    )


QUOTED = {
    "postgres": r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""",
    "mysql": r"""'(?:[^']|'')*'|`(?:[^`]|``)*`""",
    "sqlserver": r"""'(?:[^']|'')*'|\[(?:[^\]]|\]\])*\]""",
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_is_no_more_than_a_name(engine: EngineName) -> None:
    plain, hostile = (
        re.sub(QUOTED[engine], "_", re.sub(r"(?m)^--.*", "", prepared(engine, ref)))
        for ref in (PLAIN, HOSTILE)
    )
    assert hostile == plain


def test_tables_keep_their_names_in_postgresql() -> None:
    lines = [x for x in prepared("postgres", HOSTILE).splitlines() if not x.startswith("\\connect")]
    statements: Any = parse_sql("\n".join(lines).replace(":'cdc_password'", "'x'"))
    published: list[Any] = [
        member.pubtable.relation
        for one in statements
        if isinstance(one.stmt, AlterPublicationStmt)
        for member in one.stmt.pubobjects or ()
    ]
    assert [(one.schemaname, one.relname) for one in published] == [(HOSTILE.schema, HOSTILE.name)]
    blocks = [
        argument.arg.sval
        for one in statements
        if isinstance(one.stmt, DoStmt)
        for argument in one.stmt.args or ()
    ]
    schema, name = (part.replace('"', '""') for part in (HOSTILE.schema, HOSTILE.name))
    quoted = f'"{schema}"."{name}"'.replace("'", "''")
    # One block is of the replica identity, the other of policies.
    assert sum(f"ARRAY['{quoted}']" in block for block in blocks) == 2


def test_a_table_called_as_the_blocks_mark_does_not_end_it() -> None:
    assert identity_statement([TableRef("s", "$labctl$")]).endswith("END $labctl_$")
    assert identity_statement([TableRef("{mark}", "{tables}")]).count("{tables}") == 1
