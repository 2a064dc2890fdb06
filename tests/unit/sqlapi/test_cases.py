"""Every case gives Trino's answer, or is refused; none gives another answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from sqlapi.sql.dialect import parse_query
from sqlapi.sql.statement_errors import SqlError
from tests.unit.sqlapi.asking import answer
from tests.unit.sqlapi.cases import Answer, answers, cases

CASES = cases()
REFUSED = ("FUNCTION_NOT_FOUND", "NOT_SUPPORTED", "TYPE_MISMATCH", "SYNTAX_ERROR")
DOCS = Path(__file__).parents[3] / "docs" / "sql.md"


@cache
def _trino() -> dict[str, Answer]:
    return answers()


@cache
def _outcome(sql: str) -> str:
    """`right`, `refused`, or what is wrong."""
    truth = _trino()[sql]
    try:
        types, rows = answer(sql)
    except SqlError as error:
        if truth.error:
            return "right"
        return "refused" if error.kind in REFUSED else f"{error} for {truth.rows}"
    if truth.error:
        return f"{rows} for {truth.error}"
    if rows != truth.rows and (_is_ordered(sql) or Counter(rows) != Counter(truth.rows)):
        return f"{rows} for {truth.rows}"
    same = _without_lengths(types) == _without_lengths(truth.types)
    return "right" if same else f"{types} for {truth.types}"


def _without_lengths(types: Sequence[str]) -> list[str]:
    """Athena tells no length of a varchar; `typeof` does."""
    return [re.sub(r"varchar\(\d+\)", "varchar", kind) for kind in types]


def _is_ordered(sql: str) -> bool:
    return parse_query(sql).args.get("order") is not None


@pytest.mark.parametrize("sql", CASES)
def test_no_answer_is_wrong(sql: str) -> None:
    assert _outcome(sql) in ("right", "refused")


def test_nine_of_ten_are_right_and_as_many_as_the_docs_say() -> None:
    count = Counter(_outcome(sql) for sql in CASES)
    right, refused = count["right"], count["refused"]
    assert right >= 0.9 * len(CASES)
    told = f"Of {len(CASES)}, {right} are right, {refused} are refused, none is wrong"
    assert told in re.sub(r"\s+", " ", DOCS.read_text(encoding="utf-8"))


def test_every_case_has_been_answered_by_trino() -> None:
    assert list(_trino()) == CASES, "run `make trino-oracle`"
