"""Which values can be spliced into a bronze file, and the schema of the file."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

import fastavro

from lakehouse.bronze.files import with_position_fields
from lakehouse.bronze.sink_config import SinkConfig
from lakehouse.errors import UnusableSchemaError
from lakehouse.registry import SchemaRegistry
from lakehouse.wire import NO_SCHEMA, SCHEMA_ID_BYTES

__all__ = ["BronzeValues"]


@dataclass(frozen=True, slots=True)
class _Schema:
    of_file: str
    """With the position fields."""
    of_value: Any
    """As fastavro reads with it."""


class BronzeValues:
    """Checks values against the schemas they name. A schema is asked for and parsed once."""

    def __init__(self, registry: SchemaRegistry, config: SinkConfig) -> None:
        self._registry = registry
        self._config = config
        self._schemas: dict[int, _Schema] = {}

    def file_schema(self, schema_id: int) -> str:
        """The schema of files with values of `schema_id`, one that `fault` has found no fault in.

        Raises UnusableSchemaError, or OSError when the registry does not answer.
        """
        return self._schema(schema_id).of_file

    def fault(self, schema_id: bytes | None, value: bytes) -> str | None:
        """Why a value cannot be spliced into a file; None when it can.

        `schema_id` and the bare `value` are what `wire.split` makes of the record. Raises OSError
        when the registry does not answer: then nothing is known of the value.
        """
        if schema_id is None or len(schema_id) != SCHEMA_ID_BYTES:
            return NO_SCHEMA
        number = int.from_bytes(schema_id, "big", signed=True)
        try:
            schema = self._schema(number)
        except UnusableSchemaError as error:
            return error.what
        content = io.BytesIO(value)
        try:
            fastavro.schemaless_reader(content, schema.of_value, None)
        except Exception as error:
            return f"it does not decode with schema {number}: {error!r}"
        if content.tell() != len(value):
            return f"{len(value) - content.tell()} bytes are left over by schema {number}"
        return None

    def _schema(self, schema_id: int) -> _Schema:
        known = self._schemas.get(schema_id)
        if known is None:
            text = self._registry.text(schema_id)
            try:
                of_value = fastavro.parse_schema(_without_logical_types(json.loads(text)))
                known = _Schema(with_position_fields(text, self._config), of_value)
            except Exception as error:
                raise UnusableSchemaError(
                    f"schema {schema_id} cannot be used: {error!r}",
                    hint="Topic values must be Avro records",
                ) from None
            self._schemas[schema_id] = known
        return known


def _without_logical_types(node: Any) -> Any:
    """Values are only walked over, so converting them would be wasted (and could overflow)."""
    if isinstance(node, list):
        return [_without_logical_types(item) for item in node]
    if isinstance(node, dict):
        return {
            key: _without_logical_types(item) for key, item in node.items() if key != "logicalType"
        }
    return node
