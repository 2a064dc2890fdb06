"""One row changed at the source, timed until a query over silver returns it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal

import pyarrow.compute as pc

from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lake import Lake, Watch
from labctl.sources import connect

__all__ = ["ChangedSale", "change_sale"]

TIMEOUT_SECONDS = 60.0
PRICE = "SELECT pricepaid FROM ecomm.sale WHERE salesid = %s"
UPDATE = "UPDATE ecomm.sale SET pricepaid = %s, commission = %s WHERE salesid = %s"
COMMISSION = Decimal("0.15")
CENT = Decimal("0.01")


@dataclass(frozen=True)
class ChangedSale:
    """A sale's price before and after, and how long the change took. Seconds, monotonic clock."""

    salesid: int
    before: Decimal
    after: Decimal
    seconds: float
    """From the source's commit to the first query that returned the new price."""
    instant: str
    """The Hudi commit that holds it."""


def change_sale(lab: Lab, salesid: int) -> ChangedSale:
    """Raise the price of one sale by a cent in MySQL and wait until silver's query says so.

    Raises LabError when the sale does not exist or its change does not arrive.
    """
    watch = Watch(Lake(lab.endpoints.objectstore).table("sale"))
    with connect(lab.endpoints, "mysql") as mysql:
        rows = mysql.execute(PRICE, (salesid,))
        if not rows:
            raise LabError(f"MySQL has no sale {salesid}", hint="labctl seed")
        before = rows[0][0]
        after = before + CENT
        mysql.affect(UPDATE, (after, (after * COMMISSION).quantize(CENT), salesid))
    committed = time.monotonic()
    found = watch.wait_for(
        (pc.field("salesid") == salesid) & (pc.field("pricepaid") == after),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    seconds = time.monotonic() - committed
    instant = found.column("_hoodie_commit_time")[0].as_py()
    return ChangedSale(salesid, before, after, seconds, instant)
