"""The independent comparison: rows from the database driver against rows from Hudi's files."""

# ruff: noqa: S608 - names are quoted

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from labctl.config.endpoints import ObjectStore
from labctl.conformance.forms import silver_value, source_field, source_value
from labctl.kafkaconnect.arrival_forecast import silver_column
from labctl.sources import Source, TableRef

__all__ = ["differences", "read_silver", "read_source"]

Forms = Mapping[str, str | None]
"""Canonical forms by the columns' current names; None for a column that is not compared."""
_SHOWN = 5
_WIDTH = 120


def read_source(source: Source, ref: TableRef, forms: Forms, keys: Sequence[str]) -> dict[Any, Any]:
    """Return the rows by key, as canonical values."""
    names = [name for name, form in forms.items() if form is not None]
    fields = ", ".join(source_field(source.engine, forms[n], source.quote(n)) for n in names)
    rows = source.execute(f"SELECT {fields} FROM {source.qualified(ref)}")
    return _by_key(
        [
            {n: source_value(forms[n] or "", value) for n, value in zip(names, row, strict=True)}
            for row in rows
        ],
        keys,
    )


def read_silver(store: ObjectStore, name: str, forms: Forms, keys: Sequence[str]) -> dict[Any, Any]:
    """Return the rows that are not deleted, by key, as canonical values; {} without a table."""
    from hudi import HudiTableBuilder

    options = {"aws_region": store.region}
    if store.access_key and store.secret_key:
        options["aws_access_key_id"] = store.access_key.get_secret_value()
        options["aws_secret_access_key"] = store.secret_key.get_secret_value()
    if store.endpoint_url:
        options |= {"aws_endpoint": store.endpoint_url, "aws_allow_http": "true"}
    uri = f"s3://{store.bucket}/silver/{name.replace('.', '/')}"
    try:
        table = HudiTableBuilder.from_base_uri(uri).with_storage_options(options).build()
        batches = table.read()
    except Exception as error:
        if "not found" in str(error).lower():
            return {}
        raise
    named = [(name, silver_column(name), form) for name, form in forms.items() if form is not None]
    rows: list[dict[str, Any]] = []
    for batch in batches:
        columns = {
            field.name: _plain(batch.column(place)) for place, field in enumerate(batch.schema)
        }
        for place in range(batch.num_rows):
            row = {column: values[place] for column, values in columns.items()}
            if row.get("__deleted") not in (True, "true"):
                rows.append(row)
    return _by_key(
        [
            {
                # Before the first change with it, silver lacks a new column: its values are NULL.
                name: silver_value(form, row[column]) if column in row else None
                for name, column, form in named
            }
            for row in rows
        ],
        keys,
    )


def _plain(column: pa.Array[Any]) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist())
    if pa.types.is_time(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    return list(column.to_pylist())


def _by_key(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for row in rows:
        key = tuple(repr(row.get(name)) for name in keys)
        while key in found:  # a duplicate key is a difference of its own
            key = (*key, "again")
        found[key] = row
    return found


def differences(source: Mapping[Any, Any], silver: Mapping[Any, Any]) -> list[str]:
    """Describe the first differences."""
    found = [f"row {_key(key)} is missing in silver" for key in source if key not in silver]
    found += [f"row {_key(key)} is only in silver" for key in silver if key not in source]
    for key, row in source.items():
        for name, value in row.items():
            other = silver[key][name] if key in silver else value
            if type(other) is not type(value) or other != value:
                found.append(
                    f"row {_key(key)}, column {name}: {_shown(value)} in the source, "
                    f"{_shown(other)} in silver"
                )
    return found[:_SHOWN]


def _key(key: Any) -> str:
    return _shown(", ".join(key))


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
