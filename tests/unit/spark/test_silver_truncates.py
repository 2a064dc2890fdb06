"""Which TRUNCATE of a topic counts, and which cannot be applied."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from lakecontract.deletes import DELETED
from lakehouse.mapping import WriterSchema
from lakehouse.schema_changes import POSITION_COLUMNS
from lakehouse.table_ingestion import TableWriter
from lakehouse.truncates import Truncate, UnorderedError, last_of

ROWS = StructType([StructField(DELETED, StringType()), *POSITION_COLUMNS.fields])
UNMARKED = StructType([StructField("id", StringType()), *POSITION_COLUMNS.fields])
FIRST, LAST = Truncate(0, 5, 1), Truncate(0, 9, 2)


def test_the_last_one_has_removed_all_that_the_others_have() -> None:
    assert last_of([LAST, FIRST], ROWS, 1) == LAST
    assert last_of([], ROWS, 3) is None


def test_before_the_first_row_there_is_nothing_to_mark() -> None:
    assert last_of([FIRST], POSITION_COLUMNS, 1) == FIRST


@pytest.mark.parametrize(("rows", "partitions"), [(ROWS, 2), (POSITION_COLUMNS, 2), (UNMARKED, 1)])
def test_one_whose_order_is_not_known_says_what_to_run(rows: StructType, partitions: int) -> None:
    with pytest.raises(UnorderedError, match="truncated at its source") as raised:
        last_of([FIRST], rows, partitions)
    assert "labctl connectors snapshot NAME --start-over" in raised.value.what


def test_a_table_that_marks_no_deletes_says_what_to_run() -> None:
    """Only rows behind the TRUNCATE have the column: the last one's order is known by them."""
    writer = SimpleNamespace(_next_offsets={0: 3}, _schema=UNMARKED)
    with pytest.raises(UnorderedError, match="partition 0 offset 5"):
        TableWriter.truncate(cast("TableWriter", writer), FIRST)
    TableWriter.truncate(cast("TableWriter", writer), Truncate(0, 2, 1))  # It has that already.


def test_a_schema_tells_a_truncate_by_its_column() -> None:
    def schema(name: str) -> WriterSchema:
        fields = [{"name": name, "type": "int"}]
        text = json.dumps({"type": "record", "name": "Value", "fields": fields})
        return WriterSchema.parse(text)

    assert schema("__truncated").is_truncate
    assert not schema("truncated").is_truncate
