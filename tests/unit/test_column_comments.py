"""What sources say of their columns, kept in the lake."""

from __future__ import annotations

from pathlib import Path

from labctl.lake.column_comments import Comments, CommentsInLake, read_comments
from labctl.lake.objectstore import LakeStorage
from sqlapi.source import SourceTable

TABLES = [SourceTable("shop", name, f"s3://lake/silver/shop/{name}") for name in ("cart", "item")]


def told(folder: Path, said: Comments, tables: list[SourceTable] = TABLES) -> list[tuple[str, ...]]:
    """What was new; the lake has it afterwards."""
    comments = CommentsInLake(LakeStorage.local(folder), lambda: said)
    changes, known = comments.changes(tables)
    comments.write(known)
    return [(change.what, *change.details) for change in changes]


def test_what_is_new_is_told_once(tmp_path: Path) -> None:
    assert read_comments(LakeStorage.local(tmp_path)) == {}
    said = {"shop.cart": {"id": "its number"}, "shop.item": {}}
    first = [("comments of shop.cart", "comment of id: none → its number")]
    assert told(tmp_path, said) == first
    assert told(tmp_path, said) == []
    assert told(tmp_path, {"shop.cart": {}, "shop.item": {}}) == [
        ("comments of shop.cart", "comment of id: its number → none")
    ]


def test_a_source_that_does_not_answer_changes_nothing(tmp_path: Path) -> None:
    said = {"shop.cart": {"id": "its number"}}
    told(tmp_path, said)
    assert told(tmp_path, {}) == []
    assert read_comments(LakeStorage.local(tmp_path)) == said


def test_tables_that_are_not_named_keep_theirs(tmp_path: Path) -> None:
    told(tmp_path, {"shop.cart": {"id": "its number"}})
    told(tmp_path, {"shop.cart": {"id": "another"}, "shop.item": {"id": "one"}}, TABLES[1:])
    assert read_comments(LakeStorage.local(tmp_path)) == {
        "shop.cart": {"id": "its number"},
        "shop.item": {"id": "one"},
    }
