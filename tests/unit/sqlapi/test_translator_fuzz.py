"""Whatever statement is sent, DuckDB gets one SELECT of known functions over known tables.

`python -m tests.unit.sqlapi.fuzz` does the same with as many statements as it is told to.
"""

from __future__ import annotations

import random

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sqlapi.sql.one_select import UnknownStatementError, one_select
from tests.unit.hanging import Watch
from tests.unit.sqlapi.athena_statements import Asked, asked
from tests.unit.sqlapi.duckdb_statements import EscapeError, check
from tests.unit.sqlapi.translating import Translator

FORBIDDEN = [
    "select 1; select 2", "create macro m() as 1", "create or replace temp macro t_upper(s) as 1",
    "select * from read_csv('/etc/passwd')", "select getenv('HOME')", "select * from other",
    "select * from main.t", "select main.upper('a')", "from t at (timestamp => now())",
    "select * from range(3)", "show tables", "select * from (describe t)", "pragma version",
    "call pragma_version()", "explain select 1", "with a as (insert into t values (1)) select 1",
    "with a as (select 1) select * from a", "select ?", "select #1 from t",
    "select columns(*) from t",
    "set threads = 1", "attach ':memory:' as x", "copy (select 1) to '/tmp/x'", "select 1 from",
    "select * from query('select 1')", "select nextval('s')", "select error('x')", "",
    "pivot t on a using sum(a)", "select getvariable('x')", "prepare p as select 1",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=1)
def test_no_statement_escapes_or_hangs(translator: Translator, seed: int) -> None:
    given_one = asked(random.Random(seed))  # noqa: S311 - chance, not secrets
    with Watch().one(given_one):
        translator.outcome(given_one)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator()


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 limit " + "9" * 5000, "select " + "9" * 5000, "select cast(1 as decimal(a))",
        "select interval '" + "9" * 5000 + "' day", "select timestamp '2024-02-03'{a}",
        "select 1 order by ²", "select U&'\\D800'", "select U&'\\+999999'",
        "select regexp_extract('a', 'a{9999999999}', 0)", "select array" + "[" * 200,
        "select json_extract('[]', '$[" + "9" * 5000 + "]')", "select format('%.999f', 1.5)",
        "select " + "-" * 1000 + "1", "select " + "x -> " * 1000 + "1",
    ],
)  # fmt: skip
def test_found_by_fuzzing(translator: Translator, sql: str) -> None:
    assert translator.outcome(Asked(sql, ())) == "refused"


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_nothing_but_one_select_of_known_functions_passes(sql: str) -> None:
    connection = duckdb.connect()
    with pytest.raises(UnknownStatementError):
        one_select(connection, sql, ["t"])
    with pytest.raises((EscapeError, duckdb.Error)):
        check(connection, sql, ["t"])


def test_a_select_of_known_functions_over_known_tables_passes() -> None:
    connection = duckdb.connect()
    sql = 'SELECT sum(a) AS c0 FROM "t" AS t1 GROUP BY a ORDER BY 1 DESC NULLS LAST LIMIT 1'
    one_select(connection, sql, ["t"])
    check(connection, sql, ["t"])
