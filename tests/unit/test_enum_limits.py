"""MySQL's ENUM with a comma in a name: Debezium has another text of it in each change."""

from __future__ import annotations

from typing import Any, cast

from labctl.engines.mysql.mysql_limits import mysql_limits
from labctl.sources.base import TableRef


class Database:
    """A database with such columns, of which `key` is the primary key."""

    def __init__(self, key: str = "") -> None:
        self.key = key

    def execute(self, _sql: str, _parameters: Any = ()) -> list[tuple[str, str, str]]:
        kinds = {
            "plain": "enum('sad','so so')",
            "odd": "enum('sad','it''s, odd')",
            "quoted": "enum('a''','''b')",
        }
        return [(name, "PRI" if name == self.key else "", kind) for name, kind in kinds.items()]


def test_only_a_comma_within_a_name_counts() -> None:
    found = mysql_limits(cast("Any", Database()), TableRef("s", "t"), "")
    assert (list(found.columns()), found.refused) == (["odd"], None)
    assert "writes a backslash" in found.columns()["odd"]


def test_such_a_key_is_refused() -> None:
    refused = mysql_limits(cast("Any", Database("odd")), TableRef("s", "t"), "").refused or ""
    assert refused.startswith("its key column is odd, an ENUM with a comma")
