"""The SQL that an administrator runs on RDS has a foreign database's names as names alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pglast import parse_sql
from pglast.ast import AlterTableStmt

from labctl.config.model import SourceEngine
from labctl.sources import ENGINES, Preparation, TableRef

HOSTILE = TableRef("s`]\"'; DROP TABLE t; --", "t\"`]'; DROP TABLE t; --")
PLAIN = TableRef("s", "t")


def prepared(engine: SourceEngine, ref: TableRef) -> str:
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
def test_a_name_is_no_more_than_a_name(engine: SourceEngine) -> None:
    plain, hostile = (
        re.sub(QUOTED[engine], "_", re.sub(r"(?m)^--.*", "", prepared(engine, ref)))
        for ref in (PLAIN, HOSTILE)
    )
    assert hostile == plain


def test_tables_keep_their_names_in_postgresql() -> None:
    lines = [x for x in prepared("postgres", HOSTILE).splitlines() if not x.startswith("\\connect")]
    statements: Any = parse_sql("\n".join(lines).replace(":'cdc_password'", "'x'"))
    altered: list[Any] = [
        one.stmt.relation for one in statements if isinstance(one.stmt, AlterTableStmt)
    ]
    assert [(one.schemaname, one.relname) for one in altered] == [(HOSTILE.schema, HOSTILE.name)]
