"""The service's SQL. Table names come from the settings; every value is a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeapi.models import (
    Category,
    Date,
    Event,
    Listing,
    Model,
    Sale,
    User,
    Venue,
)
from lakeapi.tables import Tables

__all__ = [
    "LIKES", "RESOURCES", "SELLER", "VIEW", "VIEWS", "Resource", "likes", "one", "page",
    "sales_by_category", "sales_by_seller", "sales_of_day",
]  # fmt: skip

VIEW = "tickit_sales_by_day_and_category"
VIEWS = (VIEW, f"view_{VIEW}")
"""The view that is read, and the name that dashboards may use for it."""
SELLER = "tickit_sales_by_seller"
LIKES = "buyer_likes_by_category"
_LIKED = ("sports", "theatre", "concerts", "jazz", "classical", "opera", "rock", "vegas",
          "broadway", "musicals")  # fmt: skip


@dataclass(frozen=True)
class Resource:
    """A table that is offered in pages and row by row."""

    path: str
    """Path of its list."""
    table: str
    """Its name in `Tables`."""
    model: type[Model]
    columns: tuple[str, ...]
    """Columns, one per field of the model; the first is the key."""


RESOURCES = (
    Resource("categories", "category", Category, ("catid", "catgroup", "catname", "catdesc")),
    Resource(
        "dates", "date", Date,
        ("dateid", "caldate", "day", "week", "month", "qtr", "year", "holiday"),
    ),
    Resource(
        "events", "event", Event,
        ("eventid", "venueid", "catid", "dateid", "eventname", "starttime"),
    ),
    Resource(
        "listings", "listing", Listing,
        ("listid", "sellerid", "eventid", "dateid", "numtickets", "priceperticket", "listtime"),
    ),
    Resource(
        "sales", "sale", Sale,
        ("salesid", "listid", "sellerid", "buyerid", "eventid", "dateid", "qtysold", "pricepaid",
         "commission", "saletime"),
    ),
    Resource(
        "users", "user", User,
        ("userid", "username", "firstname", "lastname", "city", "state", "email", "phone",
         *(f"like{thing}" for thing in _LIKED)),
    ),
    Resource(
        "venues", "venue", Venue,
        ("venueid", "venuename", "venuecity", "venuestate", "venueseats"),
    ),
)  # fmt: skip


def _columns(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def page(resource: Resource, tables: Tables) -> str:
    """Return the query for a page. Parameters: offset, limit."""
    key = resource.columns[0]
    return (
        f'SELECT {_columns(resource.columns)} FROM "{getattr(tables, resource.table)}"'
        f' WHERE "{key}" IS NOT NULL ORDER BY "{key}" OFFSET ? LIMIT ?'
    )


def one(resource: Resource, tables: Tables) -> str:
    """Return the query for a row. Parameter: the key."""
    return (
        f'SELECT {_columns(resource.columns)} FROM "{getattr(tables, resource.table)}"'
        f' WHERE "{resource.columns[0]}" = ?'
    )


_AMOUNT = "CAST(s.pricepaid AS DECIMAL(8, 2)) * s.qtysold"
_COMMISSION = "CAST(s.commission AS DECIMAL(8, 2))"


def _joined(tables: Tables) -> str:
    """Return the FROM clause of sales with their event, date and category."""
    return (
        f'FROM "{tables.sale}" s'
        f' LEFT JOIN "{tables.event}" e ON e.eventid = s.eventid'
        f' LEFT JOIN "{tables.date}" d ON d.dateid = s.dateid'
        f' LEFT JOIN "{tables.category}" c ON c.catid = e.catid'
    )


def sales_by_category(tables: Tables) -> str:
    """Return the view's query."""
    return (
        "SELECT d.caldate AS caldate, c.catgroup AS catgroup, c.catname AS catname,"
        f" ROUND(SUM({_AMOUNT}), 2) AS saleamount, SUM({_COMMISSION}) AS commission"
        f" {_joined(tables)} GROUP BY d.caldate, c.catgroup, c.catname"
    )


def sales_of_day(*, dated: bool) -> str:
    """Return the query for rows of the view. Parameters: the date if `dated`, offset, limit."""
    where = "caldate = CAST(? AS DATE)" if dated else "caldate IS NOT NULL"
    return (
        f'SELECT caldate, catgroup, catname, saleamount, commission FROM "{VIEW}"'
        f" WHERE {where} ORDER BY caldate, catgroup, catname OFFSET ? LIMIT ?"
    )


def sales_by_seller(tables: Tables) -> str:
    """Return the prepared statement. Parameter: the seller's id."""
    return (
        "SELECT d.caldate AS caldate, s.pricepaid AS pricepaid, s.qtysold AS qtysold,"
        f" ROUND({_AMOUNT}, 2) AS saleamount, {_COMMISSION} AS commission,"
        f" ROUND({_COMMISSION} * 100 / NULLIF({_AMOUNT}, 0), 2) AS commissionprcnt,"
        " e.eventname AS eventname,"
        " CONCAT(u1.firstname, ' ', u1.lastname) AS seller,"
        " CONCAT(u2.firstname, ' ', u2.lastname) AS buyer,"
        " c.catgroup AS catgroup, c.catname AS catname"
        f" {_joined(tables)}"
        f' LEFT JOIN "{tables.user}" u1 ON u1.userid = s.sellerid'
        f' LEFT JOIN "{tables.user}" u2 ON u2.userid = s.buyerid'
        " WHERE s.sellerid = ? ORDER BY d.caldate, e.eventname, s.salesid"
    )


def likes(tables: Tables) -> str:
    """Return the named query, which counts the buyers who like each thing."""
    counts = ", ".join(f"COUNT_IF(like{thing}) AS {thing}" for thing in _LIKED)
    return (
        f'SELECT {counts} FROM "{tables.user}"'
        f' WHERE userid IN (SELECT buyerid FROM "{tables.sale}")'
    )
