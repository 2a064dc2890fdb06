"""Arrival of types that `labctl verify` has no rule for, as observed with Debezium 3.3."""

from __future__ import annotations

import re

from labctl.engine_names import EngineName
from labctl.sources.engine import ArrivalVerdict
from labctl.sources.engine_registry import ENGINES

__all__ = ["arrival"]

_UNSEEN: tuple[ArrivalVerdict, str] = (
    "not captured",
    "Debezium leaves a type out that it does not know; `labctl verify` cannot compare it",
)
_NOT_COMPARED = "; `labctl verify` cannot compare it"


def arrival(engine: EngineName, type_text: str) -> tuple[ArrivalVerdict, str]:
    """Return the verdict on a column whose type has no rule, and how its values arrive."""
    # PostgreSQL names the schema of an extension's type if it is not in the search path.
    plain = type_text.lower().rpartition(".")[2]
    for pattern, verdict, how in ENGINES[engine].uncompared:
        if re.fullmatch(pattern, plain, re.DOTALL):
            return verdict, how if verdict == "not captured" else how + _NOT_COMPARED
    return _UNSEEN
