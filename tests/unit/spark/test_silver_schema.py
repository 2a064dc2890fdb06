"""Column types of a table over time."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    DataType,
    DecimalType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from lakecontract.errors import SchemaChangeError
from lakehouse.schema_changes import merge_schemas


def of(kind: DataType) -> StructType:
    return StructType([StructField("price", kind)])


def merged(known: DataType, incoming: DataType, *, written_again: bool = False) -> DataType:
    both = merge_schemas("sale", of(known), [of(incoming)], written_again=written_again)
    return both["price"].dataType


@pytest.mark.parametrize(
    ("known", "incoming", "becomes"),
    [
        ((10, 2), (10, 2), (10, 2)),
        ((10, 2), (12, 2), (12, 2)),
        ((12, 2), (10, 2), (12, 2)),
        ((10, 4), (8, 2), (10, 4)),  # narrower at the source: what is there holds it
        ((10, 4), (12, 2), (14, 4)),
    ],
)
def test_a_decimal_that_the_files_can_be_read_as_is_taken(
    known: tuple[int, int], incoming: tuple[int, int], becomes: tuple[int, int]
) -> None:
    assert merged(DecimalType(*known), DecimalType(*incoming)) == DecimalType(*becomes)


@pytest.mark.parametrize(
    ("known", "incoming", "becomes"),
    [
        (DecimalType(10, 2), DecimalType(14, 4), DecimalType(14, 4)),
        (DecimalType(10, 2), DecimalType(4, 4), DecimalType(12, 4)),
        (DecimalType(38, 0), DecimalType(38, 38), StringType()),
        (IntegerType(), StringType(), StringType()),
    ],
)
def test_one_with_more_digits_behind_the_point_stops_its_table_until_it_is_rebuilt(
    known: DataType, incoming: DataType, becomes: DataType
) -> None:
    with pytest.raises(SchemaChangeError) as raised:
        merged(known, incoming)
    named = "text" if becomes == StringType() else becomes.simpleString()
    assert f"makes the column {named}: labctl table rebuild sale" in str(raised.value.hint)
    assert merged(known, incoming, written_again=True) == becomes
