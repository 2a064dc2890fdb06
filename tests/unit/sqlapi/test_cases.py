"""Every case gives Athena's answer, or is refused; none gives another answer.

`source` says whose the answer is: `believed`, or the version of Trino that gave it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlapi.sql.errors import SqlError
from tests.unit.sqlapi.asking import ask

FILES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
CASES: list[dict[str, Any]] = [
    json.loads(line) for file in FILES for line in file.read_text(encoding="utf-8").splitlines()
]
REFUSED = ("FUNCTION_NOT_FOUND", "NOT_SUPPORTED")


def _outcome(case: dict[str, Any]) -> str:
    try:
        rows = ask(case["sql"])
    except SqlError as error:
        if case["expected"] == "ERR":
            return "right"
        return "refused" if error.kind in (*REFUSED, "TYPE_MISMATCH") else f"wrong: {error}"
    return "right" if rows == case["expected"] else f"wrong: {rows}"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_no_answer_is_wrong(case: dict[str, Any]) -> None:
    outcome = _outcome(case)
    assert outcome in ("right", "refused"), case["sql"]


def test_nine_of_ten_are_answered() -> None:
    outcomes = [_outcome(case) for case in CASES]
    assert outcomes.count("right") >= 0.9 * len(outcomes)


def test_cases_have_names_of_their_own() -> None:
    names = [case["id"] for case in CASES]
    assert len(set(names)) == len(names)
