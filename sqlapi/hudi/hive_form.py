"""Hudi's form of a table in Hive's catalogs, as its own sync to Glue writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlapi.catalog.spark_schema import schema_parameters
from sqlapi.hudi.names import META_PREFIX

__all__ = ["input_format", "is_read_optimized", "parameters", "plain_field", "serde_parameters"]

_INPUT = "org.apache.hudi.hadoop."
_READ_OPTIMIZED = "hoodie.query.as.ro.table"


def input_format(*, merged: bool) -> str:
    """Return the class that reads the table; `merged` means with rows of log files."""
    return (
        f"{_INPUT}realtime.HoodieParquetRealtimeInputFormat"
        if merged
        else (f"{_INPUT}HoodieParquetInputFormat")
    )


def serde_parameters(*, read_optimized: bool) -> dict[str, str]:
    """Return the parameters of the table's SerDe."""
    return {_READ_OPTIMIZED: str(read_optimized).lower(), "serialization.format": "1"}


def is_read_optimized(serde: Mapping[str, str]) -> bool:
    """Return whether a SerDe's parameters describe a table's read optimized form."""
    return serde.get(_READ_OPTIMIZED) == "true"


def parameters(fields: Sequence[pa.Field[Any]], keys: Sequence[str]) -> dict[str, str]:
    """Return the table's parameters, with Spark's schema; `keys` are the partition's columns."""
    return {
        # This concerns Hudi's metadata table, which the lab does not write.
        "hudi.metadata-listing-enabled": "FALSE",
        "spark.sql.sources.provider": "hudi",
        **schema_parameters(fields, keys),
    }


def plain_field(field: pa.Field[Any]) -> pa.Field[Any]:
    """Make Hudi's own columns nullable, as in Hudi; hudi-rs declares them as not null."""
    return field.with_nullable(True) if field.name.startswith(META_PREFIX) else field
