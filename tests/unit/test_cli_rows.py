"""Rows as a person reads them: a table where it fits, else a column per line, or CSV."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console, RenderableType
from typer.testing import CliRunner

from labctl.cli import rows
from labctl.cli.app import root
from labctl.cli.output import stdout
from labctl.cli.rows import rows_table
from labctl.errors import ExitCode
from labctl.lake.answer_rows import own_columns, records_of, rows_csv

ANSWER = pa.table(
    {
        "id": [1, 2],
        "price": pa.array([Decimal("10.50"), None], pa.decimal128(8, 2)),
        "day": [dt.date(2008, 1, 1), None],
        "name": ['a "b"', "x" * 30],
    }
)


def shown(renderable: RenderableType, width: int) -> list[str]:
    console = Console(width=width, soft_wrap=True, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return [line.rstrip() for line in capture.get().splitlines()]


def narrow(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(rows, "stdout", Console(width=width))


def test_rows_that_fit_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 80)
    lines = shown(rows_table(ANSWER), 80)
    assert lines[0].split() == ["id", "price", "day", "name"]
    assert lines[-1] == "2 rows"
    assert len(lines) == 4


def test_rows_that_do_not_fit_are_shown_column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 40)
    lines = shown(rows_table(ANSWER), 40)
    assert lines[0] == "row 1"
    assert "price  10.50" in lines
    assert "price  null" in lines
    assert lines[-1] == "2 rows"


def test_wide_rows_take_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 40)
    lines = shown(rows_table(ANSWER, wide=True), 40)
    assert len(lines) == 4
    assert lines[2].endswith("x" * 30)


def test_one_row_that_does_not_fit_needs_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 25)
    assert shown(rows_table(ANSWER.slice(0, 1)), 25)[0] == "id     1"


def test_markup_in_a_value_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 80)
    assert "[red]x" in shown(rows_table(pa.table({"a": ["[red]x"]})), 80)


def test_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, 80)
    assert shown(rows_table(ANSWER.slice(0, 0)), 80)[-1] == "0 rows"


def test_csv_has_every_row() -> None:
    assert rows_csv(ANSWER).splitlines() == [
        "id,price,day,name",
        '1,10.50,2008-01-01,"a ""b"""',
        "2,,," + "x" * 30,
    ]


def test_csv_is_refused_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    import labctl.cli.down  # noqa: F401 - registers the command

    done = CliRunner().invoke(root, ["down", "--output", "csv"])
    assert done.exit_code == ExitCode.USAGE
    assert "no CSV" in done.stderr


def test_a_value_that_looks_like_an_emoji_is_printed_as_it_is() -> None:
    assert stdout.render_str(":key:").plain == ":key:"


TWICE = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "a_2"])
FAR = pa.table(
    {
        "day": pa.array([0, None, -1_000_000, 35_804_721], pa.int32()).cast(pa.date32()),
        "at": pa.array([0, None, -(10**17), 9 * 10**18 // 1000 * 1000], pa.int64()).cast(
            pa.timestamp("us")
        ),
    }
)


def test_several_columns_may_have_one_name() -> None:
    assert shown(rows_table(TWICE), 80)[:2] == ["a  a  a_2", "1  2  3"]
    assert rows_csv(TWICE) == "a,a,a_2\n1,2,3\n"
    (record,) = records_of(TWICE)
    assert list(record.values()) == [1, 2, 3]
    assert list(record) == ["a", "a_2", "a_2_2"]


def test_dates_that_python_has_not_are_shown() -> None:
    first, null, early, late = records_of(FAR)
    assert (str(first["day"]), null["day"], null["at"]) == ("1970-01-01", None, None)
    assert early["day"] == "0769-02-04 (BC)"
    assert late["day"] == "99999-12-31"
    assert str(late["at"]).startswith("287168-")
    assert "99999-12-31" in rows_csv(FAR)
    assert any("99999-12-31" in line for line in shown(rows_table(FAR), 80))


def test_dates_within_lists_are_shown_too() -> None:
    far = pa.array([[35_804_721]], pa.list_(pa.int32())).cast(pa.list_(pa.date32()))
    (record,) = records_of(pa.table({"days": far}))
    assert record["days"] == "[99999-12-31]"


@pytest.mark.parametrize(
    ("sql", "shown_columns"),
    [
        ("SELECT * FROM sale", ["id", "_id"]),
        ("SELECT *, __OP FROM sale", ["id", "_id", "__op"]),
        (
            "SELECT * FROM sale WHERE _hoodie_commit_time > '2'",
            ["_hoodie_commit_time", "id", "_id"],
        ),
    ],
)
def test_a_star_is_the_columns_of_the_source(sql: str, shown_columns: list[str]) -> None:
    answer = pa.table({"_hoodie_commit_time": ["3"], "id": [1], "_id": [2], "__op": ["c"]})
    assert own_columns(answer, sql).column_names == shown_columns


def test_columns_of_bookkeeping_are_shown_where_there_are_no_others() -> None:
    answer = pa.table([pa.array([1]), pa.array([2])], names=["__op", "__op"])
    assert own_columns(answer, "SELECT * FROM v").column_names == ["__op", "__op"]
