"""Patterns of clients: names of tables, and expressions about partitions."""

from __future__ import annotations

import pytest

from sqlapi.catalog.matching import PatternError, matching, matching_hive
from sqlapi.catalog.partition_filter import ExpressionError, partition_filter
from sqlapi.sql.statement_errors import SqlError
from tests.unit.hanging import Watch

NAMES = ["sale", "sale_ro", "a" * 250]


def test_names_match_as_a_whole_or_in_part() -> None:
    assert matching(NAMES, "sale.*", whole=True) == ["sale", "sale_ro"]
    assert matching(NAMES, "le", whole=True) == []
    assert matching(NAMES, "le", whole=False) == ["sale", "sale_ro"]
    assert matching([], "a", whole=True) == []


@pytest.mark.parametrize(
    "pattern", ["(a+)+$b", "(a|a)*c", "(a*)*b", ".*.*.*.*.*.*.*.*=", "(a?){200}b"]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    with Watch().one(pattern):
        assert matching(NAMES, pattern, whole=True) == []


@pytest.mark.parametrize("pattern", ["*", "[", "(", "(?=a)", "a{1000}{1000}", "\\", "x" * 3000])
def test_what_is_no_pattern(pattern: str) -> None:
    for names in (NAMES, []):
        with pytest.raises(PatternError):
            matching(names, pattern, whole=True)


def test_patterns_of_hive() -> None:
    assert matching_hive(NAMES, None) == NAMES
    assert matching_hive(NAMES, "SALE*|x") == ["sale", "sale_ro"]
    assert matching_hive(NAMES, ".*ALE.*|x") == ["sale", "sale_ro"]
    assert matching_hive(NAMES, "sale.*") == ["sale", "sale_ro"]
    assert matching_hive(["a.b", "axb", "a b#~-é"], "a.b|a b#~-é") == ["a.b", "a b#~-é"]
    with Watch().one("stars"):
        assert matching_hive(NAMES, "*a" * 500 + "b") == []
    with pytest.raises(SqlError):
        matching_hive(NAMES, "*" * 3000)


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("year = 2024", [("2024", "a")]),
        ("year = '02024'", [("2024", "a")]),
        ("year >= 2023 and kind <> 'a'", [("2023", "it's, (b)")]),
        ("(year > 9) AND (kind = 'it''s, (b)')", [("2023", "it's, (b)")]),
        ("((kind='a'))", [("2024", "a")]),
        ("kind > '²'", []),
        ("year = 2024 OR kind LIKE 'it_s%'", [("2024", "a"), ("2023", "it's, (b)")]),
        ("NOT year = 2024", [("2023", "it's, (b)")]),
        ("year IN (1, '2024', 3)", [("2024", "a")]),
        ("year NOT IN (2023, 1)", [("2024", "a")]),
        ("year BETWEEN 2023 AND 2023 AND kind IS NOT NULL", [("2023", "it's, (b)")]),
        ("year NOT BETWEEN 2023 AND 2023", [("2024", "a")]),
        ("kind LIKE '%(%)' OR year < 0", [("2023", "it's, (b)")]),
        ("kind NOT LIKE '_'", [("2023", "it's, (b)")]),
        ("2023 < `year`", [("2024", "a")]),
        ('("year" <= 2023.0)', [("2023", "it's, (b)")]),
        ("kind = '2024' OR (NOT (year > 2023 OR kind = 'a'))", [("2023", "it's, (b)")]),
    ],
)
def test_comparisons_of_partitions(expression: str, kept: list[tuple[str, str]]) -> None:
    rows = [("2024", "a"), ("2023", "it's, (b)"), ("²", "--5")]
    wanted = partition_filter({"year": "int", "kind": "string"}, expression)
    assert [row for row in rows if wanted(row) and row[0] != "²"] == kept


def test_a_partition_without_value_is_null() -> None:
    keys = {"year": "int", "kind": "string"}
    null = ("1", "__HIVE_DEFAULT_PARTITION__")
    assert partition_filter(keys, "kind IS NULL")(null)
    for expression in ("kind <> 'a'", "NOT kind = 'a'", "kind LIKE '%'", "kind NOT IN ('a')"):
        assert not partition_filter(keys, expression)(null)
    assert partition_filter(keys, "kind = 'a' OR year = 1")(null)


def test_strings_are_compared_as_strings() -> None:
    assert not partition_filter({"k": "string"}, "k = '01'")(("1",))
    assert partition_filter({"k": "string"}, "k > '10'")(("9",))
    assert partition_filter({"k": "decimal(5,2)"}, "k = 1.5")(("1.50",))


def test_a_pattern_of_partitions_takes_bounded_time() -> None:
    with Watch().one("percents"):
        assert not partition_filter({"k": "string"}, "k LIKE '" + "%a" * 900 + "b'")(("a" * 900,))


@pytest.mark.parametrize(
    "expression",
    ["year", "year = ", "nope = 1", "year = 1 OR true", "year = 1 AND", "(year = 1", "year = 1)",
     "year = 'open", "year == 1", " ", "a=" + " " * 2000 + "(", "(" * 1000, "year IN ()",
     "year IN (1", "kind LIKE 1",
     "year = 'x'", "year BETWEEN 1 OR 2", "NOT", "year NOT = 1", "NOT " * 400 + "year = 1",
     "(year, kind) = (1, 2)"],
)  # fmt: skip
def test_what_is_no_comparison_of_partitions(expression: str) -> None:
    with Watch().one(expression), pytest.raises(ExpressionError):
        partition_filter({"year": "int", "kind": "string"}, expression)
