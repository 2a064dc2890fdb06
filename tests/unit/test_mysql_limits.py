"""Limits of capturing a MySQL table: names of an ENUM, character sets, and foreign keys."""

from __future__ import annotations

from typing import Any, cast

import pytest

from labctl.engines.mysql.mysql_limits import mysql_limits
from labctl.kafkaconnect.arrival_forecast import table_findings
from labctl.sources import SourceTable, TableRef
from labctl.sources.base import Declared
from labctl.sources.capture_limits import Limits

REF = TableRef("s", "t")
KEY = ("t_order", "order", "CASCADE", "NO ACTION")
SETTING = "innodb_native_foreign_keys"


class Database:
    """A database with such columns and foreign keys.

    `key` is the primary key. `setting` is the server's answer about its foreign keys: none before
    MySQL 9.6.
    """

    def __init__(
        self,
        key: str = "",
        foreign_keys: tuple[tuple[str, ...], ...] = (),
        setting: str | None = None,
    ) -> None:
        self.key = key
        self.foreign_keys = foreign_keys
        self.setting = setting

    def execute(self, sql: str, _parameters: Any = ()) -> list[tuple[str, ...]]:
        if "REFERENTIAL_CONSTRAINTS" in sql:
            return [*self.foreign_keys]
        if SETTING in sql:
            return [] if self.setting is None else [(SETTING, self.setting)]
        kinds = {
            "plain": ("enum('sad','so so')", "hp8"),
            "odd": ("enum('sad','it''s, odd')", "utf8mb4"),
            "quoted": ("enum('a''','''b')", "utf8mb4"),
            "text": ("varchar(20)", "cp932"),
            "old": ("varchar(20)", "sjis"),
        }
        return [(name, "PRI" if name == self.key else "", *kind) for name, kind in kinds.items()]


def limits(database: Database) -> Limits:
    return mysql_limits(cast("Any", database), REF, "")


def test_only_a_comma_within_a_name_counts() -> None:
    found = limits(Database())
    assert (list(found.columns()), found.refused) == (["odd", "old"], None)
    assert "writes a backslash" in found.columns()["odd"]


def test_a_text_of_a_character_set_that_java_lacks_is_left_out() -> None:
    assert "convert it to utf8mb4" in limits(Database()).columns()["old"]
    refused = limits(Database("old")).refused or ""
    assert refused.startswith("its key column is old, of the character set sjis, which")


def test_such_a_key_is_refused() -> None:
    refused = limits(Database("odd")).refused or ""
    assert refused.startswith("its key column is odd, an ENUM with a comma")


@pytest.mark.parametrize(
    ("foreign_keys", "setting", "told"),
    [((KEY,), None, True), ((KEY,), "ON", True), ((KEY,), "OFF", False), ((), None, False)],
)
def test_rows_that_a_foreign_key_changes_are_told_of_where_the_log_lacks_them(
    foreign_keys: tuple[tuple[str, ...], ...], setting: str | None, told: bool
) -> None:
    found = limits(Database("", foreign_keys, setting))
    assert (found.unlogged_rows is not None) is told
    table = SourceTable.of(REF, {}, [("id", Declared("int", "int"), False)], ["id"])
    findings = table_findings(table, "mysql", {}, (), found)
    said = [
        finding.why for finding in findings if (finding.column, finding.verdict) == ("", "lossy")
    ]
    assert said == ([found.unlogged_rows] if told else [])
    if told:
        assert "t_order (to order, ON DELETE CASCADE, ON UPDATE NO ACTION)" in said[0]
