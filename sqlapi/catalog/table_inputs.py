"""The catalog's description of a lake table: names, columns, formats, Spark's parameters.

A Hudi table has the description that Hudi's own sync to Glue (AwsGlueCatalogSyncTool) writes. So
Athena, Spark and Hive can read it, and neither tool changes the table that the other has written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sqlapi.hudi import hive_form
from sqlapi.source import MergeView, SourceTable
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import of_arrow

__all__ = [
    "names_of",
    "partition_input",
    "partition_values",
    "place_of",
    "s3_place",
    "table_input",
]

Json = dict[str, Any]
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet."


def names_of(table: SourceTable) -> dict[str, MergeView]:
    """Return a table's names: `t`; for MERGE_ON_READ also `t_rt`, which is the same, and `t_ro`."""
    names = {table.name: MergeView()}
    if table.kind == "MERGE_ON_READ":
        names[f"{table.name}_rt"] = MergeView()
        names[f"{table.name}_ro"] = MergeView(read_optimized=True)
    return names


def table_input(name: str, table: SourceTable, view: MergeView, schema: pa.Schema) -> Json:
    """Return Glue's TableInput, without columns whose type Athena does not have."""
    fields = [hive_form.plain_field(field) for field in schema if _known(field.type)]
    columns = [
        {
            "Name": field.name.lower(),
            "Type": of_arrow(field.type).glue,
            "Comment": table.comments.get(field.name.lower(), ""),
        }
        for field in fields
    ]
    keys = [key.lower() for key in table.partition_keys]
    by_name = {column["Name"]: column for column in columns}
    serde: Mapping[str, str] = {"path": table.location}
    parameters = {"EXTERNAL": "TRUE", **table.parameters}
    if table.kind == "PARQUET":
        parameters["classification"] = "parquet"
    else:
        serde = {**serde, **hive_form.serde_parameters(read_optimized=view.read_optimized)}
        parameters |= hive_form.parameters(fields, table.partition_keys)
    return {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": parameters,
        "PartitionKeys": [by_name[key] for key in keys if key in by_name],
        "StorageDescriptor": {
            "Columns": [column for column in columns if column["Name"] not in keys],
            "Location": table.location,
            "InputFormat": _input_format(table, view),
            "OutputFormat": f"{_PARQUET}MapredParquetOutputFormat",
            "SerdeInfo": {
                "SerializationLibrary": f"{_PARQUET}serde.ParquetHiveSerDe",
                "Parameters": dict(serde),
            },
        },
    }


def partition_input(definition: Mapping[str, Any], partition: str) -> Json:
    """Return Glue's PartitionInput of a folder of the table that `definition` describes."""
    storage = definition["StorageDescriptor"]
    return {
        "Values": partition_values(partition),
        "StorageDescriptor": {**storage, "Location": f"{storage['Location']}/{partition}"},
    }


def partition_values(partition: str) -> list[str]:
    """Return the values in `year=2024/kind=a%2Fb`; like Hudi's, they stay escaped."""
    return [part.partition("=")[2] if "=" in part else part for part in partition.split("/")]


def _input_format(table: SourceTable, view: MergeView) -> str:
    if table.kind == "PARQUET":
        return f"{_PARQUET}MapredParquetInputFormat"
    merged = table.kind == "MERGE_ON_READ" and not view.read_optimized
    return hive_form.input_format(merged=merged)


def _known(kind: pa.DataType) -> bool:
    try:
        of_arrow(kind)
    except SqlError:
        return False
    return True


def place_of(described: Mapping[str, Any]) -> str:
    """Return the location of a table or partition of a catalog, normalized by `s3_place`."""
    return s3_place((described.get("StorageDescriptor") or {}).get("Location") or "")


def s3_place(place: str) -> str:
    """Return the normal form of a folder's address: `s3://`, without a slash at the end."""
    return place.rstrip("/").replace("s3a://", "s3://")
