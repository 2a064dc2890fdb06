"""How `labctl conformance` writes and reads PostgreSQL's tables."""

from __future__ import annotations

from labctl.conformance.traits import Traits
from labctl.engines.postgres.postgres_column_types import POSTGRES

__all__ = ["TRAITS"]


def _read_as_text(form: str | None, name: str) -> str:
    casts = {"bytes": "encode({0}, 'hex')", "padded": "textin(bpcharout({0}))"}
    return casts.get(form or "", "{0}::text").format(name)


TRAITS = Traits(
    column_types=POSTGRES,
    quotes=('"', '"'),
    longest_name=63,
    names_in_bytes=True,
    tells_case=True,
    doubled='"id" * 2',
    pads_binary_keys=False,
    read_as_text=_read_as_text,
    drop_database="DROP DATABASE {name} WITH (FORCE)",
    other_database="postgres",
)
