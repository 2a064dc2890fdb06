"""MySQL's SQL in the files of a project."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.sources.sql_files import CONTROL, LABEL, SIZE, WORD, SqlFiles
from labctl.sources.sql_statements import Statement, tokenized

__all__ = ["SQL_FILES"]

_DELIMITER = re.compile(r"\s*DELIMITER\s+(?P<end>\S+)\s*", re.IGNORECASE)
_LABELS = re.compile(rf"(?P<kind>enum|set)\((?P<labels>{LABEL}(?:,{LABEL})*)\)", re.DOTALL)
_ESCAPED = re.compile(r"''|\\(.)", re.DOTALL)
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
"""Escaped characters, by the letter after the backslash."""
_EXAMPLE = """\

CREATE TABLE IF NOT EXISTS {schema}.customer (
    customer_id int PRIMARY KEY,
    name varchar(100) NOT NULL,
    email varchar(200)
);

INSERT IGNORE INTO {schema}.customer (customer_id, name, email) VALUES
    (1, 'Ada', 'ada@example.com'),
    (2, 'Grace', NULL);
"""


def _split(text: str) -> Iterator[Statement]:
    """Yield the statements of a script; a line like `DELIMITER //` replaces the semicolon."""
    for end, part, line in _delimited(text):
        if end == ";":
            yield from tokenized(part, "mysql", line)
        else:
            yield from _ended_by(end, part, line)


def _delimited(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield each part of the text as its statement delimiter, its text and its first line."""
    end, part, begun = ";", list[str](), 1
    for number, line in enumerate(re.split(r"(?<=\n)", text), 1):
        if match := _DELIMITER.fullmatch(line):
            yield end, "".join(part), begun
            end, part, begun = match["end"], [], number + 1
        else:
            part.append(line)
    yield end, "".join(part), begun


def _ended_by(end: str, text: str, line: int) -> Iterator[Statement]:
    for part in text.split(end):
        if stripped := part.strip():
            before = part[: len(part) - len(part.lstrip())]
            yield Statement(stripped, line + before.count("\n"))
        line += part.count("\n")


def _type_text(kind: str) -> str:
    """Return a type with labels that have control characters as hexadecimal digits."""
    match = _LABELS.fullmatch(kind) if CONTROL.search(kind) else None
    if match is None:
        return kind
    labels = ",".join(map(_label, re.findall(LABEL, match["labels"], re.DOTALL)))
    return f"{match['kind']}({labels})"


def _label(written: str) -> str:
    if CONTROL.search(written) is None:
        return written
    label = _ESCAPED.sub(
        lambda found: _ESCAPES.get(found[1], found[1]) if found[1] else "'", written[1:-1]
    )
    return f"x'{label.encode().hex()}'"


def _one_line(value: str) -> str:
    # In a script, any line, even within a literal, may change the statement delimiter.
    return value.replace("\r", "\\r").replace("\n", "\\n")


SQL_FILES = SqlFiles(
    split=_split,
    example=_EXAMPLE,
    # `bigint unsigned`, `enum('a','b')`
    type_form=re.compile(
        rf"{WORD}{SIZE}(?: (?:unsigned|signed|zerofill))*"
        rf"|(?:enum|set)\({LABEL}(?:,{LABEL})*\)",
        re.DOTALL,
    ),
    value_form=re.compile(r"NULL|'(?:[^'\\]|''|\\.)*'|x'[0-9A-Fa-f]*'", re.DOTALL),
    type_text=_type_text,
    value_text=_one_line,
)
