"""Hudi tables of one file group, written without Hudi: copy on write, table version 6."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["write_table"]

_FILE_ID = "8a2e1a52-0000-4000-8000-000000000000-0"
_AVRO = {"int32": "int", "int64": "long", "string": "string"}
_PROPERTIES = {
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.version": "6",
    "hoodie.timeline.layout.version": "1",
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.precombine.field": "id",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.populate.meta.fields": "true",
    "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
}


def write_table(root: Path, name: str, commits: Mapping[str, pa.Table]) -> None:
    """`silver/<database>/<table>` below `root`: all rows after each commit, by its instant.

    A table has a column `id`, and others of whole numbers and texts.
    """
    folder = root / "silver" / Path(*name.split("."))
    (folder / ".hoodie").mkdir(parents=True)
    lines = [f"{key}={value}\n" for key, value in _PROPERTIES.items()]
    lines.append(f"hoodie.table.name={name.rpartition('.')[2]}\n")
    (folder / ".hoodie" / "hoodie.properties").write_text("".join(lines))
    (folder / ".hoodie_partition_metadata").write_text("commitTime=0\npartitionDepth=0\n")
    before = "null"
    for instant, rows in commits.items():
        file = folder / f"{_FILE_ID}_0-0-0_{instant}.parquet"
        pq.write_table(_with_own_columns(rows, instant, file.name), file)
        stat = {
            "fileId": _FILE_ID, "path": file.name, "prevCommit": before,
            "numWrites": rows.num_rows, "fileSizeInBytes": file.stat().st_size,
        }  # fmt: skip
        said = {
            "partitionToWriteStats": {"": [stat]}, "compacted": False, "operationType": "UPSERT",
            "extraMetadata": {"schema": json.dumps(_avro(rows.schema))},
        }  # fmt: skip
        for state in (".commit.requested", ".inflight", ".commit"):
            text = json.dumps(said) if state == ".commit" else ""
            (folder / ".hoodie" / f"{instant}{state}").write_text(text)
        before = instant


def _with_own_columns(rows: pa.Table, instant: str, file: str) -> pa.Table:
    count = rows.num_rows
    own = {
        "_hoodie_commit_time": [instant] * count,
        "_hoodie_commit_seqno": [f"{instant}_{n}" for n in range(count)],
        "_hoodie_record_key": [str(key) for key in rows["id"].to_pylist()],
        "_hoodie_partition_path": [""] * count,
        "_hoodie_file_name": [file] * count,
    }
    arrays = [pa.array(values, pa.string()) for values in own.values()]
    return pa.table([*arrays, *rows.columns], names=[*own, *rows.column_names])


def _avro(schema: pa.Schema) -> dict[str, object]:
    fields = [
        {"name": field.name, "type": ["null", _AVRO[str(field.type)]], "default": None}
        for field in schema
    ]
    return {"type": "record", "name": "row", "fields": fields}
