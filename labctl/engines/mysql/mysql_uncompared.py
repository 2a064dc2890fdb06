"""Arrival of MySQL's types that have no rule, as observed with Debezium 3.3."""

from __future__ import annotations

from labctl.sources.engine import Arrival

__all__ = ["UNCOMPARED"]

UNCOMPARED: tuple[Arrival, ...] = (
    (r"geo.*|.*(?:point|linestring|polygon)", "not compared", "a struct with its bytes in WKB"),
    (r"vector.*", "not compared", "numbers"),
)  # fmt: skip
