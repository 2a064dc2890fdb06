"""Arrival of PostgreSQL's types that have no rule, as observed with Debezium 3.3."""

from __future__ import annotations

from labctl.sources.engine import Arrival

__all__ = ["UNCOMPARED"]

UNCOMPARED: tuple[Arrival, ...] = (
    (r".*multirange", "not captured", "Debezium leaves multiranges out"),
    (r"(?:pg_lsn|polygon|circle|path|line|lseg|box|jsonpath|tsquery|txid_snapshot)(?:\[\])?",
     "not captured", "Debezium leaves this type out"),
    (r"name", "not captured", "Debezium reads it in the first load and in no change"),
    (r"time(?:\(\d\))? with time zone", "lossy",
     "text; the time of day in UTC: its offset is lost"),
    (r".*\[\]", "not compared", "an array"),
    (r"point|geometry.*|geography.*", "not compared", "a struct with its bytes in WKB"),
    (r"bit varying.*", "lossy", "bytes, least significant first; zeros in front are lost"),
    (r"bit.*", "not compared", "bytes, least significant first"),
    (r"tstzrange|xml|tsvector|ltree|citext",
     "as text", "as Debezium writes it"),
    (r"hstore", "as text", "JSON"),
    (r".*vector.*", "not compared", "numbers"),
)  # fmt: skip
