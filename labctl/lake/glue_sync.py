"""Differences between the lake's tables and a Glue catalog, either AWS's or the lab's own.

Both catalogs are queried with the same calls. The lab's own endpoint derives its tables from the
lake, with the same `table_input` that this module compares with, so it never needs a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from labctl.aws.batches import batches
from labctl.lake.glue_changes import Change, Json, new_database, tables_in, type_changes
from sqlapi.catalog.spark_schema import PREFIX as SPARK_SCHEMA
from sqlapi.catalog.spark_schema import schema_in
from sqlapi.catalog.table_inputs import names_of, partition_input, place_of, s3_place, table_input
from sqlapi.catalog.views import is_view
from sqlapi.source import SourceTable, TableSource

__all__ = ["GlueSync"]

_KEPT = ("Description", "Owner", "Retention")
"""Properties of a table that belong to the catalog alone."""
_CREATED_AT_ONCE, _DELETED_AT_ONCE = 100, 25
_SHOWN = 3
"""Number of partitions that a change names; there may be thousands."""


class GlueSync:
    """Comparison through a boto3 client of Glue. Raises the client's errors, and SourceError."""

    def __init__(self, glue: Any, source: TableSource) -> None:
        self._glue = glue
        self._source = source

    def changes(self, tables: Iterable[SourceTable]) -> list[Change]:
        """Return the changes that make the catalog match the lake's `tables`."""
        by_database: dict[str, list[SourceTable]] = {}
        for table in tables:
            by_database.setdefault(table.database, []).append(table)
        return [
            change
            for database, inside in sorted(by_database.items())
            for change in self._of_database(database, inside)
        ]

    def _of_database(self, database: str, tables: Sequence[SourceTable]) -> Iterator[Change]:
        known = tables_in(self._glue, database)
        if known is None:
            yield new_database(database, LocationUri=tables[0].location.rpartition("/")[0])
        for table in tables:
            schema = self._source.schema(table)
            folders = self._source.partitions(table) if table.partition_keys else []
            for name, view in names_of(table).items():
                wanted = table_input(name, table, view, schema)
                yield from self._of_table(database, wanted, (known or {}).get(name))
                if wanted["PartitionKeys"]:
                    yield from self._of_partitions(database, wanted, folders, known or {})

    def _of_table(self, database: str, wanted: Json, found: Json | None) -> Iterator[Change]:
        name = f"{database}.{wanted['Name']}"
        what = f"table {name}"
        if found is None:
            given = {"DatabaseName": database, "TableInput": wanted}
            yield Change("create", what, (), "create_table", given)
            return
        details = tuple(_differences(wanted, found))
        if details:
            given = {"DatabaseName": database, "TableInput": _merged(wanted, found)}
            refused = _not_ours(name, wanted, found)
            yield Change("update", what, details, "update_table", given, refused)

    def _of_partitions(
        self, database: str, table: Json, folders: Sequence[str], known: Mapping[str, Json]
    ) -> Iterator[Change]:
        name = table["Name"]
        place = {"DatabaseName": database, "TableName": name}
        there: dict[tuple[str, ...], Json] = {}
        if name in known:
            pages = self._glue.get_paginator("get_partitions").paginate(**place)
            there = {tuple(one["Values"]): one for page in pages for one in page["Partitions"]}
        wanted = {tuple(one["Values"]): one for one in (partition_input(table, f) for f in folders)}
        what = f"partitions of {database}.{name}"
        new = [one for values, one in wanted.items() if values not in there]
        for some in batches(new, _CREATED_AT_ONCE):
            given = {**place, "PartitionInputList": some}
            yield Change("create", what, _values(some), "batch_create_partition", given)
        for values, one in wanted.items():
            if values in there and _described(one) != _described(there[values]):
                given = {**place, "PartitionValueList": list(values), "PartitionInput": one}
                yield Change("update", what, _values([one]), "update_partition", given)
        gone = [one for values, one in there.items() if values not in wanted]
        for some in batches(gone, _DELETED_AT_ONCE):
            given = {**place, "PartitionsToDelete": [{"Values": one["Values"]} for one in some]}
            yield Change("remove", what, _values(some), "batch_delete_partition", given)


def _values(partitions: Sequence[Json]) -> tuple[str, ...]:
    shown = ["/".join(one["Values"]) for one in partitions[:_SHOWN]]
    more = len(partitions) - len(shown)
    return (*shown, f"and {more:,} more") if more else tuple(shown)


def _not_ours(name: str, wanted: Json, found: Json) -> str:
    """Return why a table of the catalog is not the lake's; empty if it is."""
    if is_view(found):
        return f"{name} of the catalog is a view"
    place = place_of(found)
    return (
        "" if place == place_of(wanted) else f"{name} of the catalog is another table, in {place}"
    )


def _differences(wanted: Json, found: Json) -> Iterator[str]:
    """Yield each difference as `what: is → should be`, ignoring what others added to the table."""
    if wanted["TableType"] != found.get("TableType"):
        yield f"type: {found.get('TableType')} → {wanted['TableType']}"
    there, ours = found.get("StorageDescriptor") or {}, wanted["StorageDescriptor"]
    yield from _columns("column", ours["Columns"], there.get("Columns") or [])
    yield from _columns("key", wanted["PartitionKeys"], found.get("PartitionKeys") or [])
    if place_of(wanted) != place_of(found):
        yield f"location: {place_of(found)} → {place_of(wanted)}"
    for key in ("InputFormat", "OutputFormat"):
        if there.get(key) != ours[key]:
            yield f"{key}: {there.get(key)} → {ours[key]}"
    library = "SerializationLibrary"
    serde = there.get("SerdeInfo") or {}
    if serde.get(library) != ours["SerdeInfo"][library]:
        yield f"{library}: {serde.get(library)} → {ours['SerdeInfo'][library]}"
    yield from _parameters(ours["SerdeInfo"]["Parameters"], serde.get("Parameters") or {})
    parameters = found.get("Parameters") or {}
    yield from _parameters(wanted["Parameters"], parameters)
    if schema_in(wanted["Parameters"]) != schema_in(parameters):
        yield "Spark's schema"
    yield from type_changes("comment of", *_comments_to_compare(wanted, found))


def _columns(word: str, wanted: Sequence[Json], found: Sequence[Json]) -> Iterator[str]:
    types = {column["Name"]: _type(column) for column in wanted}
    there = {column["Name"]: _type(column) for column in found}
    yield from type_changes(word, types, there)
    if types == there and list(types) != list(there):
        yield f"order of {word}s"


def _comments_to_compare(wanted: Json, found: Json) -> tuple[dict[str, str], dict[str, str]]:
    """Return the lake's and catalog's comments of the columns that have one in the lake."""
    ours = {name: text for name, text in _comments(wanted).items() if text}
    there = _comments(found)
    return ours, {name: there[name] for name in ours if there.get(name)}


def _comments(table: Json) -> dict[str, str]:
    storage = table.get("StorageDescriptor") or {}
    columns = [*(storage.get("Columns") or []), *(table.get("PartitionKeys") or [])]
    return {column["Name"]: column.get("Comment") or "" for column in columns}


def _type(column: Json) -> str:
    return "".join(str(column["Type"]).lower().split())


def _parameters(wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for key, value in wanted.items():
        same = s3_place(found.get(key, "")) == value if key == "path" else found.get(key) == value
        if not same and not key.startswith(SPARK_SCHEMA):
            yield f"{key}: {found.get(key, 'none')} → {value}"


def _merged(wanted: Json, found: Json) -> Json:
    """Return the table as it will be written: the lake's, with what others added to it."""
    theirs_of = _comments(found)

    def commented(columns: Sequence[Json]) -> list[Json]:
        return [
            column | {"Comment": column["Comment"] or theirs_of.get(column["Name"], "")}
            for column in columns
        ]

    theirs = {
        key: value
        for key, value in (found.get("Parameters") or {}).items()
        if not key.startswith(SPARK_SCHEMA)
    }
    storage = wanted["StorageDescriptor"]
    return {
        **{key: found[key] for key in _KEPT if found.get(key)},
        **wanted,
        "Parameters": theirs | wanted["Parameters"],
        "PartitionKeys": commented(wanted["PartitionKeys"]),
        "StorageDescriptor": storage | {"Columns": commented(storage["Columns"])},
    }


def _described(partition: Json) -> tuple[list[tuple[str, str]], str]:
    """Return the compared parts of a partition: its columns by name and type, and its location."""
    columns = (partition.get("StorageDescriptor") or {}).get("Columns") or []
    return [(column["Name"], _type(column)) for column in columns], place_of(partition)
