"""The connector's partitioners: they choose the folder of a record's file within its topic.

A file is `<topics.dir>/<topic>/<folder>/<topic>+<partition>+<start offset>.avro`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lakecontract.bronze_path_format import TimeFolders, parse_millis, parse_pattern, time_zone

__all__ = [
    "PARTITIONERS",
    "FolderError",
    "FolderOf",
    "Partitioner",
    "Place",
    "check_folder",
    "is_by_value",
    "partitioner_of",
    "partitioner_problems",
]

Extractor = Literal["Wallclock", "Record", "RecordField"]
_EXTRACTORS: tuple[Extractor, ...] = ("Wallclock", "Record", "RecordField")

_PACKAGE = "io.confluent.connect.storage.partitioner."
_DAILY_PATH = "'year'=YYYY/'month'=MM/'day'=dd"
_FIXED: Mapping[str, tuple[str, int]] = {
    "DailyPartitioner": (_DAILY_PATH, 86_400_000),
    "HourlyPartitioner": (f"{_DAILY_PATH}/'hour'=HH", 3_600_000),
}
"""Partitioners with a `path.format` and a `partition.duration.ms` of their own."""
_BY_TIME = (*_FIXED, "TimeBasedPartitioner")
PARTITIONERS = ("DefaultPartitioner", *_BY_TIME, "FieldPartitioner")
"""The partitioners that come with the connector."""

_LONGEST = 700
"""Most bytes of a folder: a key in S3 has at most 1,024, with the topic's name in it twice."""
_LOGICAL = "org.apache.kafka.connect.data."
"""Prefix of the types for which Kafka Connect has objects of its own."""
_NUMBERS = ("int8", "int16", "int32", "int64")


class FolderError(ValueError):
    """A record has no folder. The connector would stop at it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Facts about a record besides its value."""

    partition: int
    timestamp_ms: int
    now_ms: int
    """The time at which it is written."""


FolderOf = Callable[[Place, Mapping[str, Any]], tuple[str, int | None]]
"""Function returning a record's folder, and its time if folders use one. Raises FolderError."""


@dataclass(frozen=True, slots=True)
class Partitioner:
    """A partitioner of the connector, as it is configured."""

    fields: tuple[str, ...] = ()
    """Fields of the value that folders are named after; a dot leads into a nested record."""
    folders: TimeFolders | None = None
    """Naming of folders by time; None when they are not named by time."""
    extractor: Extractor = "Record"
    timestamp_field: str = "timestamp"

    @property
    def is_by_value(self) -> bool:
        """True if consecutive records may belong to folders in any order."""
        return bool(self.fields) or (self.folders is not None and self.extractor == "RecordField")

    def for_schema(self, schema: str) -> FolderOf:
        """Return the function that finds the folders for values of this Avro schema.

        Raises FolderError when no value of the schema can have a folder.
        """
        record = json.loads(schema)
        if self.folders is not None:
            return self._by_time(record, self.folders)
        if self.fields:
            named = [_FolderField.of(record, path) for path in self.fields]
            return lambda _place, value: ("/".join(field.folder(value) for field in named), None)
        return lambda place, _value: (f"partition={place.partition}", None)

    def _by_time(self, record: Mapping[str, Any], folders: TimeFolders) -> FolderOf:
        if self.extractor == "RecordField":
            field = _TimeField.of(record, self.timestamp_field)

            def by_field(_place: Place, value: Mapping[str, Any]) -> tuple[str, int | None]:
                timestamp = field.millis(value)
                return folders.folder(timestamp), timestamp

            return by_field
        if self.extractor == "Wallclock":
            return lambda place, _value: (folders.folder(place.now_ms), place.now_ms)
        return lambda place, _value: (folders.folder(place.timestamp_ms), place.timestamp_ms)


def check_folder(folder: str) -> None:
    """Raise FolderError for a folder that object stores or Hadoop would not take as it is."""
    if len(folder.encode()) > _LONGEST:
        raise FolderError(f"its folder's name would have more than {_LONGEST} bytes")
    if any(name in ("", ".", "..") for name in folder.split("/")):
        raise FolderError(f"its folder would be {folder!r}, which object stores do not take")


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of the value, by the names that lead to it."""

    path: str
    kind: str
    """Its type in Kafka Connect."""
    default: Any

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str) -> _Field:
        node: Any = record
        default: Any = None
        for name in path.split("."):
            fields = node.get("fields", ()) if isinstance(node, Mapping) else ()
            found = next((field for field in fields if field["name"] == name), None)
            if found is None:
                raise FolderError(f"its schema has no field {path}")
            node, default = _without_null(found["type"]), found.get("default")
        return cls(path, _kind(node), default)

    def value(self, value: Mapping[str, Any]) -> Any:
        """Return the field's value, or its default if that is null, as Connect reads it."""
        found: Any = value
        for name in self.path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        return self.default if found is None else found


@dataclass(frozen=True, slots=True)
class _FolderField(_Field):
    """A field that names a folder."""

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str) -> _FolderField:
        field = _Field.of(record, path)
        if field.kind not in (*_NUMBERS, "string", "boolean"):
            raise FolderError(f"its {path} is of the type {field.kind}, which names no folder")
        return cls(field.path, field.kind, field.default)

    def folder(self, value: Mapping[str, Any]) -> str:
        found = self.value(value)
        if isinstance(found, bool):
            found = str(found).lower()
        return f"{self.path}={'null' if found is None else found}"


@dataclass(frozen=True, slots=True)
class _TimeField(_Field):
    """A field that holds a time."""

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str) -> _TimeField:
        field = _Field.of(record, path)
        if field.kind not in ("int32", "int64", "timestamp", "string"):
            raise FolderError(f"its {path} is of the type {field.kind}, which is no time")
        return cls(field.path, field.kind, field.default)

    def millis(self, value: Mapping[str, Any]) -> int:
        found = self.value(value)
        if found is None:
            raise FolderError(f"its {self.path} is null")
        if isinstance(found, int):
            return found
        try:
            return parse_millis(found)
        except ValueError as error:
            raise FolderError(f"its {self.path} is no time: {error}") from None


def _without_null(node: Any) -> Any:
    """Return the only type besides null of a union; return a union of several as it is."""
    if isinstance(node, list):
        others = [one for one in node if one != "null"]
        return others[0] if len(others) == 1 else node
    return node


def _kind(node: Any) -> str:
    """Return a field's type in Kafka Connect, as the Avro converter makes it."""
    if isinstance(node, list):
        return "union"
    if not isinstance(node, Mapping):
        return {"int": "int32", "long": "int64"}.get(node, str(node))
    name, logical = str(node.get("connect.name", "")), str(node.get("logicalType"))
    if f"{_LOGICAL}Timestamp" == name or logical == "timestamp-millis":
        kind = "timestamp"
    elif name.startswith(_LOGICAL):
        kind = name.removeprefix(_LOGICAL).lower()
    elif logical in ("date", "time-millis", "decimal"):
        kind = logical
    elif node["type"] == "enum":
        kind = "string"
    else:
        kind = str(node.get("connect.type") or _kind(node["type"]))
    return kind


def partitioner_problems(values: Mapping[str, str]) -> list[str]:
    """Return why folders cannot be named as the connector names them, one sentence per reason.

    A value that is still a reference is not checked.
    """
    problems: list[str] = []

    def look(key: str, check: Callable[[str], str | None], default: str | None = None) -> None:
        value = values.get(key, default)
        if value is None or not value.strip():
            problems.append(f"{key} is missing")
        elif "${" not in value and (reason := check(value)):
            problems.append(f"{key}={value} cannot be honoured: {reason}")

    name = _name(values)
    if "${" not in name and name not in PARTITIONERS:
        known = ", ".join(_PACKAGE + one for one in PARTITIONERS)
        return [f"partitioner.class={values['partitioner.class']} cannot be honoured, {known} can"]
    look("timezone", _no_zone)
    if name in _BY_TIME:
        look("locale", lambda _: None)
        look("timestamp.extractor", _no_extractor, "Wallclock")
        if values.get("timestamp.extractor") == "RecordField":
            look("timestamp.field", _no_field, "timestamp")
    if name == "TimeBasedPartitioner":
        look("path.format", _no_pattern)
        look("partition.duration.ms", _no_duration)
    if name == "FieldPartitioner":
        look("partition.field.name", _no_field)
    return problems


def is_by_value(values: Mapping[str, str]) -> bool:
    """Return whether a configuration names folders after the records' values."""
    name = _name(values)
    by_field = values.get("timestamp.extractor") == "RecordField"
    return name == "FieldPartitioner" or (name in _BY_TIME and by_field)


def partitioner_of(values: Mapping[str, str]) -> Partitioner:
    """Return the partitioner of a configuration in which `partitioner_problems` finds none."""
    name = _name(values)
    if name == "FieldPartitioner":
        return Partitioner(fields=tuple(_names(values["partition.field.name"])))
    if name not in _BY_TIME:
        return Partitioner()
    pattern, duration = _FIXED.get(name) or (
        values["path.format"].removesuffix("/"),
        int(values["partition.duration.ms"]),
    )
    zone = time_zone(values["timezone"].strip())
    given = values.get("timestamp.extractor", "Wallclock")
    return Partitioner(
        folders=TimeFolders(parse_pattern(pattern), zone, duration),
        extractor=next(one for one in _EXTRACTORS if one == given),
        timestamp_field=values.get("timestamp.field", "timestamp"),
    )


def _name(values: Mapping[str, str]) -> str:
    """Return the partitioner's class, without the package of those of the connector."""
    return values.get("partitioner.class", f"{_PACKAGE}DefaultPartitioner").removeprefix(_PACKAGE)


def _names(value: str) -> Sequence[str]:
    return [name.strip() for name in value.split(",")]


def _no_zone(value: str) -> str | None:
    return _error_of(lambda: time_zone(value.strip()))


def _no_pattern(value: str) -> str | None:
    if any(name in ("", ".", "..") for name in value.removesuffix("/").split("/")):
        return "it names a folder without a name"
    return _error_of(lambda: parse_pattern(value))


def _no_extractor(value: str) -> str | None:
    return None if value in _EXTRACTORS else f"{', '.join(_EXTRACTORS)} can"


def _no_duration(value: str) -> str | None:
    fits = value.isdecimal() and int(value) >= 1
    return None if fits else "it is not a whole number of 1 or more"


def _no_field(value: str) -> str | None:
    parts = [part for name in _names(value) for part in name.split(".")]
    return None if all(part.strip() for part in parts) else "it has a field without a name"


def _error_of(work: Callable[[], object]) -> str | None:
    try:
        work()
    except ValueError as error:
        return str(error)
    return None
