"""Which column of a table carries the number of a change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from labctl.config.lab_config import LabConfig
from labctl.engines.mysql.mysql_types import MYSQL
from labctl.errors import ExitCode, LabError
from labctl.latency.targets import numbered_target
from labctl.sources import SourceColumn, SourceTable, TableRef
from labctl.sources.base import Declared
from labctl.tables import LabTable, lab_tables

PROJECT = Path(__file__).parents[3]
TABLE: LabTable = lab_tables(PROJECT, LabConfig.load(PROJECT / "lab.toml"))[0]
REF = TableRef("ecomm", "made_up")


def column(name: str, kind: str, *, nullable: bool = True, full: str = "") -> SourceColumn:
    return SourceColumn(name, Declared(kind, full or kind, 8, 2), nullable, MYSQL[kind])


def found(*columns: SourceColumn, keys: tuple[str, ...] = ("id",)) -> SourceTable:
    return SourceTable(REF, columns, keys)


def test_the_first_whole_number_beside_the_key_carries_the_changes_number() -> None:
    target = numbered_target(
        TABLE,
        found(
            column("note", "varchar"),
            column("small", "smallint"),
            column("id", "int", nullable=False),
            column("amount", "int"),
        ),
    )
    assert (target.key, target.number) == ("id", "amount")


def test_text_carries_it_where_there_is_no_number_wide_enough() -> None:
    columns = (column("id", "int"), column("small", "smallint"), column("note", "varchar"))
    target = numbered_target(TABLE, found(*columns))
    assert target.number == "note"
    assert target.rows({7: 12}).to_pylist() == [{"id": 7, "note": "12"}]


def test_a_column_that_silver_is_partitioned_by_carries_none() -> None:
    properties = replace(TABLE.properties, partition_fields=("event", "note"))
    partitioned = replace(TABLE, properties=properties)
    columns = (column("id", "int"), column("event", "int"), column("note", "varchar"))
    target = numbered_target(partitioned, found(*columns, column("other", "varchar")))
    assert target.number == "other"
    with pytest.raises(LabError, match="no column of it can carry a number"):
        numbered_target(partitioned, found(*columns))


def test_a_row_has_a_value_wherever_it_must() -> None:
    kinds = ("tinyint(1)", "smallint", "decimal", "double", "date", "datetime", "char", "blob")
    musts = [column(f"c{n}", kind, nullable=False) for n, kind in enumerate(kinds)]
    optional = column("optional", "decimal")
    target = numbered_target(
        TABLE, found(column("id", "int"), column("n", "int"), *musts, optional)
    )
    rows = target.rows({1: 10, 2: 20})
    assert rows.column_names == ["id", "n", *(c.name for c in musts)]
    assert rows.schema.types == [pa.int32(), pa.int32(), *(c.arrow for c in musts)]
    assert [row["n"] for row in rows.to_pylist()] == [10, 20]
    assert all(rows.column(c.name).null_count == 0 for c in musts)
    assert target.keys([1, 2]).schema.names == ["id"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (found(column("id", "varchar"), column("n", "int")), "its key is not one integer column"),
        (found(column("id", "smallint"), column("n", "int")), "its key is not one integer column"),
        (
            found(column("a", "int"), column("b", "int"), keys=("a", "b")),
            "its key is not one integer column",
        ),
        (found(column("id", "int"), column("d", "date")), "no column of it can carry a number"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(table: SourceTable, said: str) -> None:
    with pytest.raises(LabError, match=said) as raised:
        numbered_target(TABLE, table)
    assert str(REF) in raised.value.what
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_snapshots_number_is_its_key_however_small() -> None:
    target = numbered_target(TABLE, found(column("id", "smallint")), snapshot=True)
    assert target.number == target.key == "id"
