"""Arrival of SQL Server's types that have no rule, as observed with Debezium 3.3."""

from __future__ import annotations

from labctl.sources.engine import Arrival

__all__ = ["UNCOMPARED"]

UNCOMPARED: tuple[Arrival, ...] = (
    (r"sql_variant|hierarchyid|geometry|geography", "not captured",
     "Debezium leaves this type out"),
    (r"xml", "as text", "as Debezium writes it"),
    (r"(?:timestamp|rowversion)", "not compared", "bytes"),
)  # fmt: skip
