"""Arrival of types that `labctl verify` has no rule for, as observed with Debezium 3.3."""

from __future__ import annotations

import re
from typing import Literal

from labctl.engine_names import EngineName

__all__ = ["arrival"]

_Verdict = Literal["as text", "lossy", "not captured", "not compared"]
_UNSEEN: tuple[_Verdict, str] = (
    "not captured",
    "Debezium leaves a type out that it does not know; `labctl verify` cannot compare it",
)
_NOT_COMPARED = "; `labctl verify` cannot compare it"

_ARRIVALS: dict[EngineName, tuple[tuple[str, _Verdict, str], ...]] = {
    "postgres": (
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
    ),
    "mysql": (
        (r"geo.*|.*(?:point|linestring|polygon)", "not compared", "a struct with its bytes in WKB"),
        (r"vector.*", "not compared", "numbers"),
    ),
    "sqlserver": (
        (r"sql_variant|hierarchyid|geometry|geography", "not captured",
         "Debezium leaves this type out"),
        (r"xml", "as text", "as Debezium writes it"),
        (r"(?:timestamp|rowversion)", "not compared", "bytes"),
    ),
}  # fmt: skip
"""Regular expressions for the catalogue's type names, by engine; the first match counts."""


def arrival(engine: EngineName, type_text: str) -> tuple[_Verdict, str]:
    """Return the verdict on a column whose type has no rule, and how its values arrive."""
    # PostgreSQL names the schema of an extension's type if it is not in the search path.
    plain = type_text.lower().rpartition(".")[2]
    for pattern, verdict, how in _ARRIVALS[engine]:
        if re.fullmatch(pattern, plain, re.DOTALL):
            return verdict, how if verdict == "not captured" else how + _NOT_COMPARED
    return _UNSEEN
