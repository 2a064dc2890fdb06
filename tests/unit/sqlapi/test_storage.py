"""Where the service writes, and where it does not."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest
from pyarrow import fs

import sqlapi
from labctl.lake.table_source import own_folders
from sqlapi.storage import LocationError, OwnFolder, Storage

OWN = (
    OwnFolder("s3://lake/silver", "the lake's tables", tables=True),
    OwnFolder("s3://lake/topics/", "the bronze files"),
)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()), OWN)


@pytest.mark.parametrize(
    "location",
    [
        "s3://lake/silver/tickit/sale",
        "s3://lake/silver/tickit/sale/",
        "s3://lake/silver/tickit/sale/.hoodie/timeline",
        "s3a://lake/silver/tickit/sale/x",
        "s3://lake/Silver/Tickit/SALE",
        "s3://lake/silver%2Ftickit%2fsale/x",
        "s3://lake/silver%252Ftickit/sale/x",
        "s3://lake/%73ilver/tickit/sale",
    ],
)
def test_a_table_of_the_lake_is_named_to_whoever_would_write_into_it(
    storage: Storage, location: str
) -> None:
    with pytest.raises(
        LocationError, match=r"belongs to the lake's table tickit\.sale: name another"
    ):
        storage.check(location)


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("s3://lake/silver", "belongs to the lake's tables"),
        ("s3://lake/silver/new", "belongs to the lake's tables"),
        ("s3://lake", "is above the lake's tables"),
        ("s3://lake/", "is above the lake's tables"),
        ("s3://lake/topics/tickit.ecomm.sale", "belongs to the bronze files"),
        ("s3://lake//silver/tickit/sale", "the name of a folder is empty"),
        ("s3://lake/x/../silver/tickit", "is empty, `.` or `..`"),
        ("s3://lake/x/./y", "is empty, `.` or `..`"),
        ("s3://lake/x/%2e%2E/silver", "it has a `..`"),
        ("s3:///etc", "the name of a bucket"),
        ("s3://", "the name of a bucket"),
        ("", "the name of a bucket"),
        ("file:///etc", "the name of a bucket"),
        ("http://lake/x", "the name of a bucket"),
        ("s3://LAKE/x", "the name of a bucket"),
        ("s3://a b/x", "the name of a bucket"),
        ("s3://lake/a\0b", "characters that no name has"),
        ("s3://lake/a\nb", "characters that no name has"),
        ("s3://lake/\ud800", "characters that no name has"),
        ("s3://lake/" + "x/" * 600, "longer than 1024 bytes"),
        ("s3://lake/" + "x" * 300, "longer than 255 bytes"),
    ],
)
def test_other_places_that_nothing_is_written_to(storage: Storage, location: str, why: str) -> None:
    with pytest.raises(LocationError, match=why):
        storage.check(location)


@pytest.mark.parametrize(
    "location",
    ["s3://lake/athena/", "s3://lake/silvery/x", "s3://other/silver/tickit/sale", "s3://other",
     "s3://lake/Öl €/a=b&c+d"],
)  # fmt: skip
def test_what_is_beside_the_lake_may_be_written_to(storage: Storage, location: str) -> None:
    storage.check(location)


def test_no_writer_goes_around_the_check(storage: Storage, tmp_path: Path) -> None:
    kept = tmp_path / "lake" / "silver" / "tickit" / "sale" / "a.parquet"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"rows")
    for change in (lambda uri: storage.write(uri, b""), storage.remove):
        with pytest.raises(LocationError):
            change("s3://lake/silver/tickit/sale/a.parquet")
    assert kept.read_bytes() == b"rows"


CHANGES = {"open_output_stream", "open_append_stream", "create_dir", "delete_file", "delete_dir",
           "delete_dir_contents", "move", "copy_file"}  # fmt: skip


def _attributes(tree: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_files_are_written_and_removed_by_methods_that_check() -> None:
    """And by no other module of the service."""
    for path in sorted(Path(sqlapi.__path__[0]).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        writers = [
            node for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and _attributes(node) & CHANGES
        ]  # fmt: skip
        assert not writers or path.name == "storage.py", path
        assert all("writable" in _attributes(node) for node in writers), path


def test_a_copy_for_another_process_refuses_the_same(storage: Storage) -> None:
    copy = pickle.loads(pickle.dumps(storage))  # noqa: S301 - our own
    with pytest.raises(LocationError):
        copy.write("s3://lake/silver/tickit/sale/a.parquet", b"")


def test_a_lab_names_its_own_folders() -> None:
    storage = Storage(fs.LocalFileSystem(), own_folders("lake", ["topics"]))
    for name in ("silver", "topics", "deadletter", "rebuild", "refill", "replay", "warehouse"):
        with pytest.raises(LocationError):
            storage.check(f"s3://lake/{name}/x")
    with pytest.raises(LocationError):
        storage.check("s3://lake/comments.json")
    storage.check("s3://lake/athena/x")
