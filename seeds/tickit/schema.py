"""The seven TICKIT tables, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from seeds.table_declarations import Table, columns

__all__ = ["TABLES"]

_ALL = (
    Table(
        name="category",
        engine="postgres",
        schema="ems",
        rows=11,
        file="category_pipe.txt",
        columns=columns(
            "catid smallint!", "catgroup varchar(10)", "catname varchar(10)", "catdesc varchar(50)"
        ),
    ),
    Table(
        name="venue",
        engine="postgres",
        schema="ems",
        rows=202,
        file="venue_pipe.txt",
        columns=columns(
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
        columns=columns(
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
        file_pattern="date[0-9][0-9][0-9][0-9]_pipe.txt",
        columns=columns(
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
        columns=columns(
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
        columns=columns(
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
        columns=columns(
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
