"""The TICKIT sample data set: a fictional ticket marketplace, spread over three databases.

`DATA_SET` is what `labctl seed tickit` loads; `generate(scale)` gives the rows themselves.
"""

from __future__ import annotations

from decimal import Decimal
from importlib import resources

from labctl.datasets.data_set import DataSet, FollowedRow, TextColumn
from seeds.table_declarations import Column, Table
from seeds.tickit.generate import generate, row_counts
from seeds.tickit.original import read_original
from seeds.tickit.schema import TABLES

__all__ = ["DATA_SET", "TABLES", "Column", "Table", "ddl", "generate", "row_counts"]


def ddl(engine: str) -> str:
    """Return the DDL script of an engine: `postgres`, `mysql` or `sqlserver`."""
    return resources.files("seeds.tickit").joinpath(f"{engine}.sql").read_text(encoding="utf-8")


DATA_SET = DataSet(
    name="tickit",
    title="a ticket marketplace: 424,319 rows in seven tables of three databases",
    tables=tuple(TABLES.values()),
    ddl=ddl,
    generate=generate,
    read=read_original,
    written=("sale", "event", "user"),
    followed=FollowedRow(
        table="sale",
        key="salesid",
        value=200,
        column="pricepaid",
        next=lambda price: price + Decimal("0.01"),
    ),
    text_columns={
        "postgres": TextColumn("category", "catid", 1, "catdesc"),
        "mysql": TextColumn("date", "dateid", 1827, "qtr"),
        "sqlserver": TextColumn("user", "userid", 1, "city"),
    },
)
