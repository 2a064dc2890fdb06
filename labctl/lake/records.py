"""Change records as topics and bronze files carry them, with values people can read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import fastavro
import pyarrow as pa

from lakecontract.deletes import TRUNCATED
from lakecontract.special_numbers import special_name

__all__ = ["AvroDecoder", "Record", "converters", "readable", "to_table"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS_PER_MICRO = 1000

Converter = Callable[[Any], Any]


@dataclass(frozen=True)
class Record:
    """A record with its position in a topic."""

    topic: str
    partition: int
    offset: int
    timestamp: datetime | None
    """Kafka's timestamp of the record."""
    key: Any
    value: Any
    """A dict for a change; None for a tombstone."""
    file: str | None = None
    """The bronze object it was read from, relative to the bucket."""

    def matches(self, wanted: Mapping[str, object]) -> bool:
        """Return whether the value (else the key) has all `wanted` fields.

        A text matches the number that it writes: '99.9' matches 99.90. A TRUNCATE record always
        matches because it removes every row.
        """
        if isinstance(self.value, dict) and TRUNCATED in self.value:
            return True
        fields = {
            **(self.key if isinstance(self.key, dict) else {}),
            **(self.value if isinstance(self.value, dict) else {}),
        }
        return all(name in fields and _is(fields[name], value) for name, value in wanted.items())


def _is(field: object, wanted: object) -> bool:
    if field == wanted or str(field) == str(wanted):
        return True
    if not isinstance(field, int | float | Decimal) or isinstance(field, bool):
        return False
    try:
        return Decimal(str(field)) == Decimal(str(wanted))
    except InvalidOperation:
        return False


def to_table(records: Sequence[Record]) -> pa.Table:
    """Return a row per record: `_topic`, `_partition`, `_offset`, `_file`, then the value's fields.

    A value without fields, such as one that is not Avro of its schema, is in `_value`.
    """
    rows = [
        {
            "_topic": record.topic,
            "_partition": record.partition,
            "_offset": record.offset,
            "_file": record.file,
            **_fields(record.value),
        }
        for record in records
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _fields(value: Any) -> dict[str, Any]:
    if value is None or isinstance(value, dict):
        return value or {}
    return {"_value": str(value)}


def _column(values: Sequence[Any]) -> pa.Array[Any]:
    """Return an array of the values, as text if their types differ (a date after 9999, say)."""
    if len({type(value) for value in values if value is not None}) > 1:
        values = [None if value is None else str(value) for value in values]
    found: pa.Array[Any] = pa.array(values)
    return found


class AvroDecoder:
    """Decoder of bare Avro of one writer schema into Python values."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = fastavro.parse_schema(schema)
        self._converters = converters(schema)

    def decode(self, data: bytes) -> Any:
        """Decode a record. Raise ValueError or EOFError for another schema, if detectable."""
        value = fastavro.schemaless_reader(io.BytesIO(data), self._schema, None)
        return readable(value, self._converters)


def readable(value: Any, by_field: Mapping[str, Converter]) -> Any:
    """Convert the Debezium temporal and decimal fields of a decoded record to Python values."""
    if not isinstance(value, dict):
        return value
    return {
        name: by_field[name](field) if name in by_field and field is not None else field
        for name, field in value.items()
    }


def converters(schema: Any) -> dict[str, Converter]:
    """Return, per field of a record schema, the function that makes its Avro value readable."""
    fields: Iterable[dict[str, Any]] = schema.get("fields", ()) if isinstance(schema, dict) else ()
    found = ((field["name"], _semantic(field["type"])) for field in fields)
    return {name: _CONVERTERS[kind] for name, kind in found if kind in _CONVERTERS}


def _semantic(kind: Any) -> str | None:
    """Return Kafka Connect's name for the meaning of a type, also in a union with null."""
    if isinstance(kind, list):
        return next((name for name in map(_semantic, kind) if name), None)
    return kind.get("connect.name") if isinstance(kind, dict) else None


def _since_epoch(**unit: float) -> datetime:
    return _EPOCH + timedelta(**unit)


def _unless_out_of_range(convert: Converter) -> Converter:
    def converted(value: Any) -> Any:
        try:
            return convert(value)
        except (OverflowError, ValueError):
            return value  # Python's calendar ends in year 9999: the number itself is exact

    return converted


def _from_nanos(value: int) -> Any:
    micros, rest = divmod(value, _NANOS_PER_MICRO)
    return value if rest else _since_epoch(microseconds=micros)


def _variable_scale(value: dict[str, Any]) -> Any:
    if not value["value"]:
        return special_name(value["scale"])
    return Decimal(int.from_bytes(value["value"], "big", signed=True)).scaleb(-value["scale"])


def _time_of_day(**unit: float) -> Any:
    moment = _since_epoch(**unit)
    return moment.time() if moment.date() == _EPOCH.date() else moment - _EPOCH


_CONVERTERS: dict[str, Converter] = {
    "io.debezium.time.Date": _unless_out_of_range(lambda v: date(1970, 1, 1) + timedelta(days=v)),
    "io.debezium.time.Timestamp": _unless_out_of_range(lambda v: _since_epoch(milliseconds=v)),
    "io.debezium.time.MicroTimestamp": _unless_out_of_range(lambda v: _since_epoch(microseconds=v)),
    "io.debezium.time.NanoTimestamp": _unless_out_of_range(_from_nanos),
    "io.debezium.time.Time": _unless_out_of_range(lambda v: _time_of_day(milliseconds=v)),
    "io.debezium.time.MicroTime": _unless_out_of_range(lambda v: _time_of_day(microseconds=v)),
    "io.debezium.data.VariableScaleDecimal": _variable_scale,
}
