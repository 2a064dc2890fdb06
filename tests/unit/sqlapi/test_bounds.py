"""A short statement takes little: its translation grows with its text, and nothing runs on."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pyarrow as pa
import pytest

from sqlapi.athena.statements import parse
from sqlapi.sql import binding
from sqlapi.sql.budget import LONGEST_STATEMENT
from sqlapi.sql.engine import Engine
from sqlapi.sql.functions import AGGREGATES, LAMBDAS, SCALARS, WINDOWS
from sqlapi.sql.one_select import UnknownStatementError
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import Translation
from sqlapi.sql.types import INTEGER, VARCHAR
from tests.unit.hanging import Watch
from tests.unit.sqlapi.asking import Tables, answer, ask, translated
from tests.unit.sqlapi.cases import answers, cases

LEAVES = [
    "1", "1.5", "1e0", "'a'", "true", "date '2024-01-31'", "timestamp '2024-01-31 10:00:00'",
    "array[1, 2]", "array['a']", "array[1e0]", "map(array['a'], array[1])", "X'00'", "row(1, 'a')",
    "json '[1]'", "interval '1' day",
]  # fmt: skip
OTHERS = ["", ", 1", ", 'a'", ", 1.5", ", 1, 1", ", 'a', 'a'", ", {leaf}", ", {leaf}, {leaf}"]
NESTED = [
    "nullif({e}, 1)", "case {e} when 1 then 2 when 3 then 4 end", "case {e} when {e} then 1 end",
    "({e} between 1 and 2)", "cast({e} as varchar)", "try_cast({e} as varchar)", "try({e})",
    "({e} / 1.1)", "({e} % 1.1)", "({e} || array[1])", "array[1, 2][{e}]", "({e} = 1e0)",
    "date_add('day', 1, {e})", "(select {e})", "any_match(array[{e}], x -> x = 1)", "row({e}, 1)",
    "({e} in (1e0, 2e0))", "transform(array[1], x -> {e})", "upper({e})", "({e} || {e})",
    "if({e} is null, 1, {e})", "reduce(array[1], {e}, (s, x) -> s + x, s -> s)",
    "sum({e}) over (order by {e} rows 1 preceding)", "unnest({e})", "cast(row({e}) as json)",
    "zip_with({e}, {e}, (x, y) -> x)", "concat({e}, {e}, array[1])", "(({e}, 1) in (select 1, 1))",
]  # fmt: skip
MANY = 25


FUNCTIONS = sorted({*SCALARS, *LAMBDAS, *AGGREGATES, *WINDOWS})


def _nested(template: str, leaf: str, count: int) -> str:
    text = leaf
    for _ in range(count):
        text = template.replace("{e}", text)
    return f"select {text} from t"


def _check_short(templates: list[str], tables: Tables) -> int:
    """Return how many of the templates, each with each leaf, are taken within themselves."""
    taken = 0
    for template, leaf in itertools.product(templates, LEAVES):
        given = template.replace("{leaf}", leaf)
        try:
            translated(_nested(given, leaf, 2), tables)
            # what is twice within itself would be long before it is translated
            sql = _nested(given, leaf, MANY if given.count("{e}") == 1 else 6)
            with Watch().one(sql):
                made = translated(sql, tables)
        except SqlError:
            continue
        taken += 1
        assert len(made.sql) < 400 * len(sql), sql
    return taken


@pytest.fixture(scope="module")
def tables() -> Tables:
    return Tables(t=pa.table({"a": pa.array([1], pa.int64())}))


@pytest.mark.parametrize("template", NESTED)
def test_an_expression_in_itself_many_times_stays_short(template: str, tables: Tables) -> None:
    _check_short([template], tables)


def test_a_function_in_itself_many_times_stays_short(tables: Tables) -> None:
    # every twelfth, other ones each time: all of them take a minute
    start = random.SystemRandom().randrange(12)
    print("start", start)
    taken = {
        name: _check_short([f"{name}({{e}}{other})" for other in OTHERS], tables)
        for name in FUNCTIONS[start::12]
    }
    assert sum(map(bool, taken.values())) > len(taken) // 5


@pytest.mark.parametrize(
    "sql",
    [
        "select nullif(" + "nullif(" * 24 + "1" + ", 2)" * 25,
        "select " + "upper(" * 25 + "'a'" + ")" * 25,
        "select " + "date_add('day', 1, " * 25 + "date '2024-01-31'" + ")" * 25,
        "select " + "array_distinct(" * 25 + "array[1, 1]" + ")" * 25,
        "select " + "case " * 25 + "1" + " when 1 then 1 when 2 then 2 end" * 25,
        "select 1.5" + " / 1.5" * 25,
    ],
)
def test_a_nested_function_is_answered(sql: str) -> None:
    with Watch().one(sql):
        assert len(ask(sql)) == 1


CASES = cases()


def test_what_is_written_once_has_the_same_value(monkeypatch: pytest.MonkeyPatch) -> None:
    start = random.SystemRandom().randrange(25)
    print("start", start)
    truth = answers()
    plain = {sql: _rows(sql) for sql in CASES[start::25]}
    monkeypatch.setattr(binding, "_SHORT", -1)
    for sql, rows in plain.items():
        if rows is not None and not truth[sql].error:
            assert _rows(sql) == rows, sql


def _rows(sql: str) -> Any:
    try:
        return sorted(map(repr, answer(sql)[1]))
    except SqlError:
        return None


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 " + ";" * 200_000, "select 1 " + " ;" * 100_000 + "x",
        "/**/" * 60_000 + "select 1",
        "create table x as" + " " * 200_000 + "y", "unload (" + ") to 'x' with (" * 15_000,
        "alter table a set tblproperties (" + "'a'=" * 50_000 + ")", "drop table " + '"' * 200_000,
        "create table x with (" + "()" * 100_000 + "x", "execute a" + " " * 200_000 + "using",
        "drop table " + "a" * 200_000 + "-", "unload (" * 30_000,
        "show tables" + " " * 200_000 + "x",
        "create table x as select 1" + " " * 200_000 + "with",
    ],
    ids=lambda sql: sql[:30],
)  # fmt: skip
def test_the_form_of_a_statement_is_found_in_linear_time(sql: str) -> None:
    with Watch().one(sql[:50]):
        try:
            parse(sql)
        except SqlError as error:
            assert len(str(error)) < 300


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select " + "(" * 200 + "1" + ")" * 200, "nested too deeply"),
        ("select " + "array[" * 200 + "1" + "]" * 200, "nested too deeply"),
        ("select " + "array[" * 40 + "1" + "]" * 40, "types in each other"),
        ("select " + "not " * 5000 + "true", "nested too deeply"),
        ("select 1" + " + 1" * 5000, "nested too deeply"),
        (" union all ".join(["select 1"] * 500), "nested too deeply"),
        ("select " + "transform(array[1], x -> " * 20 + "1" + ")" * 20, "nested too deeply"),
        ("select x from " + "(select row(x, x) as x from " * 25 + "(select 1 as x)" + ") z" * 25,
         "type of more than"),
        ("with c0 as (select 1 as x)" + "".join(
            f", c{i} as (select a.x from c{i - 1} a, c{i - 1} b)" for i in range(1, 55)
        ) + " select * from c54", "too large"),
        ("select " + ", ".join(["a"] * 20) + " from " + ", ".join(f"t a{i}" for i in range(1100)),
         "More than 1,000 tables"),
        ("select '" + "a" * LONGEST_STATEMENT + "'", "more than 262144 bytes"),
        ("select '" + "é" * (LONGEST_STATEMENT // 2) + "'", "more than 262144 bytes"),
        ("select " + "1," * 60_000 + "1", "too large"),
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_one_clear_error_says_what_is_too_much(sql: str, said: str, tables: Tables) -> None:
    with Watch(60).one(sql[:50]), pytest.raises(SqlError, match=said) as caught:
        translated(sql, tables)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("levenshtein_distance(rpad('', 1001, 'a'), rpad('', 1001, 'b'))", "are too large"),
        ("length(lpad('', 2000000000, 'x'))", "Target length"),
        ("length(rpad('', 2000000000, 'x'))", "Target length"),
        ("format('%1000000000s', 1)", "to more than"),
        ("format('%01000000000d', 1)", "to more than"),
        ("cardinality(repeat(1, 10001))", "less than or equal to 10000"),
        ("cardinality(sequence(1, 9223372036854775807))", "more than 10000 entries"),
        ("cardinality(sequence(date '0001-01-01', date '2024-01-01'))", "more than 10000 entries"),
        ("length(replace(rpad('', 100000, 'a'), 'a', rpad('', 100000, 'b')))",
         "more than 10000000"),
        ("length(regexp_replace(rpad('', 1000000, 'a'), 'a', 'abcdefghijklmnop'))",
         "more than 10000000"),
        ("length(array_join(repeat('a', 10000), '" + "b" * 2000 + "'))", "more than 10000000"),
        ("regexp_replace('a', '" + "a?" * 1001 + "', '')", "regular expression of more than"),
        ("json_parse('" + "[" * 100_000 + "')", "nested so deeply"),
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_a_function_makes_no_huge_value(value: str, said: str) -> None:
    with Watch().one(value[:50]), pytest.raises(SqlError, match=said):
        ask(f"select {value}")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("levenshtein_distance(rpad('', 1000, 'a'), rpad('', 1000, 'b'))", "1000"),
        ("length(lpad('', 1000000, 'x'))", "1000000"), ("length(format('%1000s', 1))", "1000"),
        ("cardinality(repeat(1, 10000))", "10000"), ("cardinality(sequence(1, 10000))", "10000"),
        ("cardinality(sequence(10, 1, -1))", "10"), ("replace('a.b', '.', '--')", "a--b"),
        ("regexp_replace('aaa', '((((a*)*)*)*)*b', 'x')", "aaa"),
        ("cardinality(map_agg(x, x)) from unnest(sequence(1, 10000)) as t(x)", "10000"),
    ],
)  # fmt: skip
def test_what_is_within_the_bounds_is_answered(value: str, shown: str) -> None:
    with Watch().one(value):
        assert ask(f"select {value}") == [[shown]]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE OR REPLACE MACRO t_upper(s) AS 'changed'", "SELECT 1 AS c0; CREATE TABLE t (a INT)",
        "CREATE TEMP MACRO t_trim(s) AS 'changed'", "SET VARIABLE a = 1",
        "SELECT getenv('HOME') AS c0",
        "ATTACH ':memory:' AS other", "PREPARE p AS SELECT 1", "SELECT * FROM duckdb_settings()",
    ],
)  # fmt: skip
def test_no_query_leaves_anything_to_another(sql: str) -> None:
    engine = Engine()
    made = Translation(sql, [("a", INTEGER)], {}, {})
    for ask_for in (engine.run().answer, engine.run().explain, engine.run().where):
        with pytest.raises(UnknownStatementError):
            ask_for(made, {})
    after = Translation("SELECT t_upper(t_trim(' a ')) AS c0", [("a", VARCHAR)], {}, {})
    assert engine.run().answer(after, {}).to_pydict() == {"c0": ["A"]}
    engine.close()
