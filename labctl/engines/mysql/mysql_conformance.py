"""Statements by which `labctl test conformance` writes and reads MySQL's tables."""

from __future__ import annotations

from labctl.conformance.odd_values import text_pairs
from labctl.conformance.traits import Traits
from labctl.engines.mysql.mysql_column_types import MYSQL

__all__ = ["TRAITS"]


def _read_as_text(form: str | None, name: str) -> str:
    if form in ("bytes", "wkb", "vector"):
        return f"HEX({name})"
    if form == "bits":
        return f"CAST({name} AS UNSIGNED)"
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
    generated=(
        "int GENERATED ALWAYS AS (`id` * 2) STORED",
        "int GENERATED ALWAYS AS (`id` * 2) VIRTUAL",
    ),
    swap=(
        "CREATE TABLE {schema}.{new} LIKE {schema}.{table}",
        "INSERT INTO {schema}.{new} ({columns}) SELECT {columns} FROM {schema}.{table}",
        "RENAME TABLE {schema}.{table} TO {schema}.{old}, {schema}.{new} TO {schema}.{table}",
    ),
    rename="ALTER TABLE {schema}.{table} RENAME TO {schema}.{new}",
    text_pairs=text_pairs(),
    null_is_said=True,
    retype=lambda name, declared, nullable: (
        f"MODIFY {name} {declared} {'NULL' if nullable else 'NOT NULL'}"
    ),
    read_as_text=_read_as_text,
)
