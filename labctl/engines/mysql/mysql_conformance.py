"""How `labctl conformance` writes and reads MySQL's tables."""

from __future__ import annotations

from labctl.conformance.traits import Traits
from labctl.engines.mysql.mysql_column_types import MYSQL

__all__ = ["TRAITS"]


def _read_as_text(form: str | None, name: str) -> str:
    if form == "bytes":
        return f"HEX({name})"
    if form == "float32":
        return f"CAST({name} AS DOUBLE)"
    if form == "float64":
        return name
    return f"CAST({name} AS CHAR)" if form else f"HEX({name})"


TRAITS = Traits(
    column_types=MYSQL,
    quotes=("`", "`"),
    longest_name=64,
    # Names hold three bytes per character; others are replaced with a warning.
    wide_characters=False,
    doubled="`id` * 2",
    null_is_said=True,
    retype=lambda name, declared, nullable: (
        f"MODIFY {name} {declared} {'NULL' if nullable else 'NOT NULL'}"
    ),
    read_as_text=_read_as_text,
)
