"""A row at its source: how it is asked for, and changed."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.tables import source_row
from labctl.lab.tables.source_row import find_row, write_value
from labctl.sources.base import Declared, SourceColumn
from labctl.sources.type_rules import rule_for
from labctl.tables import LabTable

TABLE = cast(
    LabTable,
    SimpleNamespace(
        source="orders",
        db_schema="public",
        source_name="dis%count",
        properties=SimpleNamespace(key_fields=("id",)),
    ),
)
LAB = cast(Lab, SimpleNamespace(endpoints=None))


def column(name: str, declared: Declared) -> SourceColumn:
    return SourceColumn(name, declared, True, rule_for(POSTGRES, declared, name))


class OneTable:
    """A database with one table, whose rows are as they are told; it notes what it is asked."""

    def __init__(self, *answers: list[tuple[Any, ...]]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, tuple[object, ...]]] = []

    def __enter__(self) -> OneTable:
        return self

    def __exit__(self, *_: object) -> None: ...

    def quote(self, name: str) -> str:
        return f'"{name}"'

    def qualified(self, ref: object) -> str:
        return '"public"."dis%count"'

    def describe(self, ref: object) -> Any:
        columns = (
            column("id", Declared("integer", "integer")),
            column("off_%", Declared("text", "text")),
        )
        return SimpleNamespace(columns=columns)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        self.asked.append((sql, tuple(parameters)))
        return self._answers.pop(0)

    affect = execute


def found(source: OneTable, **key: object) -> Any:
    return find_row(cast(Any, source), TABLE, key)


def test_a_percent_sign_of_a_name_is_no_place_for_a_value() -> None:
    source = OneTable([(7, "5")])
    (percent,) = set(found(source, id="7")) - {"id"}
    ((sql, parameters),) = source.asked
    assert sql % parameters == ('SELECT "id", "off_%" FROM "public"."dis%count" WHERE "id" = 7')
    assert percent.startswith("off_")


def test_a_row_that_is_not_there_is_none_and_two_are_refused() -> None:
    assert found(OneTable([]), id=7) is None
    with pytest.raises(LabError, match=r"2 rows of public.dis%count have id=7") as caught:
        found(OneTable([(7, "5"), (7, "6")]), id=7)
    assert caught.value.exit_code is ExitCode.USAGE


def test_an_unknown_column_is_named_before_anything_is_asked() -> None:
    source = OneTable()
    with pytest.raises(LabError, match="has no column idd"):
        found(source, idd=7)
    assert source.asked == []


@pytest.mark.parametrize(("after", "has_changed"), [("6", True), ("5", False)])
def test_a_change_says_what_it_ran_and_whether_the_row_is_another_one(
    monkeypatch: pytest.MonkeyPatch, after: str, has_changed: bool
) -> None:
    source = OneTable([(7, "5")], [], [(7, after)])
    monkeypatch.setattr(source_row, "connect", lambda *_: source)
    name = next(one for one in source_row.columns_of(cast(Any, source), TABLE) if one != "id")
    done = write_value(LAB, TABLE, {"id": "7"}, name, "it's")
    assert done.statement == (
        """UPDATE "public"."dis%count" SET "off_%" = 'it''s' WHERE "id" = 7"""
    )
    assert done.has_changed is has_changed
    assert source.asked[1][1] == ("it's", 7)


def test_a_row_that_is_not_there_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = OneTable([])
    monkeypatch.setattr(source_row, "connect", lambda *_: source)
    with pytest.raises(LabError, match="has no such row"):
        write_value(LAB, TABLE, {"id": "7"}, "id", "8")
    assert len(source.asked) == 1
