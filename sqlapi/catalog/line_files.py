"""Files of lines: delimited text, CSV and JSON, also compressed."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from sqlapi.catalog.field_texts import converted
from sqlapi.sql.arrow import arrow_type
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["FILE", "read_json", "read_text", "values_array"]

FILE = "\x00file"
"""The column with the file that a row is in; no table's own column has this name."""
_COMPRESSIONS: dict[str, Literal["gzip", "zstd", "bz2"]] = {
    "gz": "gzip",
    "zst": "zstd",
    "bz2": "bz2",
}
csv.field_size_limit(2**31 - 1)  # a field is as long as its file allows
_UNREAD = ("snappy", "lzo", "lz4", "deflate", "zip")
_KNOWN = {
    "field.delim", "serialization.format", "escape.delim", "line.delim", "collection.delim",
    "mapkey.delim", "serialization.null.format", "serialization.encoding",
}  # fmt: skip
_CSV_KNOWN = {"separatorChar", "quoteChar", "escapeChar", "serialization.format"}
_JSON_KNOWN = {"serialization.format", "ignore.malformed.json", "case.insensitive", "paths"}


@dataclass(frozen=True)
class _Form:
    """The form of a delimited text file."""

    delimiter: str
    escape: str = ""
    null: str = "\\N"


def read_text(
    storage: Storage,
    uris: Sequence[str],
    serde: Mapping[str, Any],
    names: Sequence[str],
    columns: Mapping[str, Type],
    skip: int,
) -> pa.Table:
    """Return the columns and FILE; `names` are all columns of the files, `skip` header lines.

    A row with fewer fields has NULL for the others; fields beyond the columns are left out.
    Raises SqlError and OSError.
    """
    parameters = serde.get("Parameters") or {}
    if "OpenCSV" in (serde.get("SerializationLibrary") or ""):
        _check(parameters, _CSV_KNOWN)
        split = _csv_split(parameters)
    else:
        _check(parameters, _KNOWN)
        split = _split(_form(parameters))
    fields: dict[str, list[str | None]] = {name: [] for name in columns}
    places = [(names.index(name), fields[name]) for name in columns]
    paths: list[str] = []
    for uri in uris:
        for line in _lines(storage, uri, skip):
            row = split(line)
            for at, found in places:
                found.append(row[at] if at < len(row) else None)
            paths.append(uri)
    made = {
        name: converted(pa.chunked_array([pa.array(fields[name], pa.string())]), kind)
        for name, kind in columns.items()
    }
    return pa.table([*made.values(), pa.array(paths, pa.string())], names=[*made, FILE])


def _check(parameters: Mapping[str, str], known: set[str]) -> None:
    if unknown := sorted(set(parameters) - known):
        raise SqlError("NOT_SUPPORTED", f"Property {unknown[0]} of text files is not read")


def _form(parameters: Mapping[str, str]) -> _Form:
    delimiter = parameters.get("field.delim", parameters.get("serialization.format", "\x01"))
    if delimiter == "1" and "field.delim" not in parameters:
        delimiter = "\x01"
    if parameters.get("line.delim", "\n") != "\n":
        raise SqlError("NOT_SUPPORTED", "Lines end with '\\n' alone, as in Athena")
    if parameters.get("serialization.encoding", "utf-8").lower() not in ("utf-8", "utf8"):
        raise SqlError("NOT_SUPPORTED", "Property serialization.encoding of text files is not read")
    escape = parameters.get("escape.delim", "")
    for sign in (delimiter, escape or "\\"):
        if len(sign) != 1 or not sign.isascii() or sign in "\r\n":
            raise SqlError("NOT_SUPPORTED", f"The delimiter {sign!r} is not supported")
    return _Form(delimiter, escape, parameters.get("serialization.null.format", "\\N"))


def _split(form: _Form) -> Callable[[str], list[str | None]]:
    def split(line: str) -> list[str | None]:
        if not form.escape or form.escape not in line:
            return [None if part == form.null else part for part in line.split(form.delimiter)]
        return [None if raw == form.null else value for raw, value in _escaped_parts(line, form)]

    return split


def _escaped_parts(line: str, form: _Form) -> Iterator[tuple[str, str]]:
    """Yield each field as it stands and with its escapes resolved."""
    start, at = 0, 0
    signs: list[str] = []
    while at < len(line):
        if line[at] == form.escape and at + 1 < len(line):
            signs.append({"n": "\n", "r": "\r"}.get(line[at + 1], line[at + 1]))
            at += 2
        elif line[at] == form.delimiter:
            yield line[start:at], "".join(signs)
            at += 1
            start, signs = at, []
        else:
            signs.append(line[at])
            at += 1
    yield line[start:], "".join(signs)


def _csv_split(parameters: Mapping[str, str]) -> Callable[[str], list[str | None]]:
    delimiter, quote = parameters.get("separatorChar", ","), parameters.get("quoteChar", '"')
    escape = parameters.get("escapeChar", "\\")
    signs = (delimiter, quote, escape)
    if any(len(sign) != 1 or sign in "\r\n" for sign in signs) or len({*signs}) < 2:
        raise SqlError("NOT_SUPPORTED", f"The delimiters {signs!r} are not supported")

    def split(line: str) -> list[str | None]:
        try:
            rows = csv.reader(
                [line], delimiter=delimiter, quotechar=quote, doublequote=True,
                escapechar=escape if escape != quote else None,
                strict=True,  # else a quote that is still open at the end of a line is none
            )  # fmt: skip
            return list(next(rows, [""]) or [""])
        except csv.Error as error:
            raise SqlError("HIVE_BAD_DATA", f"A line is no CSV: {error}") from None

    return split


def _lines(storage: Storage, uri: str, skip: int = 0) -> Iterator[str]:
    """Yield a file's lines without their ends, beginning after `skip` lines."""
    ending = uri.rpartition("/")[2].rpartition(".")[2].lower()
    if ending in _UNREAD:
        raise SqlError("NOT_SUPPORTED", f"Text files compressed as .{ending} are not read")
    data: Any = pa.py_buffer(storage.read(uri))
    if compression := _COMPRESSIONS.get(ending):
        with pa.input_stream(data, compression=compression) as stream:
            data = stream.read()
    try:
        text = bytes(data).decode()
    except UnicodeDecodeError:
        raise SqlError("HIVE_BAD_DATA", f"{uri} is not in UTF-8") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for line in lines[skip:]:
        yield line.removesuffix("\r")


def read_json(
    storage: Storage,
    uris: Sequence[str],
    serde: Mapping[str, Any],
    columns: Mapping[str, Type],
    skip: int,
) -> pa.Table:
    """Return the columns of files with an object per line, and FILE. Raises SqlError, OSError."""
    _check(serde.get("Parameters") or {}, _JSON_KNOWN)
    lenient = (serde.get("Parameters") or {}).get("ignore.malformed.json", "").lower() == "true"
    rows: list[dict[str, Any]] = []
    paths: list[str] = []
    for uri in uris:
        for line in _lines(storage, uri, skip):
            if not line.strip():
                continue
            rows.append(_object(line, uri, lenient=lenient))
            paths.append(uri)
    made = {
        name: values_array([row.get(name) for row in rows], kind) for name, kind in columns.items()
    }
    return pa.table([*made.values(), pa.array(paths, pa.string())], names=[*made, FILE])


def _object(line: str, uri: str, *, lenient: bool) -> dict[str, Any]:
    try:
        told = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict):
        return {key.lower(): value for key, value in told.items()}
    if lenient:
        return {}
    raise SqlError("HIVE_BAD_DATA", f"{uri}: a line is no JSON object")


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def values_array(values: Sequence[Any], kind: Type) -> Any:
    """Return Python's values of JSON or Avro as a column of a type. Raises SqlError."""
    if kind.args:
        return pa.array([_nested(value, kind) for value in values], arrow_type(kind))
    if kind.name == "varbinary":
        return pa.array([_binary(value) for value in values], pa.binary())
    if any(isinstance(value, bytes) for value in values):
        raise SqlError("HIVE_BAD_DATA", f"Bytes in a column of type {kind}")
    texts = [_text(value) for value in values]
    try:
        return pa.array(texts, pa.string()).cast(arrow_type(kind))
    except pa.ArrowInvalid:
        raise SqlError("HIVE_BAD_DATA", f"A value is no {kind}") from None


def _binary(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError):
        raise SqlError("HIVE_BAD_DATA", "A value of type varbinary is no text in Base64") from None


def _nested(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    match kind.name, value:
        case "array", list():
            return [_nested(one, kind.args[0]) for one in value]
        case "map", dict():
            return [
                (_nested(key, kind.args[0]), _nested(one, kind.args[1]))
                for key, one in value.items()
            ]
        case "row", dict():
            small = {key.lower(): one for key, one in value.items()}
            fields = zip(kind.fields, kind.args, strict=True)
            return {name: _nested(small.get((name or "").lower()), one) for name, one in fields}
        case (("array" | "map" | "row"), _):
            raise SqlError("HIVE_BAD_DATA", f"A value is no {kind.name}")
    return values_array([value], kind)[0].as_py()


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float, list, dict)):
        return json.dumps(value)
    return str(value)
