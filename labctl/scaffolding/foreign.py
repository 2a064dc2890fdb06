"""Checks of a foreign database's answers before any of them is written to a file of the project.

A name may have any characters, and a server may answer anything. In SQL, names are quoted. This
module checks the rest: names in file names and properties files, types, and values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.sources import SourceTable, TableRef

__all__ = ["label_literal", "require_plain_names", "type_text", "value_literal", "why_left_out"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that may end a line, or that are invisible."""
_NOT_IN_FILE_NAMES = re.compile(r"[/\\]")
_NOT_IN_KEYS = re.compile(r"[,\\]|^\s|\s$")
"""Characters with a special meaning in a properties file's list of key columns."""

_WORD = r"[A-Za-z_][A-Za-z0-9_$]*"
_SIZE = r"(?:\((?:-?\d+|max|[A-Za-z]+)(?:, ?-?\d+)*\))?"
_NAME = rf'(?:{_WORD}|"(?:[^"]|"")+")'
_MORE = r"(?:precision|varying|with|without|time|zone|year|month|day|hour|minute|second|to)"
_LABEL = r"'(?:[^'\\]|''|\\.)*'"
_TYPES: dict[EngineName, re.Pattern[str]] = {
    # `timestamp(3) without time zone`, `ems."Odd"[]`, `geometry(Point,4326)`
    "postgres": re.compile(rf"{_NAME}(?:\.{_NAME})?{_SIZE}(?: {_MORE}{_SIZE})*(?:\[\])*"),
    # `bigint unsigned`, `enum('a','b')`
    "mysql": re.compile(
        rf"{_WORD}{_SIZE}(?: (?:unsigned|signed|zerofill))*"
        rf"|(?:enum|set)\({_LABEL}(?:,{_LABEL})*\)",
        re.DOTALL,
    ),
    "sqlserver": re.compile(rf"{_WORD}{_SIZE}"),
}
"""Types as the engines' catalogues show them; no match can contain an expression."""

_LABELS = re.compile(rf"(?P<kind>enum|set)\((?P<labels>{_LABEL}(?:,{_LABEL})*)\)", re.DOTALL)
_ESCAPED = re.compile(r"''|\\(.)", re.DOTALL)
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
"""MySQL's escapes, by the letter after the backslash."""

_LITERALS: dict[EngineName, re.Pattern[str]] = {
    "postgres": re.compile(r"NULL|'(?:[^'\\]|'')*'| ?E'(?:[^'\\]|''|\\.)*'", re.DOTALL),
    "mysql": re.compile(r"NULL|'(?:[^'\\]|''|\\.)*'|x'[0-9A-Fa-f]*'", re.DOTALL),
}
"""A value as the server writes it. For SQL Server, labctl's own client writes the values."""


def why_left_out(table: SourceTable, engine: EngineName) -> str | None:
    """Return why labctl writes no files for a table; None if it does."""
    return next(_problems(table, engine), None)


def require_plain_names(table: SourceTable) -> None:
    """Raise LabError (USAGE) for a table whose names labctl cannot write into files."""
    for reason in _name_problems(table.ref, [c.name for c in table.columns], table.keys):
        raise LabError(
            f"{str(table.ref)!r} cannot be captured: {reason}",
            hint="nothing was changed; rename it, or leave it out",
            exit_code=ExitCode.USAGE,
        )


def type_text(kind: str, engine: EngineName) -> str:
    """Return a type of the catalogue in labctl's form: MySQL's labels with control characters as
    hexadecimal digits."""
    match = _LABELS.fullmatch(kind) if engine == "mysql" and _CONTROL.search(kind) else None
    if match is None:
        return kind
    labels = ",".join(map(_mysql_label, re.findall(_LABEL, match["labels"], re.DOTALL)))
    return f"{match['kind']}({labels})"


def _mysql_label(written: str) -> str:
    if _CONTROL.search(written) is None:
        return written
    label = _ESCAPED.sub(
        lambda found: _ESCAPES.get(found[1], found[1]) if found[1] else "'", written[1:-1]
    )
    return f"x'{label.encode().hex()}'"


def label_literal(label: str) -> str:
    """Return a PostgreSQL label as one literal without control characters."""
    quoted = label.replace("'", "''")
    if _CONTROL.search(label) is None:
        return f"'{quoted}'"
    escaped = quoted.replace("\\", "\\\\")
    return "E'" + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"


def value_literal(text: str, engine: EngineName) -> str:
    """Return a value that the server wrote as one SQL literal; for MySQL, on one line.

    Raises LabError if it is not a single literal.
    """
    pattern = _LITERALS.get(engine)
    if pattern is None:
        return text
    if pattern.fullmatch(text) is None:
        raise LabError(
            f"The database wrote a value that is no single literal: {text!r:.80}",
            hint="leave --copy-rows out; nothing was written",
            exit_code=ExitCode.USAGE,
        )
    # In a MySQL script, any line, even within a literal, may change the statement delimiter.
    return text.replace("\r", "\\r").replace("\n", "\\n") if engine == "mysql" else text


def _problems(table: SourceTable, engine: EngineName) -> Iterator[str]:
    columns = [(column.name, column.declared.full) for column in table.columns]
    columns += [(column.name, column.type) for column in table.unread]
    yield from _name_problems(table.ref, [name for name, _ in columns], table.keys)
    for name, kind in columns:
        if _TYPES[engine].fullmatch(kind) is None or _CONTROL.search(type_text(kind, engine)):
            yield f"the type of its column {name!r} is not one that labctl can write: {kind!r:.80}"


def _name_problems(ref: TableRef, columns: list[str], keys: tuple[str, ...]) -> Iterator[str]:
    for name in (ref.schema, ref.name, *columns):
        if _CONTROL.search(name):
            yield f"{name!r} has a control character"
    for name in (ref.schema, ref.name):
        if _NOT_IN_FILE_NAMES.search(name):
            yield f"{name!r} has a slash, and tables give files their names"
    for name in keys:
        if _NOT_IN_KEYS.search(name):
            yield f"its key column {name!r} cannot stand in a list of columns"
