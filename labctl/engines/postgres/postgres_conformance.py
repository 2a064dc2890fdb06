"""Statements by which `labctl test conformance` writes and reads PostgreSQL's tables."""

from __future__ import annotations

from labctl.conformance.odd_values import text_pairs
from labctl.conformance.traits import Partitioning, Traits
from labctl.engines.postgres.postgres_column_types import POSTGRES

__all__ = ["TRAITS"]


def _read_as_text(form: str | None, name: str) -> str:
    if form is not None and form.endswith("[]"):
        return f"to_json({name})::text"
    return _READ.get(form or "", "{0}::text").format(name)


_READ = {
    "bytes": "encode({0}, 'hex')",
    "padded": "textin(bpcharout({0}))",
    # A cast to text adds the mask /32.
    "output": "CASE WHEN family({0}) IS NOT NULL THEN textin(inet_out({0})) END",
    "hstore": "hstore_to_json({0})::text",
}


TRAITS = Traits(
    column_types=POSTGRES,
    quotes=('"', '"'),
    longest_name=63,
    names_in_bytes=True,
    tells_case=True,
    generated=(
        'integer GENERATED ALWAYS AS ("id" * 2) STORED',
        'integer GENERATED ALWAYS AS ("id" * 2) VIRTUAL',
    ),
    swap=(
        "CREATE TABLE {schema}.{new} (LIKE {schema}.{table} INCLUDING ALL)",
        "INSERT INTO {schema}.{new} ({columns}) SELECT {columns} FROM {schema}.{table}",
        "ALTER TABLE {schema}.{table} RENAME TO {old}",
        "ALTER TABLE {schema}.{new} RENAME TO {table}",
    ),
    swap_needs_apply=True,
    rename="ALTER TABLE {schema}.{table} RENAME TO {new}",
    partitioning=Partitioning(
        clause="PARTITION BY RANGE ({key})",
        add="CREATE TABLE {part} PARTITION OF {table} FOR VALUES FROM ({low}) TO ({high})",
        like="CREATE TABLE {part} (LIKE {table} INCLUDING ALL)",
        attach="ALTER TABLE {table} ATTACH PARTITION {part} FOR VALUES FROM ({low}) TO ({high})",
        detach="ALTER TABLE {table} DETACH PARTITION {part}",
        drop="DROP TABLE {part}",
    ),
    text_pairs=text_pairs(),
    rule_names={
        "char": "character",
        "varchar": "character varying",
        "short_text": "character varying",
        "positive": "integer",
        "mood": "enum",
        "time": "time without time zone",
        "timestamp": "timestamp without time zone",
        "timestamptz": "timestamp with time zone",
    },
    pads_binary_keys=False,
    read_as_text=_read_as_text,
    drop_database="DROP DATABASE {name} WITH (FORCE)",
    other_database="postgres",
)
