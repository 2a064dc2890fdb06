"""SQL Server's times in nanoseconds: what silver's numbers do not hold is named, and left out."""

from __future__ import annotations

from typing import Any, cast

import pytest

from labctl.engines.sqlserver.sqlserver_client import SqlServerSource, _arrive
from labctl.engines.sqlserver.sqlserver_limits import sqlserver_limits
from labctl.engines.sqlserver.sqlserver_silver_array import silver_array
from labctl.engines.sqlserver.sqlserver_types import SQLSERVER
from labctl.errors import LabError
from labctl.sources.base import Declared, SourceTable, TableRef

REF = TableRef("dbo", "far")
SEVEN = Declared("datetime2", "datetime2(7)", None, 7)
WHOLE = Declared("int", "int", 10, 0)


def table(*keys: str) -> SourceTable:
    columns = [("id", WHOLE, False), ("till", SEVEN, True), ("made", SEVEN, True)]
    return SourceTable.of(REF, SQLSERVER, columns, keys)


@pytest.mark.parametrize("value", ["0001-01-01 00:00:00", "9999-12-31 23:59:59.9999999"])
def test_a_value_that_silver_does_not_hold_is_named_with_its_column(value: str) -> None:
    till = table("id").columns[1]
    good = "2262-04-11 23:47:16.8547758"
    assert silver_array(REF, till, [good, None], _arrive).to_pylist() == [2**63 - 8, None]
    with pytest.raises(LabError, match=f"column till of dbo.far holds {value}, which"):
        silver_array(REF, till, [good, None, value], _arrive)


class Database:
    """A database whose column `till` has values that nanoseconds do not hold."""

    quote, qualified = SqlServerSource.quote, lambda _self, ref: f"[{ref.schema}].[{ref.name}]"

    def __init__(self, *keys: str) -> None:
        self.keys = keys

    def describe(self, _: TableRef) -> SourceTable:
        return table(*self.keys)

    def execute(self, sql: str, _parameters: Any = ()) -> list[tuple[Any, ...]]:
        return [(1,)] if "WHERE [till] <" in sql else []


def test_columns_with_such_values_are_left_out_and_refused_as_a_key() -> None:
    found = sqlserver_limits(cast("Any", Database("id")), REF, "")
    assert (list(found.columns()), found.refused) == (["till"], None)
    assert "declare it as datetime2(6)" in found.columns()["till"]
    refused = sqlserver_limits(cast("Any", Database("till")), REF, "").refused or ""
    assert refused.startswith("its key column is till, which has times outside")
