"""Patterns of clients: names of tables, and expressions about partitions."""

from __future__ import annotations

import pytest

from sqlapi.catalog.matching import PatternError, matching, matching_hive
from sqlapi.catalog.partition_filter import ExpressionError, partition_filter
from sqlapi.sql.errors import SqlError
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
    ],
)
def test_comparisons_of_partitions(expression: str, kept: list[tuple[str, str]]) -> None:
    rows = [("2024", "a"), ("2023", "it's, (b)"), ("²", "--5")]
    wanted = partition_filter(["year", "kind"], expression)
    assert [row for row in rows if wanted(row) and row[0] != "²"] == kept


@pytest.mark.parametrize(
    "expression",
    ["year", "year = ", "nope = 1", "year = 1 OR true", "year = 1 AND", "(year = 1", "year = 1)",
     "year = 'open", "year == 1", " ", "a=" + " " * 2000 + "(", "(" * 1000, "year IN (1)"],
)  # fmt: skip
def test_what_is_no_comparison_of_partitions(expression: str) -> None:
    with Watch().one(expression), pytest.raises(ExpressionError):
        partition_filter(["year", "kind"], expression)
