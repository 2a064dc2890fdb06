"""Hive's statements on tables that clients define over their own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from sqlapi.athena.outcome import Outcome, Work
from sqlapi.athena.partitions import escaped
from sqlapi.athena.results import Output
from sqlapi.athena.statements import Statement
from sqlapi.catalog.definitions import Definitions
from sqlapi.catalog.glue import Glue
from sqlapi.catalog.glue_types import of_glue
from sqlapi.catalog.views import is_view
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.sql.statement_errors import SqlError
from sqlapi.storage import LocationError, Storage

__all__ = ["TableStatements", "read_only"]

_HIVE = "org.apache.hadoop.hive"
_QL = f"{_HIVE}.ql.io"
_TEXT = (
    "org.apache.hadoop.mapred.TextInputFormat",
    f"{_QL}.HiveIgnoreKeyTextOutputFormat",
    f"{_HIVE}.serde2.lazy.LazySimpleSerDe",
)
_FORMATS = {
    "TEXTFILE": _TEXT,
    "PARQUET": (
        f"{_QL}.parquet.MapredParquetInputFormat", f"{_QL}.parquet.MapredParquetOutputFormat",
        f"{_QL}.parquet.serde.ParquetHiveSerDe",
    ),
    "ORC": (f"{_QL}.orc.OrcInputFormat", f"{_QL}.orc.OrcOutputFormat", f"{_QL}.orc.OrcSerde"),
    "AVRO": (
        f"{_QL}.avro.AvroContainerInputFormat", f"{_QL}.avro.AvroContainerOutputFormat",
        f"{_HIVE}.serde2.avro.AvroSerDe",
    ),
}  # fmt: skip
"""Input format, output format and SerDe by the name after STORED AS."""
_Json = dict[str, Any]


def read_only(database: str, name: str) -> SqlError:
    """Return the error of a statement that would change a table of the lake."""
    return SqlError("NOT_SUPPORTED", f"{database}.{name} is a table of the lake: it is read only")


def _nothing() -> Outcome:
    return Outcome(Output.of_lines([], []))


class TableStatements:
    """The statements, one per method. The methods raise SqlError."""

    def __init__(self, definitions: Definitions, storage: Storage) -> None:
        self._all = definitions
        self._glue = Glue(definitions)
        self._storage = storage

    def answers(self) -> dict[str, Callable[[Statement, Work], Outcome]]:
        return {
            "CREATE_TABLE": self.create_table,
            "ALTER_TABLE": self.alter_table,
            "MSCK_REPAIR": self.repair,
        }

    def create_table(self, statement: Statement, work: Work) -> Outcome:
        database, name = self._named(statement, work)
        details = statement.details
        definition = self._definition(name, details)
        try:
            self._glue.create_table({"DatabaseName": database, "TableInput": definition})
        except ApiError as error:
            if error.code == "EntityNotFoundException":
                raise SqlError("SCHEMA_NOT_FOUND", f"Schema {database} not found") from None
            if error.code != "AlreadyExistsException":
                raise SqlError("INVALID_TABLE_PROPERTY", error.message) from None
            if not details["exists"]:
                raise SqlError(
                    "TABLE_ALREADY_EXISTS", f"Table '{database}.{name}' already exists"
                ) from None
        return _nothing()

    def _definition(self, name: str, details: Mapping[str, Any]) -> _Json:
        columns, keys = details["columns"], details.get("keys") or []
        _check_columns([*columns, *keys])
        if "location" not in details:
            raise SqlError("INVALID_TABLE_PROPERTY", "A LOCATION must be given")
        form = details.get("format", "TEXTFILE")
        if form not in _FORMATS:
            raise SqlError("NOT_SUPPORTED", f"Tables stored as {form} are not supported")
        reads, writes, library = _FORMATS[form]
        reads, writes = details.get("formats", (reads, writes))
        parameters = {
            "serialization.format": details.get("delimited", {}).get("field.delim", "1"),
            **details.get("delimited", {}),
            **details.get("serde_properties", {}),
        }
        comment = {"comment": details["comment"]} if "comment" in details else {}
        return {
            "Name": name,
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {"EXTERNAL": "TRUE", **comment, **details.get("properties", {})},
            "PartitionKeys": keys,
            "StorageDescriptor": {
                "Columns": columns,
                "Location": self._location(details["location"]),
                "InputFormat": reads,
                "OutputFormat": writes,
                "Compressed": False,
                "SerdeInfo": {
                    "SerializationLibrary": details.get("serde", library),
                    "Parameters": parameters,
                },
            },
        }

    def _location(self, uri: str) -> str:
        """Return a location that a table may have: none of the lake's own folders."""
        try:
            self._storage.check(uri)
            self._storage.check_bucket(uri)
        except LocationError as error:
            raise SqlError("INVALID_TABLE_PROPERTY", str(error)) from None
        return uri

    @staticmethod
    def _named(statement: Statement, work: Work) -> tuple[str, str]:
        names = statement.names
        return (names[-2] if len(names) > 1 else work.database), names[-1]

    def _row(self, statement: Statement, work: Work) -> dict[str, Any]:
        database, name = self._named(statement, work)
        if self._all.lake_table(database, name):
            raise read_only(database, name)
        row = self._all.stored(database, name)
        if row is None or is_view(row["definition"]):
            raise SqlError("TABLE_NOT_FOUND", f"Table '{database}.{name}' does not exist")
        return row

    # changes

    def alter_table(self, statement: Statement, work: Work) -> Outcome:
        row = self._row(statement, work)
        definition = row["definition"]
        storage = dict(definition.get("StorageDescriptor") or {})
        details = statement.details
        keys = definition.get("PartitionKeys") or []
        if not details:
            parameters = {**(definition.get("Parameters") or {}), **statement.options}
            self._update(row, {**definition, "Parameters": parameters})
        elif "location" in details:
            storage["Location"] = self._location(details["location"])
            self._update(row, {**definition, "StorageDescriptor": storage})
        elif "add_columns" in details or "replace_columns" in details:
            kept = storage.get("Columns") or [] if "add_columns" in details else []
            added = details.get("add_columns") or details["replace_columns"]
            storage["Columns"] = [*kept, *added]
            _check_columns([*storage["Columns"], *keys])
            self._update(row, {**definition, "StorageDescriptor": storage})
        elif "add_partitions" in details:
            for values, location in details["add_partitions"]:
                self._add(row, _ordered(keys, values), location, exists=details["exists"])
        elif "drop_partitions" in details:
            for values in details["drop_partitions"]:
                self._drop(row, values, exists=details["exists"])
        elif "rename_partition" in details:
            before, after = (_ordered(keys, values) for values in details["rename_partition"])
            self._change_partition(row, before, {"Values": after})
        else:
            values, location = details["partition_location"]
            place = {**storage, "Location": self._location(location)}
            self._change_partition(row, _ordered(keys, values), {"StorageDescriptor": place})
        return _nothing()

    def _update(self, row: dict[str, Any], definition: Mapping[str, Any]) -> None:
        given = {"DatabaseName": row["database"], "TableInput": dict(definition)}
        try:
            self._glue.update_table({**given, "VersionId": str(row["version"])})
        except ApiError as error:  # another client changed it at the same time
            raise SqlError("HIVE_METASTORE_ERROR", error.message) from None

    def _add(
        self, row: dict[str, Any], values: list[str], location: str | None, *, exists: bool
    ) -> None:
        storage = row["definition"]["StorageDescriptor"]
        keys = [key["Name"] for key in row["definition"].get("PartitionKeys") or []]
        folder = "/".join(f"{escaped(k)}={escaped(v)}" for k, v in zip(keys, values, strict=True))
        place = location or f"{storage['Location'].rstrip('/')}/{folder}"
        made = {
            "Values": values, "StorageDescriptor": {**storage, "Location": self._location(place)},
        }  # fmt: skip
        given = {"DatabaseName": row["database"], "TableName": row["name"]}
        try:
            self._glue.create_partition({**given, "PartitionInput": made})
        except ApiError as error:
            if not exists or error.code != "AlreadyExistsException":
                raise SqlError("HIVE_METASTORE_ERROR", error.message) from None

    def _drop(self, row: dict[str, Any], values: Mapping[str, str], *, exists: bool) -> None:
        keys = [key["Name"].lower() for key in row["definition"].get("PartitionKeys") or []]
        if unknown := sorted(set(values) - set(keys)):
            raise SqlError("COLUMN_NOT_FOUND", f"{unknown[0]} is no partition key")
        found = [
            one["Values"]
            for one in self._all.partitions(row["database"], row["name"])
            if len(one["Values"]) == len(keys)
            and all(one["Values"][keys.index(key)] == value for key, value in values.items())
        ]
        if not found and not exists:
            raise SqlError("HIVE_METASTORE_ERROR", f"Partition not found: {dict(values)}")
        given = {"DatabaseName": row["database"], "TableName": row["name"]}
        for one in found:
            self._glue.delete_partition({**given, "PartitionValues": one})

    def _change_partition(
        self, row: dict[str, Any], values: list[str], changes: Mapping[str, Any]
    ) -> None:
        given = {"DatabaseName": row["database"], "TableName": row["name"]}
        try:
            found = self._glue.get_partition({**given, "PartitionValues": values})["Partition"]
            kept = {k: v for k, v in found.items() if k in ("Parameters", "StorageDescriptor")}
            made = {"Values": values, **kept, **changes}
            self._glue.update_partition(
                {**given, "PartitionValueList": values, "PartitionInput": made}
            )
        except ApiError as error:
            raise SqlError("HIVE_METASTORE_ERROR", error.message) from None

    def repair(self, statement: Statement, work: Work) -> Outcome:
        """Register a partition for each folder `key=value` that has none."""
        row = self._row(statement, work)
        keys = [key["Name"].lower() for key in row["definition"].get("PartitionKeys") or []]
        if not keys:
            raise SqlError("INVALID_TABLE", f"Table {row['name']} is not a partitioned table")
        location = row["definition"]["StorageDescriptor"]["Location"].rstrip("/")
        try:
            start = len(self._storage.path(location)) + 1
            paths = [path[start:] for path, _ in self._storage.sizes(location)]
        except (LocationError, OSError) as error:
            raise SqlError("HIVE_METASTORE_ERROR", str(error)) from None
        parts = [path.split("/") for path in paths]
        # The last part is a file's name, which may look like a folder's.
        folders = dict.fromkeys("/".join(p[: len(keys)]) for p in parts if len(p) > len(keys))
        known = {tuple(one["Values"]) for one in self._all.partitions(row["database"], row["name"])}
        added = []
        for folder in folders:
            values = _values(folder, keys)
            if values is not None and tuple(values) not in known:
                self._add(row, values, f"{location}/{folder}", exists=True)
                added.append(f"{row['name']}:{folder}")
        lines = ["\t".join(["Partitions not in metastore:", *added])] if added else []
        lines += [f"Repair: Added partition to metastore {one}" for one in added]
        return Outcome(Output.of_lines(["result"], lines))


def _values(folder: str, keys: list[str]) -> list[str] | None:
    """Return the values in a folder's names; None if it has other names."""
    parts = [part.partition("=") for part in folder.split("/")]
    if [unquote(name).lower() for name, sign, _ in parts if sign] != keys:
        return None
    return [unquote(value) for *_, value in parts]


def _ordered(keys: list[dict[str, Any]], values: Mapping[str, str]) -> list[str]:
    """Return the values in the keys' order. Raises SqlError unless each key has one."""
    names = [key["Name"].lower() for key in keys]
    if set(names) != set(values):
        raise SqlError("INVALID_PARTITION_VALUE", f"A partition has values of {', '.join(names)}")
    return [values[name] for name in names]


def _check_columns(columns: list[dict[str, str]]) -> None:
    names = [column["Name"].lower() for column in columns]
    if len(set(names)) < len(names):
        raise SqlError("DUPLICATE_COLUMN_NAME", "Column name specified more than once")
    for column in columns:
        of_glue(column["Type"])
