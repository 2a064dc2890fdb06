"""The parser of Hive's statements on tables: CREATE EXTERNAL TABLE, ALTER TABLE, MSCK REPAIR."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlapi.sql.statement_errors import SqlError

__all__ = ["parse_hive"]

_TOKEN = re.compile(
    r"(?P<space>(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)+)"
    r"|'(?P<single>(?:[^'\\]|\\.|'')*+)'|\"(?P<double>(?:[^\"\\]|\\.)*+)\""
    r"|`(?P<quoted>[^`]+)`|(?P<word>[\w$]+)|(?P<sign>[(),.<>=:;!+-])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-3][0-7]{2}|.)|''", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
_NUMBER = re.compile(r"[0-9]+")
_DELIMITED: Sequence[tuple[str, str]] = (
    ("FIELDS TERMINATED BY", "field.delim"),
    ("ESCAPED BY", "escape.delim"),
    ("COLLECTION ITEMS TERMINATED BY", "collection.delim"),
    ("MAP KEYS TERMINATED BY", "mapkey.delim"),
    ("LINES TERMINATED BY", "line.delim"),
    ("NULL DEFINED AS", "serialization.null.format"),
)
Details = Mapping[str, Any]
"""The parts of a statement, by name."""


def parse_hive(sql: str) -> tuple[str, tuple[str, ...], Details] | None:
    """Return the verb, the table's dotted name and the parts; None if it is another statement.

    Raises SqlError for a statement of this kind that is wrong or not supported.
    """
    if re.match(r"(?:CREATE\s+(?:EXTERNAL\s+)?TABLE|ALTER\s+TABLE|MSCK)\b", sql, re.IGNORECASE):
        return _Parser(sql).statement()
    return None


class _Parser:
    def __init__(self, sql: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        self._at = 0
        place = 0
        while place < len(sql):
            found = _TOKEN.match(sql, place)
            if not found:
                raise self._wrong(sql[place])
            kind = str(found.lastgroup)
            if kind != "space":
                text = found[kind]
                is_text = kind in ("single", "double")
                self._tokens.append(("text" if is_text else kind, _resolved(text, kind)))
            place = found.end()

    @staticmethod
    def _wrong(text: str) -> SqlError:
        return SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{text[:100]}'")

    # parts

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "<EOF>")

    def _take(self, words: str) -> bool:
        """Pass over words or signs if they are next."""
        wanted = words.split()
        there = self._tokens[self._at : self._at + len(wanted)]
        if [text.upper() for kind, text in there if kind in ("word", "sign")] != wanted:
            return False
        self._at += len(wanted)
        return True

    def _need(self, words: str) -> None:
        if not self._take(words):
            raise self._wrong(self._peek()[1])

    def _one(self, *kinds: str) -> str:
        kind, text = self._peek()
        if kind not in kinds:
            raise self._wrong(text)
        self._at += 1
        return text

    def _text(self) -> str:
        return self._one("text")

    def _name(self) -> tuple[str, ...]:
        names = [self._one("word", "quoted").lower()]
        while self._take("."):
            names.append(self._one("word", "quoted").lower())
        parts = names if len(names) > 1 else names[0].split(".")  # `db.table` in one pair of quotes
        if len(parts) > 3:
            raise self._wrong(".".join(parts))
        return tuple(parts)

    def _list(self, item: Callable[[], Any]) -> list[Any]:
        self._need("(")
        found = [item()]
        while self._take(","):
            found.append(item())
        self._need(")")
        return found

    def _column(self) -> dict[str, str]:
        made = {"Name": self._one("word", "quoted").lower(), "Type": self._type()}
        if self._take("COMMENT"):
            made["Comment"] = self._text()
        return made

    def _type(self) -> str:
        text, depth = "", 0
        while True:
            kind, part = self._peek()
            is_end = part in (",", ")") or part.upper() == "COMMENT"
            if kind in ("end", "text") or (not depth and is_end):
                break
            if depth and part.upper() == "COMMENT":
                raise SqlError("NOT_SUPPORTED", "Comments on fields of structs are not supported")
            depth += (part in ("<", "(")) - (part in (">", ")"))
            text += part.lower()
            self._at += 1
        if not text:
            raise self._wrong(self._peek()[1])
        return re.sub(r"\binteger\b", "int", text)

    def _pair(self) -> tuple[str, str]:
        name = self._text()
        self._need("=")
        return name, self._text()

    def _value(self) -> tuple[str, str]:
        name = self._one("word", "quoted").lower()
        self._need("=")
        sign = "-" if self._take("-") else ""
        kind, text = self._peek()
        if (kind == "word" and not _NUMBER.fullmatch(text)) or (sign and kind == "text"):
            raise self._wrong(text)
        return name, sign + self._one("word", "text")

    def _partition(self) -> dict[str, str]:
        self._need("PARTITION")
        return dict(self._list(self._value))

    # statements

    def statement(self) -> tuple[str, tuple[str, ...], Details]:
        if self._take("MSCK"):
            self._need("REPAIR TABLE")
            found: tuple[str, tuple[str, ...], Details] = ("MSCK_REPAIR", self._name(), {})
        elif self._take("ALTER TABLE"):
            name = self._name()
            found = ("ALTER_TABLE", name, self._change())
        else:
            found = self._create()
        if self._peek()[0] != "end":
            raise self._wrong(self._peek()[1])
        return found

    def _change(self) -> Details:
        for words, key in (("ADD COLUMNS", "add_columns"), ("REPLACE COLUMNS", "replace_columns")):
            if self._take(words):
                return {key: self._list(self._column)}
        if self._take("SET LOCATION"):
            return {"location": self._text()}
        return self._partition_change()

    def _partition_change(self) -> Details:
        if self._take("ADD"):
            exists = self._take("IF NOT EXISTS")
            parts: list[tuple[dict[str, str], str | None]] = []
            while not parts or self._peek()[1].upper() == "PARTITION":
                part = self._partition()
                parts.append((part, self._text() if self._take("LOCATION") else None))
            return {"add_partitions": parts, "exists": exists}
        if self._take("DROP"):
            exists, dropped = self._take("IF EXISTS"), [self._partition()]
            while self._take(","):
                dropped.append(self._partition())
            return {"drop_partitions": dropped, "exists": exists}
        if self._peek()[1].upper() == "PARTITION":
            part = self._partition()
            if self._take("RENAME TO"):
                return {"rename_partition": (part, self._partition())}
            self._need("SET LOCATION")
            return {"partition_location": (part, self._text())}
        raise SqlError("NOT_SUPPORTED", f"ALTER TABLE … {self._peek()[1][:60]} is not supported")

    def _create(self) -> tuple[str, tuple[str, ...], Details]:
        self._need("CREATE")
        external = self._take("EXTERNAL")
        self._need("TABLE")
        exists = self._take("IF NOT EXISTS")
        name = self._name()
        made: dict[str, Any] = {"exists": exists, "columns": self._list(self._column)}
        while self._peek()[0] != "end":
            self._clause(made)
        if made.get("properties", {}).get("table_type", "").upper() == "ICEBERG":
            raise SqlError("NOT_SUPPORTED", "Iceberg tables are not supported")
        if not external:
            raise SqlError("NOT_SUPPORTED", "CREATE TABLE without AS SELECT must be EXTERNAL")
        return "CREATE_TABLE", name, made

    def _clause(self, made: dict[str, Any]) -> None:
        """Parse a clause after the columns."""
        key: str
        value: Any
        if self._take("COMMENT"):
            key, value = "comment", self._text()
        elif self._take("PARTITIONED BY"):
            key, value = "keys", self._list(self._column)
        elif self._take("ROW FORMAT DELIMITED"):
            key, value = "delimited", self._delimiters()
        elif self._take("ROW FORMAT SERDE"):
            key, value = "serde", self._text()
        elif self._take("WITH SERDEPROPERTIES"):
            key, value = "serde_properties", dict(self._list(self._pair))
        elif self._take("STORED AS INPUTFORMAT"):
            reads = self._text()
            self._need("OUTPUTFORMAT")
            key, value = "formats", (reads, self._text())
        elif self._take("STORED AS"):
            key, value = "format", self._one("word").upper()
        elif self._take("LOCATION"):
            key, value = "location", self._text()
        elif self._take("TBLPROPERTIES"):
            key, value = "properties", dict(self._list(self._pair))
        elif self._take("CLUSTERED BY"):
            raise SqlError("NOT_SUPPORTED", "Bucketed tables are not supported")
        else:
            raise self._wrong(self._peek()[1])
        if key in made:
            raise self._wrong(key)
        made[key] = value

    def _delimiters(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while True:
            for words, name in _DELIMITED:
                if self._take(words):
                    found[name] = self._text()
                    break
            else:
                return found


def _resolved(text: str, kind: str) -> str:
    """Return a string's value without Hive's escapes; other tokens stay as they are."""
    if kind not in ("single", "double"):
        return text

    def value(found: re.Match[str]) -> str:
        escaped = found[1]
        if escaped is None:
            return "'"
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        return chr(int(escaped, 8)) if len(escaped) == 3 else _PLAIN.get(escaped, escaped)

    return _ESCAPE.sub(value, text)
