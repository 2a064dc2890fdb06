"""The folders of partitions, written as Hive does and read again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from sqlapi.athena.partitions import NO_VALUE, check_keys, escaped
from sqlapi.athena.tables_written import Target, storage_descriptor, write
from sqlapi.catalog.information_schema import Asked
from sqlapi.catalog.reading import Reader
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import DATE, DOUBLE, INTEGER, VARCHAR, Type, decimal
from sqlapi.storage import Storage

HOSTILE = (
    "a/b", "..", ".", "../../silver/tickit/sale", "%", "%2F", "a=b", "x y", "a%2Fb",
    "{}[]^\"'#*:?\\",
    "__HIVE_DEFAULT", "~",
)  # fmt: skip


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))


class _Catalog:
    """A catalog with one table."""

    source: Any = None

    def __init__(
        self, definition: dict[str, Any], partitions: Sequence[dict[str, Any]] = ()
    ) -> None:
        self._definition = definition
        self._partitions = partitions

    def partitions(self, database: str, name: str) -> Sequence[dict[str, Any]]:
        return self._partitions

    def lake_table(self, database: str, name: str) -> None:
        return None

    def stored(self, database: str, name: str) -> dict[str, Any]:
        return {"definition": self._definition}

    def database(self, name: str) -> dict[str, Any]:
        return {}

    def information(self, catalog: str, table: str, asked: Asked) -> pa.Table:
        raise AssertionError(table)


def _written(
    storage: Storage, table: pa.Table, kinds: list[Type], keys: tuple[str, ...]
) -> list[dict[str, Any]]:
    """What a query reads of a table that was written, in the order of the first column."""
    columns = list(zip(table.column_names, kinds, strict=True))
    target = Target("s3://lake/t", partitioned_by=keys)
    found = write(storage, target, table, columns, "f")
    assert sorted(uri for uri, _ in found) == storage.list("s3://lake/t")
    plain = [column for column in columns if column[0] not in keys]
    definition = {
        "StorageDescriptor": storage_descriptor(target, plain),
        "PartitionKeys": [{"Name": n, "Type": k.glue} for n, k in columns if n in keys],
    }
    partitions = [
        {"Values": values, "StorageDescriptor": {"Location": uri.rpartition("/")[0]}}
        for uri, values in found
    ]
    reader = Reader(_Catalog(definition, partitions), storage, "AwsDataCatalog")
    described = reader.table(None, "d", "t", None)
    read = reader.rows({described.key: described.columns})[described.key]
    return sorted(read.to_pylist(), key=lambda row: int(row[table.column_names[0]]))


def test_whatever_a_text_has_it_is_one_folder_and_is_read_again(storage: Storage) -> None:
    table = pa.table({"n": pa.array(range(len(HOSTILE)), pa.int32()), "k": list(HOSTILE)})
    read = _written(storage, table, [INTEGER, VARCHAR], ("k",))
    assert read == table.to_pylist()
    assert all(
        len(uri.removeprefix("s3://lake/t/").split("/")) == 2 for uri in storage.list("s3://lake/t")
    )


def test_null_and_an_empty_text_are_one_partition_and_null_again(storage: Storage) -> None:
    table = pa.table({"n": pa.array([1, 2, 3, 4], pa.int32()), "k": ["", None, NO_VALUE, "a"]})
    read = _written(storage, table, [INTEGER, VARCHAR], ("k",))
    rows = {row["n"]: row["k"] for row in read}
    assert rows == {1: None, 2: None, 3: None, 4: "a"}
    assert len(storage.list("s3://lake/t")) == 2


def test_keys_of_other_types_are_read_again(storage: Storage) -> None:
    table = pa.table(
        {
            "n": pa.array([1, 2], pa.int32()),
            "a/b": pa.array([Decimal("-1.50"), None], pa.decimal128(5, 2)),
            "day": [date(2024, 3, 1), None],
        }
    )
    read = _written(storage, table, [INTEGER, decimal(5, 2), DATE], ("a/b", "day"))
    assert read == table.to_pylist()


def test_names_of_folders_are_hives() -> None:
    assert escaped("a/b=c%d") == "a%2Fb%3Dc%25d"
    assert escaped("\x01\x7f") == "%01%7F"
    assert escaped("") == NO_VALUE


def test_a_value_that_no_name_of_a_folder_has_is_an_error_of_the_query(storage: Storage) -> None:
    table = pa.table({"n": pa.array([1], pa.int32()), "k": ["/" * 200]})
    with pytest.raises(SqlError, match=r"HIVE_WRITER_OPEN_ERROR.*longer than 255 bytes"):
        _written(storage, table, [INTEGER, VARCHAR], ("k",))


@pytest.mark.parametrize("value", ["a\nb", "Öl", "\x7f"])
def test_what_athena_does_not_write_is_refused_before_anything_is(
    storage: Storage, value: str
) -> None:
    table = pa.table({"n": pa.array([1, 2], pa.int32()), "k": ["a", value]})
    with pytest.raises(SqlError, match="HIVE_INVALID_PARTITION_VALUE"):
        _written(storage, table, [INTEGER, VARCHAR], ("k",))
    assert storage.list("s3://lake/t") == []


def test_no_more_partitions_are_written_than_athena_writes(storage: Storage) -> None:
    table = pa.table({"n": pa.array(range(101), pa.int32()), "k": pa.array(range(101), pa.int32())})
    with pytest.raises(SqlError, match="HIVE_TOO_MANY_OPEN_PARTITIONS"):
        _written(storage, table, [INTEGER, INTEGER], ("k",))
    assert storage.list("s3://lake/t") == []


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (("nope",), "HIVE_COLUMN_ORDER_MISMATCH"),
        (("a",), "HIVE_COLUMN_ORDER_MISMATCH"),
        (("a", "b", "c"), "INVALID_TABLE_PROPERTY"),
        (("c",), "NOT_SUPPORTED"),
    ],
)
def test_columns_that_are_no_keys(keys: tuple[str, ...], kind: str) -> None:
    with pytest.raises(SqlError) as caught:
        check_keys([("a", INTEGER), ("b", VARCHAR), ("c", DOUBLE)], keys)
    assert caught.value.kind == kind
