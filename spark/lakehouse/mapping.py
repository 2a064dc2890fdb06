"""The mapping from fields of a change record to columns, as data.

Avro carries Debezium's meaning in `connect.name`. Where Avro has a logical type for it, the
writer's schema is annotated with that type before decoding: logical types do not change how a
value is encoded, so the value is read exactly, once, without a conversion that could round.
A Spark SQL expression converts values for which Avro has no type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakecontract.deletes import TRUNCATED
from lakecontract.special_numbers import VARIABLE, Special, declared, is_marked, with_room
from lakecontract.wide_decimals import MOST_DIGITS, scaled_text
from lakehouse.unavailable import Form, form_of

__all__ = ["MAPPINGS", "Field", "Mapped", "WriterSchema"]

_IN_YEARS = "BETWEEN -62135596800000000 AND 253402300799999999"
"""Microseconds of the years 1 to 9999, which every reader of a lake has. A source's infinity
arrives as a year far outside."""
_INSTANT = (
    r"CASE WHEN {0} RLIKE '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}"
    r"(:[0-9]{{2}}([.][0-9]{{1,6}}0*)?)?(Z|[+-][0-9]{{2}}:[0-9]{{2}})$' "
    f"AND unix_micros(to_timestamp({{0}})) {_IN_YEARS} THEN to_timestamp({{0}}) END"
)
_DATE = "CASE WHEN unix_date({0}) BETWEEN -719162 AND 2932896 THEN {0} END"
_TIMESTAMP = f"CASE WHEN unix_micros({{0}}) {_IN_YEARS} THEN {{0}} END"
_JAVA_ARRAY = (
    "startswith(t, '[') AND t RLIKE '^.+L[a-z]+[.][A-Za-z0-9_.$]+;@[0-9a-f]+$'"  # [Ljava.lang.…;@1f
)
_TEXTS = f"CASE WHEN NOT exists({{0}}, t -> coalesce({_JAVA_ARRAY}, FALSE)) THEN {{0}} END"
"""For an array of several dimensions, Debezium writes the inner arrays as Java shows them."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The form in which one `connect.name` arrives, and the column that it becomes."""

    silver_type: str
    """Type of the column, in Spark SQL."""
    note: str
    logical_type: Mapping[str, Any] | None = None
    """Avro attributes added to the writer's type before decoding."""
    expression: str | None = None
    """Spark SQL applied after decoding; `{0}` stands for the column. Null for a value that is not
    null means that the column's type cannot hold the value exactly."""


_VARIABLE_DECIMAL = "io.debezium.data.VariableScaleDecimal"
MAPPINGS: Mapping[str, Mapped] = {
    "io.debezium.time.Date": Mapped(
        "date", "days since the epoch", {"logicalType": "date"}, expression=_DATE
    ),
    "io.debezium.time.Timestamp": Mapped(
        "timestamp",
        "milliseconds, read as UTC",
        {"logicalType": "timestamp-millis"},
        expression=_TIMESTAMP,
    ),
    "io.debezium.time.MicroTimestamp": Mapped(
        "timestamp",
        "microseconds, read as UTC",
        {"logicalType": "timestamp-micros"},
        expression=_TIMESTAMP,
    ),
    "io.debezium.time.NanoTimestamp": Mapped(
        "bigint", "nanoseconds since the epoch: no silver type holds them"
    ),
    "io.debezium.time.ZonedTimestamp": Mapped(
        "timestamp", "the instant in UTC; its original zone is not kept", expression=_INSTANT
    ),
    "io.debezium.time.Time": Mapped(
        "bigint", "microseconds since midnight", expression="CAST({0} AS BIGINT) * 1000"
    ),
    "io.debezium.time.MicroTime": Mapped("bigint", "microseconds since midnight"),
    "io.debezium.time.NanoTime": Mapped("bigint", "nanoseconds since midnight"),
    "io.debezium.time.ZonedTime": Mapped("string", "ISO 8601 time with its offset, as sent"),
    "io.debezium.time.Year": Mapped("int", "the year's number"),
    "io.debezium.time.Interval": Mapped("string", "ISO 8601 duration, as sent"),
    "io.debezium.time.MicroDuration": Mapped("bigint", "microseconds"),
    _VARIABLE_DECIMAL: Mapped(
        "string",
        "every digit as written",
        expression=VARIABLE.value(),
    ),
    "io.debezium.data.Bits": Mapped("binary", "the bits, least significant byte first"),
    "io.debezium.data.Json": Mapped("string", "JSON text, as sent"),
    "io.debezium.data.Uuid": Mapped("string", "UUID text"),
    "io.debezium.data.Xml": Mapped("string", "XML text, as sent"),
    "io.debezium.data.Enum": Mapped("string", "the value's name"),
    "io.debezium.data.EnumSet": Mapped("string", "the names, joined by commas"),
    "org.apache.kafka.connect.data.Decimal": Mapped(
        "decimal(p,s)", "exactly, with the source's precision and scale; as text above 38 digits"
    ),
    "org.apache.kafka.connect.data.Date": Mapped("date", "days since the epoch", expression=_DATE),
    "org.apache.kafka.connect.data.Timestamp": Mapped(
        "timestamp", "milliseconds, read as UTC", expression=_TIMESTAMP
    ),
    "org.apache.kafka.connect.data.Time": Mapped(
        "bigint", "microseconds since midnight", expression="CAST({0} AS BIGINT) * 1000"
    ),
}
"""Every `connect.name` with a meaning of its own; anything else keeps its Avro type."""

_MOMENTS = tuple(
    f"io.debezium.time.{name}" for name in ("Date", "Timestamp", "MicroTimestamp", "ZonedTimestamp")
)
_DEEP = "labctl.deep"
_LOGICAL_TYPES_NOT_READ = ("time-millis", "time-micros")
"""Avro logical types without a Spark type: dropped, so that the plain number is read."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a writer schema."""

    name: str
    expression: str | None
    """Spark SQL template that turns the decoded value into the column's; None: no change."""
    form: Form | None = None
    """The form in which the column says that its value was not sent."""
    shown: str = "CAST({0} AS STRING)"
    """Spark SQL template of the decoded value's text, for a sentence about it."""

    def raw(self, source: str) -> str:
        """Return Spark SQL of the decoded value in the struct `source`; "" is the row itself."""
        return f"{source}.`{self.name}`" if source else f"`{self.name}`"

    def value(self, source: str) -> str:
        """Return Spark SQL of the column's value."""
        return (self.expression or "{0}").format(self.raw(source))

    def column(self, source: str) -> str:
        """Return Spark SQL of the column's value, named as the column."""
        return f"{self.value(source)} AS `{self.name}`"


@dataclass(frozen=True, slots=True)
class WriterSchema:
    """A writer's Avro schema, ready to decode with."""

    text: str
    """The annotated schema. It decodes the same bytes into exact types."""
    fields: tuple[Field, ...]

    @property
    def is_truncate(self) -> bool:
        """True if its records are not rows, but each is a TRUNCATE of the table."""
        return any(field.name == TRUNCATED for field in self.fields)

    @classmethod
    def parse(cls, text: str) -> WriterSchema:
        """Annotate the record schema in `text`. Raises ValueError when it is no record schema."""
        schema = json.loads(text)
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise ValueError(f"not an Avro record schema: {text[:200]}")
        named = _records(schema["fields"])
        fields = tuple(
            _field(field["name"], _resolved(field["type"], named)) for field in schema["fields"]
        )
        return cls(text=json.dumps(_annotate(schema)), fields=fields)


def _records(node: Any) -> dict[str, Any]:
    """Return the record types within an Avro type, by name. Each is defined at its first use."""
    found: dict[str, Any] = {}
    if isinstance(node, list):
        for one in node:
            found |= _records(one)
    elif isinstance(node, dict):
        if node.get("type") == "record":
            found |= {node["name"]: node, f"{node.get('namespace', '')}.{node['name']}": node}
        for inner in ("type", "items", "values", "fields"):
            found |= _records(node.get(inner))
    return found


def _resolved(node: Any, named: Mapping[str, Any]) -> Any:
    """Return an Avro type with the types that it names filled in."""
    if isinstance(node, list):
        return [_resolved(one, named) for one in node]
    if isinstance(node, str):
        return named.get(node, node)
    return {**node, "items": _resolved(node["items"], named)} if "items" in node else node


def _field(name: str, node: Any) -> Field:
    expression, form = _expression(node), form_of(_annotate(node))
    if (special := _special(node)) is not None:
        return Field(name, special.value(), form, special.shown())
    if (special := _special(_items(node))) is not None:
        return Field(name, special.values(), form, special.all_shown())
    if (flat := _flat(_items(node))) is not None:
        return Field(name, flat, form, "'an array of several dimensions'")
    return Field(name, expression, form)


def _special(node: Any) -> Special | None:
    """Return how to read a number that may be NaN or infinite; None for any other type."""
    kind = _only(node)
    if not isinstance(kind, dict):
        return None
    if kind.get("connect.name") == _VARIABLE_DECIMAL:
        return VARIABLE
    return declared(kind["precision"], kind.get("scale", 0)) if is_marked(kind) else None


def _items(node: Any) -> Any:
    kind = _only(node)
    return kind["items"] if isinstance(kind, dict) and kind["type"] == "array" else None


def _only(node: Any) -> Any:
    """Return an Avro type without NULL; None if it is a union of several types."""
    branches = _branches(node)
    return branches[0] if len(branches) == 1 else None


def _annotate(node: Any) -> Any:
    """Return `node`, an Avro type, with logical types from `MAPPINGS`, without those not read."""
    if isinstance(node, list):
        return [_annotate(branch) for branch in node]
    if isinstance(node, str):
        return node
    mapped = MAPPINGS.get(node.get("connect.name", ""))
    result = dict(node)
    if is_marked(node):
        result = with_room(result)
    elif result.get("logicalType") in _LOGICAL_TYPES_NOT_READ or _is_wide(node):
        del result["logicalType"]
    if mapped and mapped.logical_type:
        result |= mapped.logical_type
    if "fields" in result:
        result["fields"] = [
            field | {"type": _annotate(field["type"])} for field in result["fields"]
        ]
    for inner in ("items", "values"):
        if inner in result:
            result[inner] = _annotate(result[inner])
    if isinstance(result["type"], (dict, list)):
        result["type"] = _annotate(result["type"])
    return result


def _expression(node: Any) -> str | None:
    node = _only(node)
    if isinstance(node, dict):
        if _is_wide(node):
            return scaled_text("{0}", str(node.get("scale", 0)))
        if node["type"] == "array":
            return _TEXTS if _is_text(node["items"]) else _moments(node["items"])
        mapped = MAPPINGS.get(node.get("connect.name", ""))
        return mapped.expression if mapped else None
    return None


def _flat(node: Any) -> str | None:
    """Return the template of an array as it is, or of null if it has several dimensions.

    `labctl.DeepArrays` (`labctl/kafkaconnect/plugin`) sends such an array as NULLs, as many as the
    elements' parameter says.
    """
    kind = _only(node)
    length = kind.get("connect.parameters", {}).get(_DEEP) if isinstance(kind, dict) else None
    if length is None:
        return None
    is_deep = f"size({{0}}) = {int(length)} AND forall({{0}}, t -> t IS NULL)"
    return f"CASE WHEN NOT ({is_deep}) THEN {{0}} END"


def _moments(node: Any) -> str | None:
    """Return the template of an array of moments as it is, or of null if one is too far."""
    kind = _only(node)
    name = kind.get("connect.name") if isinstance(kind, dict) else None
    if name not in _MOMENTS:
        return None
    moment = str(MAPPINGS[name].expression).replace("{0}", "t")
    is_too_far = f"t IS NOT NULL AND ({moment}) IS NULL"
    return f"CASE WHEN NOT exists({{0}}, t -> {is_too_far}) THEN {{0}} END"


def _is_text(node: Any) -> bool:
    kind = _only(node)
    name = kind.get("connect.name") if isinstance(kind, dict) else None
    is_string = kind == "string" or (isinstance(kind, dict) and kind["type"] == "string")
    return is_string and name not in _MOMENTS


def _branches(node: Any) -> list[Any]:
    return [branch for branch in node if branch != "null"] if isinstance(node, list) else [node]


def _is_wide(node: Mapping[str, Any]) -> bool:
    """Return whether a type is a decimal of more digits than Spark has.

    If the source declares no size, as for PostgreSQL's money, Connect's converter says 64.
    """
    return node.get("logicalType") == "decimal" and node["precision"] > MOST_DIGITS
