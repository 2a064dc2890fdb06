"""How a table ended, how it is made smaller, and what the matrix says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from labctl.conformance.cases import Case, Cell, Change, Column, Kind, ValueClass
from labctl.conformance.conformance_report import counts_of, failure_of
from labctl.conformance.generation import generate
from labctl.conformance.judging import End, Phase, Result, judged
from labctl.conformance.matrix import matrix_of
from labctl.conformance.shrink import shrink
from labctl.verify import State, TableVerdict
from labctl.verify.diff import TableDiff

INTEGER, PATH = Kind("integer", "integer", "7", ("1", "2")), Kind("jsonpath", None, "'$'", ())
EQUAL = TableDiff(3, 3)
DIFFERENT = TableDiff(3, 2, missing=1)
UNREAD = TableDiff(3, 3, columns_incomparable=("a: money",))


def verdict(state: State, diff: TableDiff | None) -> TableVerdict:
    return TableVerdict("s", "t", state, diff, None, 0, 1, 0.1)


@pytest.mark.parametrize(
    ("state", "diff", "independent", "said", "letters", "end"),
    [
        (State.EQUAL, EQUAL, [], {}, [], End.EQUAL),
        (State.EQUAL, EQUAL, ["row 1 is missing in silver"], {}, [], End.FAILED),
        (State.CANNOT_COMPARE, UNREAD, [], {}, [], End.UNCOMPARED),
        (State.CANNOT_COMPARE, UNREAD, ["row 1"], {}, [], End.FAILED),
        (State.DIFFERENT, DIFFERENT, ["row 1"], {}, [], End.FAILED),
        (State.DIFFERENT, DIFFERENT, ["row 1"], {}, ["column a: infinity"], End.PUT_ASIDE),
        (State.DIFFERENT, DIFFERENT, ["row 1"], {}, ["no column named"], End.FAILED),
        (State.IN_FLIGHT, DIFFERENT, [], {"error": "column a is too long"}, [], End.PUT_ASIDE),
        (State.IN_FLIGHT, DIFFERENT, [], {"error": "precision exceeds 38"}, [], End.FAILED),
        (State.CANNOT_COMPARE, None, [], {}, [], End.FAILED),
    ],
)
def test_a_table_is_equal_named_or_failed(
    state: State,
    diff: TableDiff | None,
    independent: list[str],
    said: dict[str, object],
    letters: list[str],
    end: End,
) -> None:
    assert judged(["id", "a"], verdict(state, diff), independent, said, letters)[0] is end


def test_a_column_that_only_verify_compares_is_said() -> None:
    ended = judged(["id", "a"], verdict(State.EQUAL, EQUAL), [], {}, [], ["a"])
    assert ended == (End.UNCOMPARED, "a: compared by verify alone")
    ended = judged(["id", "a"], verdict(State.CANNOT_COMPARE, UNREAD), [], {}, [], ["a"])
    assert ended == (End.UNCOMPARED, "a: money")


def test_a_column_left_out_is_said_and_a_value_that_cannot_be_read_is_named() -> None:
    left_out = TableDiff(3, 3, columns_uncaptured=("a",))
    ended = judged(["id", "a"], verdict(State.EQUAL, left_out), [], {}, [])
    assert ended == (End.UNCOMPARED, "a: not captured")
    unread = verdict(State.CANNOT_COMPARE, None)
    for reason, end in (("The column a holds 9999", End.PUT_ASIDE), ("it crashes", End.FAILED)):
        assert judged(["a"], replace(unread, reason=reason), ["row 1"], {}, [])[0] is end


def test_a_key_that_verify_cannot_compare_is_one_that_the_other_finds_equal() -> None:
    unread = replace(verdict(State.CANNOT_COMPARE, None), reason="The key column: a: citext")
    assert judged(["a"], unread, [], {}, []) == (End.UNCOMPARED, "The key column: a: citext")
    assert judged(["b"], unread, [], {}, [])[0] is End.FAILED


def test_a_table_that_was_not_compared_has_failed() -> None:
    assert judged(["a"], None, [], {}, [])[0] is End.FAILED


def failing(needed: str, step: str) -> list[Result]:
    """A failure of each case that has one column and one kind of step."""
    case = next(
        case
        for case in (generate("postgres", seed) for seed in range(100))
        if any(c.name == needed for c in case.columns)
        and any(change.what == step for change in case.history)
        and case.keys == ("id",)
    )
    return [Result(case, End.FAILED, Phase.STREAM, f"{needed} is wrong")]


def test_a_failure_is_made_smaller_as_long_as_it_fails() -> None:
    rounds = 0

    def run(cases: Sequence[Case]) -> list[Result]:
        nonlocal rounds
        rounds += 1
        return [
            Result(
                case,
                End.FAILED
                if any(c.name == "c2" for c in case.columns)
                and any(change.what == "delete" for change in case.history)
                else End.EQUAL,
                Phase.STREAM,
                "c2 is wrong",
            )
            for case in cases
        ]

    (smallest,) = shrink(failing("c2", "delete"), run)
    assert [column.name for column in smallest.case.columns] == ["id", "c2"]
    assert [change.what for change in smallest.case.history] == ["delete"]
    assert rounds <= 5


def test_a_failure_that_no_smaller_table_shows_stays_as_it_is() -> None:
    failures = failing("c2", "delete")
    assert shrink(failures, lambda cases: [Result(case, End.EQUAL) for case in cases]) == failures


def test_the_matrix_blames_what_is_left_when_a_failure_is_shrunk() -> None:
    (failure,) = failing("c2", "update")
    smaller = Result(failure.case.with_columns(["c2"]), End.FAILED, Phase.STREAM, "c2")
    cells = matrix_of([failure], [smaller])
    wrong = next(c.kind.declared for c in failure.case.columns if c.name == "c2")
    assert {cell.type for cell in cells} == {wrong}
    assert {cell.phase for cell in cells} == {Phase.STREAM}
    assert {cell.end for cell in cells} == {End.FAILED}


def test_the_matrix_keeps_the_worst_of_what_tables_showed() -> None:
    case = generate("postgres", 5)
    name = next(c.name for c in case.columns if c.name not in case.keys)
    aside = Result(case, End.PUT_ASIDE, Phase.STREAM, f"column {name}: infinity")
    cells = matrix_of([Result(case, End.EQUAL, Phase.STREAM), aside], [])
    declared = next(c.kind.declared for c in case.columns if c.name == name)
    assert {c.end for c in cells if c.type == declared} == {End.PUT_ASIDE}
    assert End.EQUAL in {cell.end for cell in cells}


@pytest.mark.parametrize(
    ("reason", "blamed"),
    [
        ("its c1 is NaN, which the column's type cannot hold exactly", True),
        ("The column c1 of public.t holds 9999, which silver's type int64 does not hold", True),
        ("Column shop.t.c1 is decimal(8,2), but now arrives as text", False),
        ("A table cannot be captured: public.t: its key column is c1, of the type name", False),
        ("A table cannot be captured: public.t: its column 'c1': Debezium reads each byte", False),
        ("A table cannot be captured: public.t: its columns 'C0' and 'c1': both become C0", False),
        ("A table cannot be captured: public.c1: the name 'c1' is no name of a topic", False),
        ("public.tb0c1_54 has no primary key: its rows could not be told apart", False),
        ("its c11 is NaN, which the column's type cannot hold exactly", False),
    ],
)
def test_a_type_is_blamed_for_its_values_and_not_for_names(reason: str, blamed: bool) -> None:
    row = {"c1": Cell(ValueClass.NULL, "NULL")}
    case = Case("postgres", 1, "t", (Column("c1", INTEGER),), (), ((1, row),), ())
    aside = [Result(case, End.PUT_ASIDE, Phase.LOAD, reason)]
    assert [cell.end for cell in matrix_of(aside, [])] == [End.PUT_ASIDE] * blamed
    assert matrix_of(aside, [], {"postgres": ["integer"]}) == []


def test_values_that_silver_cannot_hold_are_blamed_and_none_beside_them() -> None:
    kind = Kind("numeric", "decimal", "7", ("1", "2"))
    cells = (Cell(ValueClass.EXTREME, "1"), Cell(ValueClass.BEYOND, "'NaN'"))
    rows = tuple((number, {"c1": cell}) for number, cell in enumerate(cells))
    case = Case("postgres", 1, "t", (Column("c1", kind),), (), rows, ())
    aside = Result(case, End.PUT_ASIDE, Phase.LOAD, "its c1 is NaN")
    assert [(cell.values, cell.end) for cell in matrix_of([aside], [])] == [
        (ValueClass.BEYOND, End.PUT_ASIDE)
    ]


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, [End.UNCOMPARED]),
        ({"parted": True}, []),
        ({"history": (Change("retype", column=Column("c1", INTEGER), text="text"),)}, []),
        ({"keys": ("k",), "columns": (Column("c1", INTEGER), Column("k", PATH))}, []),
        ({"columns": (Column("c1", INTEGER), Column("g", INTEGER, generated="AS (1)"))}, []),
    ],
)
def test_a_type_is_not_blamed_where_its_table_is_why_it_was_not_compared(
    changes: dict[str, Any], ends: list[End]
) -> None:
    row = {"c1": Cell(ValueClass.NULL, "NULL")}
    case = Case("postgres", 1, "t", (Column("c1", INTEGER),), (), ((1, row),), ())
    result = Result(replace(case, **changes), End.UNCOMPARED, Phase.LOAD, "c1: not captured")
    assert [cell.end for cell in matrix_of([result], [])] == ends


def test_a_failure_is_kept_as_sql_with_the_command_that_repeats_it() -> None:
    (failure,) = failing("c2", "delete")
    kept = failure_of(failure)
    assert kept.statements[0].startswith("CREATE TABLE ")
    assert kept.reproduce == f"labctl test conformance --engine postgres --seed {failure.case.seed}"
    assert counts_of([failure])["postgres"].failed == 1
