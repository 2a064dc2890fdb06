"""The seven TICKIT tables, declared once.

The generator, the reader of the original files and the tests of the DDL all follow this
declaration. Types are spelled as the data set spells them; `Column.arrow` is the type a value
has in Python and, once it went through the pipeline, in silver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import pyarrow as pa

__all__ = ["TABLES", "Column", "Table", "table"]

_SIMPLE: Mapping[str, pa.DataType] = {
    # Avro has no 16-bit integer, so a smallint is 32 bits wide from the topic onwards.
    "smallint": pa.int32(),
    "integer": pa.int32(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_WITH_SIZE = re.compile(r"(varchar|char|decimal)\((\d+)(?:,(\d+))?\)")


@dataclass(frozen=True)
class Column:
    """One column: its name, its type as the data set declares it, and whether it may be null."""

    name: str
    declared: str
    nullable: bool = True

    @cached_property
    def arrow(self) -> pa.DataType:
        """The Arrow type of the column's values."""
        if self.declared in _SIMPLE:
            return _SIMPLE[self.declared]
        match = _WITH_SIZE.fullmatch(self.declared)
        if match is None:
            raise ValueError(f"column {self.name}: unknown type {self.declared!r}")
        kind, size, scale = match.groups()
        return pa.decimal128(int(size), int(scale)) if kind == "decimal" else pa.string()

    @property
    def length(self) -> int | None:
        """Greatest number of characters of a text column; None for other types."""
        match = _WITH_SIZE.fullmatch(self.declared)
        return int(match[2]) if match and match[1] != "decimal" else None


@dataclass(frozen=True)
class Table:
    """One table: where it lives, its columns in order, its key, and its original file."""

    name: str
    engine: str
    """Field of `Endpoints` that reaches its database: `postgres`, `mysql` or `sqlserver`."""
    schema: str
    """Schema within that database; for MySQL the database itself."""
    columns: tuple[Column, ...]
    rows: int
    """Rows of the full data set."""
    file: str
    """Name of the table's file in the original data set."""
    delimiter: str = "|"
    scales: bool = False
    """Whether `--scale` changes the number of rows."""

    @property
    def key(self) -> str:
        """The primary key: the first column of every table."""
        return self.columns[0].name

    @property
    def label(self) -> str:
        """`schema.table`, as in the topic's name."""
        return f"{self.schema}.{self.name}"

    @cached_property
    def arrow(self) -> pa.Schema:
        """Arrow schema of the table's rows."""
        return pa.schema([pa.field(c.name, c.arrow, nullable=c.nullable) for c in self.columns])


def _columns(*declarations: str) -> tuple[Column, ...]:
    """Columns from `name type`, with a trailing `!` where null is not allowed."""
    columns = []
    for declaration in declarations:
        name, declared = declaration.removesuffix("!").split(" ", 1)
        columns.append(Column(name, declared, nullable=not declaration.endswith("!")))
    return tuple(columns)


_ALL = (
    Table(
        name="category",
        engine="postgres",
        schema="ems",
        rows=11,
        file="category_pipe.txt",
        columns=_columns(
            "catid smallint!", "catgroup varchar(10)", "catname varchar(10)", "catdesc varchar(50)"
        ),
    ),
    Table(
        name="venue",
        engine="postgres",
        schema="ems",
        rows=202,
        file="venue_pipe.txt",
        columns=_columns(
            "venueid smallint!",
            "venuename varchar(100)",
            "venuecity varchar(30)",
            "venuestate char(2)",
            "venueseats integer",
        ),
    ),
    Table(
        name="event",
        engine="postgres",
        schema="ems",
        rows=8_798,
        scales=True,
        file="allevents_pipe.txt",
        columns=_columns(
            "eventid integer!",
            "venueid smallint!",
            "catid smallint!",
            "dateid smallint!",
            "eventname varchar(200)",
            "starttime timestamp",
        ),
    ),
    Table(
        name="date",
        engine="mysql",
        schema="ecomm",
        rows=365,
        file="date2008_pipe.txt",
        columns=_columns(
            "dateid smallint!",
            "caldate date!",
            "day char(3)!",
            "week smallint!",
            "month char(5)!",
            "qtr char(5)!",
            "year smallint!",
            "holiday boolean",
        ),
    ),
    Table(
        name="listing",
        engine="mysql",
        schema="ecomm",
        rows=192_497,
        scales=True,
        file="listings_pipe.txt",
        columns=_columns(
            "listid integer!",
            "sellerid integer!",
            "eventid integer!",
            "dateid smallint!",
            "numtickets smallint!",
            "priceperticket decimal(8,2)",
            "totalprice decimal(8,2)",
            "listtime timestamp",
        ),
    ),
    Table(
        name="sale",
        engine="mysql",
        schema="ecomm",
        rows=172_456,
        scales=True,
        file="sales_tab.txt",
        delimiter="\t",
        columns=_columns(
            "salesid integer!",
            "listid integer!",
            "sellerid integer!",
            "buyerid integer!",
            "eventid integer!",
            "dateid smallint!",
            "qtysold smallint!",
            "pricepaid decimal(8,2)",
            "commission decimal(8,2)",
            "saletime timestamp",
        ),
    ),
    Table(
        name="user",
        engine="sqlserver",
        schema="crm",
        rows=49_990,
        scales=True,
        file="allusers_pipe.txt",
        columns=_columns(
            "userid integer!",
            "username char(8)",
            "firstname varchar(30)",
            "lastname varchar(30)",
            "city varchar(30)",
            "state char(2)",
            "email varchar(100)",
            "phone char(14)",
            "likesports boolean",
            "liketheatre boolean",
            "likeconcerts boolean",
            "likejazz boolean",
            "likeclassical boolean",
            "likeopera boolean",
            "likerock boolean",
            "likevegas boolean",
            "likebroadway boolean",
            "likemusicals boolean",
        ),
    ),
)

TABLES: Mapping[str, Table] = MappingProxyType({t.name: t for t in _ALL})
"""All tables by name, in an order in which every relation points backwards or to `user`."""


def table(name: str) -> Table:
    """The declaration of one table; `KeyError` when TICKIT has none of that name."""
    return TABLES[name]
