"""SQL for PostgreSQL is composed: no text of a client becomes SQL, whatever it holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from psycopg.sql import Composable

import labctl.sqlserver
from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.tsql.ddl import definition
from labctl.sqlserver.tsql.lexer import tokenize, unquote
from labctl.sqlserver.tsql.translate import query
from tests.unit.sqlserver.postgres_grammar import check

PACKAGE = Path(labctl.sqlserver.__file__).parent
MADE_OF_OTHER_THINGS = {
    "tsql/dialect.py": 1,  # a syntax tree's own text
    "sqltypes.py": 1,  # a type, made of the module's words and of numbers
    "backend/install.py": 1,  # the SQL files of this package
}
"""How often `SQL` is given something else than a constant, by file."""


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_constant(node.body) and _is_constant(node.orelse)
    return isinstance(node, ast.Constant)


def test_sql_is_made_of_constants() -> None:
    """`SQL(…)` takes a constant; names and values come in as `Identifier` and `Literal`."""
    found: dict[str, int] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "SQL"
                and not _is_constant(node.args[0])
            ):
                name = path.relative_to(PACKAGE).as_posix()
                found[name] = found.get(name, 0) + 1
    assert found == MADE_OF_OTHER_THINGS


def _sent(text: str) -> list[Composable]:
    if text.split(maxsplit=1)[0] in {"CREATE", "ALTER", "DROP", "TRUNCATE"}:
        return definition(text, "db")
    return [query(text, "db", {}).sql]


HOSTILE = [
    "DROP TABLE IF EXISTS [x*/ COPY (SELECT 1) TO PROGRAM 'id' --]",
    "DROP VIEW [x*/ COPY (SELECT 1) TO PROGRAM 'id' --]",
    'SELECT * FROM [pg_catalog"".""pg_read_file""(\'/f\') --].cdc.f()',
    'SELECT * FROM [pg_catalog"."pg_read_file"(\'/f\') --].cdc.f()',
    "SELECT * FROM [mssql.a(), pg_read_file]('x')",
    "SELECT sys.[fn_cdc_x(), pg_read_file]('x')",
    "SELECT CAST(1 AS [foo), pg_read_file( ])",
    "SELECT 1 /* a */ -- */ ; COPY (SELECT 1) TO PROGRAM 'id' --",
    "SELECT pg_read_file('x')",
    "SELECT IDENT_CURRENT('x\"'')::regclass, pg_read_file(''f'')--')",
    "CREATE TABLE t (a int IDENTITY(1,1) , b int IDENTITY(1, 1) NOT NULL)",
    "CREATE TABLE t (a int IDENTITY(1, 1); COPY (SELECT 1) TO PROGRAM 'id' --))",
    "CREATE TABLE t (a int IDENTITY(1 CACHE (SELECT 1), 1))",
    "CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE ON [x] y)",
    "CREATE TABLE t (a int CHECK (1 = 1 THEN 1 END, pg_read_file('x'), CASE WHEN 1 = 1))",
    "CREATE TABLE [t'; COPY (SELECT 1) TO PROGRAM 'id' --] (A int DEFAULT 'a''b\\')",
    "WITH a AS (SELECT '/*columns*/' AS x) INSERT INTO t SELECT x FROM a",
    "DELETE TOP (²) FROM t",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_stays_a_name(text: str) -> None:
    names = [unquote(t.text) for t in tokenize(text) if t.kind in {"word", "quoted"}]
    try:
        sent = [sql.as_string(None) for sql in _sent(text)]
    except SqlError:
        return
    for sql in sent:
        assert check(sql, ["db", "dbo", "sys", "cdc", *names]), sql


def test_a_zero_byte_is_refused() -> None:
    """libpq would end the statement there."""
    with pytest.raises(SqlError, match="U\\+0000"):
        tokenize("DELETE FROM t /*\0*/ WHERE a = 1")
