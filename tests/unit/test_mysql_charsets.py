"""Character sets by which a connector decodes MySQL's columns, beside those that they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from labctl.engines.mysql.mysql_charsets import mysql_misread
from labctl.lab.connectors.schema_history import last_charsets
from labctl.sources import TableRef

REF = TableRef("shop", 'odd"name')


class Database:
    """A database whose table has these columns, with their character sets."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = columns

    def execute(self, _sql: str, parameters: Sequence[str]) -> list[tuple[str, ...]]:
        assert list(parameters) == ["shop"]
        found = [(REF.name, column, charset) for column, charset in self._columns.items()]
        return [*found, ("not captured", "v", "latin1")]


def misread(columns: Mapping[str, str], known: Mapping[str, str]) -> str | None:
    return mysql_misread(cast("Any", Database(columns)), {REF: known}).get(REF)


def change(name: str, *columns: tuple[str, str | None]) -> dict[str, Any]:
    listed = [{"name": column, "charsetName": charset} for column, charset in columns]
    return {"tableChanges": [{"type": "ALTER", "id": name, "table": {"columns": listed}}]}


@pytest.mark.parametrize(
    ("declared", "known", "said"),
    [
        ("latin1", "latin1", None),
        ("latin1", "LATIN1", None),
        ("utf8mb4", "utf8", None),
        ("utf8mb3", "utf8mb4", None),
        ("latin1", "utf8mb4", "V is latin1, read as utf8mb4"),
        ("latin1", "'latin1", "V is latin1, read as 'latin1"),
    ],
)
def test_a_column_is_misread_by_another_encoding_than_its_own(
    declared: str, known: str, said: str | None
) -> None:
    assert misread({"V": declared}, {"v": known}) == said


def test_a_column_that_the_connector_does_not_know_yet_is_not_misread() -> None:
    assert misread({"v": "latin1", "new": "cp1250"}, {"v": "latin1"}) is None


def test_not_every_column_of_a_wide_table_is_named() -> None:
    wide = {f"c{number}": "latin1" for number in range(5)}
    said = misread(wide, dict.fromkeys(wide, "utf8mb4")) or ""
    assert said.endswith("c2 is latin1, read as utf8mb4; and 2 more")


def test_the_last_change_of_a_table_in_the_history_counts() -> None:
    name = '"shop"."odd""name"'
    history = [
        {"ddl": "SET character_set_server=utf8mb4"},
        change(name, ("id", None), ("v", "utf8mb4")),
        change('"shop"."other"', ("v", "cp1250")),
        change(name, ("id", None), ("v", "latin1")),
        "not JSON",
    ]
    assert last_charsets(history, [REF, TableRef("shop", "none")]) == {REF: {"v": "latin1"}}
    dropped: dict[str, Any] = {"tableChanges": [{"type": "DROP", "id": name}]}
    assert last_charsets([*history, dropped], [REF]) == {}
