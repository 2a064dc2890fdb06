"""Checks whether values can be spliced into a bronze file, and finds its schema and folder."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import fastavro

from lakecontract.bronze_files import with_position_fields
from lakecontract.bronze_partitioner import FolderError, FolderOf, Place, check_folder
from lakecontract.errors import UnusableSchemaError
from lakecontract.sink_config import SinkConfig
from lakecontract.wire import NO_SCHEMA, SCHEMA_ID_BYTES
from lakehouse.registry import SchemaRegistry

__all__ = ["BronzeValues", "UnfitValueError", "UsableValue"]


class UnfitValueError(ValueError):
    """A value that cannot go into a bronze file, with the reason."""


@dataclass(frozen=True, slots=True)
class UsableValue:
    """A value that can go into a bronze file."""

    schema_id: int
    folder: str
    time_ms: int | None
    """The time its folder is named after; None where folders are not named by time."""


@dataclass(frozen=True, slots=True)
class _Schema:
    of_file: str
    """The schema of a file, with the position fields."""
    of_value: Any
    """The schema of a value, as fastavro reads with it."""
    folder_of: FolderOf


class BronzeValues:
    """Checks values against the schemas they name. Each schema is fetched and parsed once."""

    def __init__(self, registry: SchemaRegistry, config: SinkConfig) -> None:
        self._registry = registry
        self._config = config
        self._schemas: dict[int, _Schema] = {}

    def file_schema(self, schema_id: int) -> str:
        """Return the schema of files with values of `schema_id`, which `check` has found usable.

        Raises UnusableSchemaError, or OSError when the registry does not answer.
        """
        return self._schema(schema_id).of_file

    def check(
        self, schema_id: bytes | None, value: bytes, offset: int, place: Place
    ) -> UsableValue:
        """Check that a value can be spliced into a file, and find the file's folder.

        `schema_id` and the bare `value` are the results of `wire.split`. Raises UnfitValueError if
        the value cannot be spliced, and OSError when the registry does not answer: then nothing is
        known of the value.
        """
        if schema_id is None or len(schema_id) != SCHEMA_ID_BYTES:
            raise UnfitValueError(NO_SCHEMA)
        number = int.from_bytes(schema_id, "big", signed=True)
        try:
            schema = self._schema(number)
        except UnusableSchemaError as error:
            raise UnfitValueError(error.what) from None
        content = io.BytesIO(value)
        try:
            fields: Any = fastavro.schemaless_reader(content, schema.of_value, None)
        except Exception as error:
            raise UnfitValueError(f"it does not decode with schema {number}: {error!r}") from None
        if content.tell() != len(value):
            raise UnfitValueError(
                f"{len(value) - content.tell()} bytes are left over by schema {number}"
            )
        try:
            folder, time_ms = schema.folder_of(place, self._with_position(fields, offset, place))
            check_folder(folder)
        except FolderError as error:
            raise UnfitValueError(f"{error} (schema {number})") from None
        return UsableValue(number, folder, time_ms)

    def _with_position(
        self, fields: Mapping[str, Any], offset: int, place: Place
    ) -> Mapping[str, Any]:
        """Return the value as the partitioner sees it, after the transform adds the position."""
        if not self._config.partitioner.is_by_value:
            return fields
        names = self._config.position_fields
        return {
            **fields,
            **dict(zip(names, (place.partition, offset, place.timestamp_ms), strict=True)),
        }

    def _schema(self, schema_id: int) -> _Schema:
        known = self._schemas.get(schema_id)
        if known is None:
            text = self._registry.text(schema_id)
            try:
                of_file = with_position_fields(text, self._config)
                known = _Schema(
                    of_file,
                    fastavro.parse_schema(_without_logical_types(json.loads(text))),
                    self._config.partitioner.for_schema(of_file),
                )
            except FolderError as error:
                raise UnusableSchemaError(
                    f"{error} (schema {schema_id})",
                    hint="Correct the fields that the sink connector's JSON names",
                ) from None
            except Exception as error:
                raise UnusableSchemaError(
                    f"schema {schema_id} cannot be used: {error!r}",
                    hint="Topic values must be Avro records",
                ) from None
            self._schemas[schema_id] = known
        return known


def _without_logical_types(node: Any) -> Any:
    """Drop logical types. Converting values that are only walked over would be wasted effort.

    It could also overflow.
    """
    if isinstance(node, list):
        return [_without_logical_types(item) for item in node]
    if isinstance(node, dict):
        return {
            key: _without_logical_types(item) for key, item in node.items() if key != "logicalType"
        }
    return node
