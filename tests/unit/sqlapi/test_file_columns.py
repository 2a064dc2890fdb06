"""`$path`, `$file_size` and `$file_modified_time`: named, they are there; `*` leaves them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from labctl.lake import Lake
from labctl.lake.objectstore import LakeStorage
from labctl.lake.table_source import LakeSource
from sqlapi.athena.tables_written import Target, storage_descriptor, write
from sqlapi.catalog.information_schema import Asked
from sqlapi.catalog.reading import Reader
from sqlapi.catalog.views import view_input
from sqlapi.hudi.file_slices import rows_with_paths
from sqlapi.source import PATH, MergeView, SourceError, SourceTable
from sqlapi.sources.memory import MemorySource
from sqlapi.sql.engine import Engine
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.text import as_text
from sqlapi.sql.translate import translate
from sqlapi.sql.types import INTEGER, VARCHAR
from sqlapi.storage import Storage
from tests.unit.hudi_by_hand import write_table

ROWS = pa.table({"n": pa.array([1, 2, 3], pa.int32()), "k": ["a", "b", "b"]})
COLUMNS = [("n", INTEGER), ("k", VARCHAR)]


class Catalog:
    """Stored definitions by name, and a source."""

    def __init__(self, stored: dict[str, dict[str, Any]], source: Any = None) -> None:
        self.source = source
        self._stored = stored

    def lake_table(self, database: str, name: str) -> tuple[SourceTable, MergeView] | None:
        tables = self.source.tables() if self.source else ()
        return next(((one, MergeView()) for one in tables if one.name == name), None)

    def stored(self, database: str, name: str) -> dict[str, Any] | None:
        return {"definition": self._stored[name]} if name in self._stored else None

    def partitions(self, database: str, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._stored[name]["Partitions"]
        return found

    def database(self, name: str) -> dict[str, Any]:
        return {}

    def information(self, catalog: str, table: str, asked: Asked) -> pa.Table:
        raise AssertionError(table)


def _written(storage: Storage, options: dict[str, Any]) -> dict[str, Any]:
    target = Target("s3://lake/t", **options)
    files = write(storage, target, ROWS, COLUMNS, "f")
    keys = target.partitioned_by
    return {
        "Partitions": [
            {"Values": values, "StorageDescriptor": {"Location": uri.rpartition("/")[0]}}
            for uri, values in files
        ],
        "StorageDescriptor": storage_descriptor(target, [c for c in COLUMNS if c[0] not in keys]),
        "PartitionKeys": [{"Name": n, "Type": k.glue} for n, k in COLUMNS if n in keys],
    }


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))


def ask(catalog: Catalog, storage: Storage, sql: str) -> list[tuple[Any, ...]]:
    """What Athena shows of a query."""
    reader = Reader(catalog, storage, "AwsDataCatalog")
    made = translate(sql, reader, "d")
    engine = Engine()
    try:
        run = engine.run()
        tables = reader.rows(made.read, run.where(made, reader.empty(made.read)))
        rows = run.answer(made, tables)
    finally:
        engine.close()
    columns = [as_text(rows.column(i), k).to_pylist() for i, (_, k) in enumerate(made.columns)]
    return list(zip(*columns, strict=True))


FORMATS: list[dict[str, Any]] = [
    {"format": "PARQUET"}, {"format": "PARQUET", "partitioned_by": ("k",)}, {"format": "JSON"},
    {"format": "TEXTFILE"},
]  # fmt: skip


@pytest.mark.parametrize("options", FORMATS, ids=str)
def test_files_of_each_format(storage: Storage, options: dict[str, Any]) -> None:
    catalog = Catalog({"t": _written(storage, options)})
    uris = storage.list("s3://lake/t")
    assert sorted({path for (path,) in ask(catalog, storage, 'SELECT "$path" FROM t')}) == uris
    assert len(uris) == (2 if "partitioned_by" in options else 1)
    for n, path, size, modified in ask(
        catalog, storage, 'SELECT n, "$PATH", t."$file_size", "$file_modified_time" FROM t'
    ):
        info = storage.filesystem.get_file_info(storage.path(str(path)))
        assert path in uris
        assert ("k=b" in str(path)) == ("partitioned_by" in options and n != "1")
        assert size == str(info.size)
        then = datetime.fromtimestamp((info.mtime_ns or 0) // 10**6 / 1000, UTC)
        assert modified == f"{then:%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC"
    assert ask(catalog, storage, "SELECT count(*) FROM t") == [("3",)]
    assert ask(catalog, storage, 'SELECT count("$path"), sum("$file_size") / 3 FROM t')[0][0] == "3"
    assert len(ask(catalog, storage, "SELECT * FROM t WHERE n = 1")[0]) == 2
    assert ask(catalog, storage, 'SELECT n FROM t WHERE n > 2 AND "$file_size" > 0') == [("3",)]
    assert not ask(catalog, storage, "SELECT n FROM t WHERE \"$path\" = 's3://lake/t'")
    types = ", ".join(f'typeof("${name}")' for name in ("path", "file_size", "file_modified_time"))
    told = ask(catalog, storage, f"SELECT {types} FROM t LIMIT 1")
    assert told == [("varchar", "bigint", "timestamp(3) with time zone")]


def test_a_table_without_files_has_no_rows(storage: Storage) -> None:
    for options in FORMATS:
        catalog = Catalog({"t": _written(storage, options)})
        for uri in storage.list("s3://lake/t"):
            storage.remove(uri)
        sql = 'SELECT n + 1, "$path", "$file_size", "$file_modified_time" FROM t'
        assert ask(catalog, storage, sql) == [], options


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ('SELECT "$path" FROM (SELECT * FROM t) AS x', "COLUMN_NOT_FOUND"),
        ('SELECT "$path" FROM t AS x (n, k)', "COLUMN_NOT_FOUND"),
        ('SELECT "$path" FROM v', "COLUMN_NOT_FOUND"),
        ('WITH t AS (SELECT * FROM t) SELECT "$path" FROM t', "COLUMN_NOT_FOUND"),
        ('SELECT "$path" FROM t AS a, t AS b', "ambiguous"),
        ('SELECT "$bucket" FROM t', "COLUMN_NOT_FOUND"),
        ("SELECT $path FROM t", "SYNTAX_ERROR: line 1:8"),
        ("SELECT t.$path FROM t", "SYNTAX_ERROR: line 1:10"),
    ],
)  # fmt: skip
def test_where_they_are_not(storage: Storage, sql: str, error: str) -> None:
    view = view_input("v", "SELECT * FROM t", catalog="c", database="d", columns=COLUMNS)
    catalog = Catalog({"t": _written(storage, FORMATS[0]), "v": view})
    with pytest.raises(SqlError, match=error):
        ask(catalog, storage, sql)


def test_a_column_of_that_name_is_the_tables_own(storage: Storage) -> None:
    target = Target("s3://lake/t")
    named = [("n", INTEGER), ("$path", VARCHAR)]
    rows = ROWS.rename_columns(["n", "$path"])
    write(storage, target, rows, named, "f")
    catalog = Catalog({"t": {"StorageDescriptor": storage_descriptor(target, named)}})
    assert ask(catalog, storage, "SELECT * FROM t WHERE n = 1") == [("1", "a")]
    with pytest.raises(SqlError, match="COLUMN_NOT_FOUND"):
        ask(catalog, storage, 'SELECT "$file_size" FROM t')


def test_a_lakes_row_is_in_the_file_of_its_last_commit(tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int32())})
    write_table(tmp_path, "d.sale", {"20240101000000000": rows, "20240102000000000": rows})
    source = LakeSource(Lake(LakeStorage.local(tmp_path)))
    (table,) = source.tables()
    read = source.read(table, ["id", PATH], MergeView())
    assert read.column_names == ["id", PATH]
    (path,) = {str(path) for path in read[PATH].to_pylist()}
    assert path.startswith(f"{table.location}/")
    assert path.endswith("_20240102000000000.parquet")
    assert source.read(table, [PATH], MergeView(), [("id", "=", "1")]).to_pylist() == [{PATH: path}]


def test_keys_of_partitions_come_last_as_the_catalog_has_them(storage: Storage) -> None:
    rows = pa.table({"K": ["a"], "n": pa.array([1], pa.int32())})
    catalog = Catalog({}, MemorySource({"d.t": rows}, partition_keys={"d.t": ["K"]}))
    assert ask(catalog, storage, "SELECT * FROM t") == [("1", "a")]
    assert ask(catalog, storage, 'SELECT k, "$path" FROM t') == [
        ("a", "s3://memory/d/t/rows.parquet")
    ]


@dataclass
class Slice:
    """A file group of a table."""

    file_id: str
    base_file_name: str = ""
    partition_path: str = ""
    log_file_names: Sequence[str] = ()


TABLE = SourceTable("d", "t", "s3://lake/silver/d/t", "MERGE_ON_READ")
BASE = "a-0_1-2-3_20240101000000000.parquet"
NEXT = "a-0_1-2-3_20240102000000000.parquet"


def _merged(
    names: Sequence[str | None], *states: Sequence[Slice], partition: str = ""
) -> list[str]:
    """Paths of rows that say they are in `names`, while the table goes through `states`."""
    told: Iterator[Sequence[Slice]] = iter(states)
    rows = pa.table({"_hoodie_partition_path": [partition] * len(names),
                     "_hoodie_file_name": pa.array(names, pa.string())})  # fmt: skip
    read = rows_with_paths(TABLE, [PATH], lambda: next(told), lambda _: rows)
    return [str(path).removeprefix(TABLE.location) for path in read[PATH].to_pylist()]


def test_a_row_of_a_log_has_the_path_of_its_base_file() -> None:
    """A log's rows name the file group; splits of Hudi's input format are named by base files."""
    state = [Slice("a-0", BASE, log_file_names=[".a-0_20240103.log.1_0-1-2"])]
    assert _merged([BASE, "a-0", "a-0"], state, state) == [f"/{BASE}"] * 3
    placed = [Slice("a-0", BASE, "kind=a%2Fb")]
    assert _merged(["a-0"], placed, placed, partition="kind=a%2Fb") == [f"/kind=a%2Fb/{BASE}"]


def test_a_file_group_without_a_base_file_has_the_path_of_its_last_log() -> None:
    logs = [f".a-0_20240103.log.{number}_0-1-2" for number in (2, 10, 9)]
    state = [Slice("a-0", log_file_names=logs)]
    assert _merged(["a-0"], state, state) == ["/.a-0_20240103.log.10_0-1-2"]


def test_a_table_that_changes_while_it_is_read_is_read_again() -> None:
    before, after = [Slice("a-0", BASE)], [Slice("a-0", NEXT)]
    # a base file that a row names is sure, whichever state it is of
    assert _merged([BASE], before, after) == [f"/{BASE}"]
    assert _merged([NEXT], before, after) == [f"/{NEXT}"]
    # a row of a log may have been merged with either
    assert _merged(["a-0"], before, after, after, after) == [f"/{NEXT}"]
    assert _merged(["a-0"], [], before, before, before) == [f"/{BASE}"]
    with pytest.raises(SourceError, match="changes while it is read"):
        _merged(["a-0"], *[before, after] * 5)


def test_rows_that_name_no_file_have_no_path() -> None:
    with pytest.raises(SourceError, match="has no \\$path"):
        _merged([None], [], [])


def test_no_rows() -> None:
    assert _merged([], [], []) == []


def test_the_partitions_of_a_table_as_a_table(storage: Storage) -> None:
    options = {"format": "PARQUET", "partitioned_by": ("k",)}
    catalog = Catalog({"t": _written(storage, options)})
    assert ask(catalog, storage, 'SELECT * FROM "t$partitions" ORDER BY 1') == [("a",), ("b",)]
    asked = """SELECT count(*), max(p.k) FROM d."t$partitions" p WHERE p.k < 'b'"""
    assert ask(catalog, storage, asked) == [("1", "a")]
    plain = Catalog({"t": _written(storage, {"format": "PARQUET"})})
    with pytest.raises(SqlError, match=r"d\.t\$partitions' does not exist"):
        ask(plain, storage, 'SELECT * FROM "t$partitions"')


def test_the_partitions_of_a_table_of_a_source(storage: Storage) -> None:
    rows = {"d.t": pa.table({"n": [1, 2, 3], "k": ["a/b", "c", "c"]})}
    source = MemorySource(rows, partition_keys={"d.t": ["k"]})
    catalog = Catalog({}, source)
    asked = 'SELECT k FROM "t$partitions" ORDER BY 1'
    assert ask(catalog, storage, asked) == [("a/b",), ("c",)]
