"""Every source table of the lab against its silver table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from labctl.lab.in_flight import in_flight_records
from labctl.lab.lab import Lab
from labctl.lake import Lake
from labctl.sources import TableRef
from labctl.verify import Captured, TableVerdict, VerifyReport, open_pairs, verify

__all__ = ["verify_lab"]


def verify_lab(
    lab: Lab,
    names: Sequence[str] = (),
    *,
    timeout: float = 60.0,
    patience: float = 10.0,
    on_verdict: Callable[[TableVerdict], None] = lambda _: None,
) -> VerifyReport:
    """Compare all tables (or those called `names`) by key and content.

    What is on its way is waited for, `timeout` seconds at most; a table in which nothing moves for
    `patience` seconds, and for which nothing is known to be on its way, is different.
    """
    tables = [lab.table(name) for name in names] or lab.tables
    by_name = {table.name: table for table in tables}
    lake = Lake(lab.endpoints.objectstore)

    def read_silver(name: str) -> pa.Table | None:
        committed = {info.name for info in lake.tables() if info.latest}
        return lake.read(name) if name in committed else None

    with open_pairs(
        lab.endpoints,
        [Captured(t.engine, TableRef(t.db_schema, t.source_name), silver=t.name) for t in tables],
        read_silver,
        in_flight=lambda name: in_flight_records(lab, by_name[name]),
    ) as pairs:
        return verify(pairs, timeout=timeout, patience=patience, on_verdict=on_verdict)
