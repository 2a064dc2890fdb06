"""Hudi's own HoodieStreamer instead of the PySpark application, from the same properties files.

A second file includes each table's own file, which stays unchanged, and adds the values of AWS
(addresses, the table version, the catalogue). The streamer reads bronze, as the application can.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from labctl.promote.artifacts import Upload
from labctl.promote.aws_names import Names
from labctl.promote.emr_application import Argument, conf_pair, job_run, spark_conf, step
from labctl.promote.hudi_overrides import overrides
from labctl.promote.promotion import Promotion
from labctl.state.file_changes import change_files
from labctl.tables import PROPERTIES, LabTable
from lakecontract.options import GLUE_SYNC_TOOL
from lakecontract.partitions import LAYOUT
from lakecontract.properties import TableType

__all__ = [
    "SCHEMAS",
    "generated_uploads",
    "schema_path",
    "streamer_items",
    "streamer_uploads",
    "write_schemas",
]

SCHEMAS = Path("schemas")
"""Folder of the bronze schemas (`<topic>.avsc`) in the project."""
TYPES: tuple[TableType, ...] = ("COPY_ON_WRITE", "MERGE_ON_READ")
_PACKAGE = "org.apache.hudi.utilities"
_JARS = "/usr/lib/hudi"
_SHARED = "base.properties"


def schema_path(promotion: Promotion, table: LabTable) -> Path:
    """Return the path of the schema of a table's bronze files."""
    return promotion.project / SCHEMAS / f"{table.topic}.avsc"


def write_schemas(
    project: Path, tables: Iterable[LabTable], schema_of: Callable[[str], dict[str, Any]]
) -> list[Path]:
    """Write the schema of each table's bronze files from `schema_of(topic)`; return the files."""
    texts = {
        project / SCHEMAS / f"{table.topic}.avsc": json.dumps(schema_of(table.topic), indent=2)
        for table in tables
    }
    change_files(project, {path: f"{text}\n".encode() for path, text in texts.items()})
    return list(texts)


def streamer_uploads(promotion: Promotion) -> dict[str, Upload]:
    """Return properties files and schemas by name, in one folder so that includes work."""
    files = _files(promotion)
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\n{len(content)}\n".encode() + content)
    folder = f"streamer/{digest.hexdigest()[:12]}"
    return {name: Upload(f"{folder}/{name}", content) for name, content in files.items()}


def _files(promotion: Promotion) -> dict[str, bytes]:
    files = {_name(n): path.read_bytes() for n, path in promotion.properties_files.items()}
    for table in promotion.tables:
        schema = schema_path(promotion, table)
        files[schema.name] = schema.read_bytes() if schema.is_file() else b""
    return files


def _name(path: str) -> str:
    """Return a properties file's path within the project's properties folder."""
    return path.removeprefix(f"{PROPERTIES.as_posix()}/")


def _own_name(table: LabTable) -> str:
    return f"aws.{table.name}.properties"


def _table_properties(promotion: Promotion, table: LabTable, folder: str) -> str:
    lake, properties = promotion.profile.lake, table.properties
    own = {
        **overrides(promotion),
        "hoodie.streamer.source.dfs.root": f"s3://{lake.bucket}/{properties.bronze_root}",
        "hoodie.streamer.schemaprovider.source.schema.file": f"{folder}/{table.topic}.avsc",
        "hoodie.datasource.hive_sync.database": properties.database,
        "hoodie.datasource.hive_sync.table": properties.table,
        # The application starts table services itself; with a streamer, Hudi starts them.
        "hoodie.table.services.enabled": "true",
    }
    if properties.partition_fields:
        # The application moves a row if its partition changes; a streamer needs an index for it.
        own |= {
            **{key: properties.hoodie[key] for key in LAYOUT},
            "hoodie.index.type": "GLOBAL_SIMPLE",
            "hoodie.simple.index.update.partition.path": "true",
        }
    lines = "".join(f"{key}={value}\n" for key, value in own.items())
    file = properties.file.resolve().relative_to(promotion.project.resolve()).as_posix()
    return f"include={_name(file)}\n{lines}"


def generated_uploads(promotion: Promotion) -> dict[str, Upload]:
    """Return the files with AWS's values for each table, and the multi-table streamer's files."""
    prefix = _folder(promotion)
    location = f"s3://{promotion.profile.lake.artifacts}/{prefix}"
    found = {
        _own_name(table): _table_properties(promotion, table, location)
        for table in promotion.tables
    }
    for type_ in TYPES:
        tables = [t for t in promotion.tables if t.properties.table_type == type_]
        if tables:
            found[_multi_name(type_)] = _multi_properties(promotion, tables, location)
    return {name: Upload(f"{prefix}/{name}", text.encode()) for name, text in found.items()}


def _multi_properties(promotion: Promotion, tables: list[LabTable], location: str) -> str:
    ingested = ",".join(table.name for table in tables)
    lines = [f"include={_SHARED}", f"hoodie.streamer.ingestion.tablesToBeIngested={ingested}"]
    lines += [
        f"hoodie.streamer.ingestion.{table.name}.configFile={location}/{_own_name(table)}"
        for table in tables
    ]
    return "\n".join(lines) + "\n"


def _multi_name(type_: TableType) -> str:
    return f"multi-table.{type_.lower()}.properties"


def _folder(promotion: Promotion) -> str:
    upload = next(iter(streamer_uploads(promotion).values()))
    return upload.key.rpartition("/")[0]


def streamer_items(promotion: Promotion) -> list[dict[str, Any]]:
    """Return steps or job runs: one per table, or one per table type for multi-table."""
    multi = promotion.profile.emr.engine == "multi-table-streamer"
    name = Names.of(promotion).application
    if not multi:
        return [
            _item(promotion, f"{name}-{table.name}", "HoodieStreamer", _single(promotion, table))
            for table in promotion.tables
        ]
    kinds = sorted({table.properties.table_type for table in promotion.tables})
    return [
        _item(
            promotion,
            f"{name}-{kind.lower().replace('_', '-')}",
            "HoodieMultiTableStreamer",
            _multi(promotion, kind),
        )
        for kind in kinds
    ]


def _single(promotion: Promotion, table: LabTable) -> list[str]:
    lake = promotion.profile.lake
    return [
        *_common(promotion, table.properties.table_type, table.properties.ordering_field),
        "--props",
        f"s3://{lake.artifacts}/{_folder(promotion)}/{_own_name(table)}",
        "--target-base-path",
        f"s3://{lake.bucket}/silver/{table.properties.path}",
        "--target-table",
        table.properties.table,
        "--continuous",
        "--min-sync-interval-seconds",
        str(promotion.profile.emr.sync_minutes * 60),
    ]


def _multi(promotion: Promotion, kind: TableType) -> list[str]:
    lake = promotion.profile.lake
    location = f"s3://{lake.artifacts}/{_folder(promotion)}"
    ordering = sorted({table.properties.ordering_field for table in promotion.tables})
    return [
        *_common(promotion, kind, ordering[0]),
        "--props",
        f"{location}/{_multi_name(kind)}",
        "--config-folder",
        location,
        "--base-path-prefix",
        f"s3://{lake.bucket}/silver",
        "--target-table",
        promotion.tables[0].properties.table,
    ]


def _common(promotion: Promotion, kind: TableType, ordering: str) -> list[str]:
    arguments: Mapping[str, str] = {
        "--table-type": kind,
        "--op": "UPSERT",
        "--source-class": f"{_PACKAGE}.sources.AvroDFSSource",
        "--source-ordering-field": ordering,
        "--schemaprovider-class": f"{_PACKAGE}.schema.FilebasedSchemaProvider",
        "--sync-tool-classes": GLUE_SYNC_TOOL,
    }
    flat = [part for pair in arguments.items() for part in pair]
    return [*flat, "--enable-sync"]


def _item(promotion: Promotion, name: str, class_: str, arguments: list[str]) -> dict[str, Any]:
    jars = [f"{_JARS}/{jar}.jar" for jar in ("hudi-spark-bundle", "hudi-aws-bundle")]
    entry = f"{_JARS}/hudi-utilities-bundle.jar"
    conf = [part for key, value in spark_conf(promotion).items() for part in conf_pair(key, value)]
    options = [
        *conf,
        "--class",
        f"{_PACKAGE}.streamer.{class_}",
        "--jars",
        ",".join(jars),
    ]
    given: list[Argument] = [*arguments]
    if promotion.profile.emr.kind == "serverless":
        return job_run(promotion, name, entry, given, options)
    return step(name, [*options, entry, *given])
