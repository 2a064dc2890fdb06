"""Which statement a text is, and its parts. What Athena's clients send beside SELECT is small."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlapi.sql.dialect import AthenaText
from sqlapi.sql.errors import SqlError

__all__ = ["Statement", "parse"]

_ID = r"(?:\"(?:[^\"]|\"\")+\"|`[^`]+`|[A-Za-z_][\w$]*)"
_NAME = rf"(?P<name>{_ID}(?:\s*\.\s*{_ID}){{0,2}})"
_FLAGS = re.IGNORECASE | re.DOTALL
_READ = ("SELECT", "WITH", "VALUES", "TABLE", "(")
_REFUSED = {
    "INSERT": "INSERT", "UPDATE": "UPDATE", "DELETE": "DELETE", "MERGE": "MERGE",
    "ALTER": "ALTER", "MSCK": "MSCK REPAIR", "VACUUM": "VACUUM", "OPTIMIZE": "OPTIMIZE",
    "TRUNCATE": "TRUNCATE", "GRANT": "GRANT", "REVOKE": "REVOKE", "CALL": "CALL", "SET": "SET",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """A statement's parts."""

    verb: str
    """SELECT, EXPLAIN, SHOW_TABLES, CREATE_VIEW and so on; Athena's SubstatementType."""
    kind: str
    """DML, DDL or UTILITY."""
    names: tuple[str, ...] = ()
    """The dotted name it is about, in small letters."""
    query: str = ""
    pattern: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()


def _form(verb: str, kind: str, pattern: str) -> tuple[str, str, re.Pattern[str]]:
    return verb, kind, re.compile(pattern.replace(" ", r"\s+").replace("~", " "), _FLAGS)


_LIKE = r"(?:\s+(?:LIKE\s+)?'(?P<pattern>[^']*)')?"
_FORMS = [
    _form("SHOW_DATABASES", "UTILITY", rf"SHOW (?:DATABASES|SCHEMAS){_LIKE}"),
    _form("SHOW_TABLES", "UTILITY", rf"SHOW TABLES(?:\s+(?:IN|FROM)\s+{_NAME})?{_LIKE}"),
    _form("SHOW_VIEWS", "UTILITY", rf"SHOW VIEWS(?:\s+(?:IN|FROM)\s+{_NAME})?{_LIKE}"),
    _form("SHOW_COLUMNS", "UTILITY", rf"SHOW COLUMNS (?:IN|FROM) {_NAME}"
          rf"(?:\s+(?:IN|FROM)\s+(?P<database>{_ID}))?"),
    _form("SHOW_PARTITIONS", "UTILITY", rf"SHOW PARTITIONS {_NAME}"),
    _form("SHOW_CREATE_TABLE", "UTILITY", rf"SHOW CREATE TABLE {_NAME}"),
    _form("SHOW_CREATE_VIEW", "UTILITY", rf"SHOW CREATE VIEW {_NAME}"),
    _form("SHOW_TBLPROPERTIES", "UTILITY", rf"SHOW TBLPROPERTIES {_NAME}"),
    _form("DESCRIBE", "UTILITY", rf"(?:DESCRIBE|DESC)(?:\s+(?:EXTENDED|FORMATTED))? {_NAME}"),
    _form("EXPLAIN", "UTILITY", r"EXPLAIN(?!\s+ANALYZE)(?:\s*\([^()]*\))? (?P<query>.*)"),
    _form("CREATE_DATABASE", "DDL", r"CREATE (?:DATABASE|SCHEMA)(?P<exists>\s+IF\s+NOT\s+EXISTS)?"
          rf" {_NAME}(?:\s+COMMENT\s+'[^']*')?(?:\s+LOCATION\s+'[^']*')?"),
    _form("DROP_DATABASE", "DDL", r"DROP (?:DATABASE|SCHEMA)(?P<exists>\s+IF\s+EXISTS)?"
          rf" {_NAME}(?:\s+(?P<cascade>CASCADE|RESTRICT))?"),
    _form("CREATE_VIEW", "DDL", rf"CREATE(?P<replace>\s+OR\s+REPLACE)? VIEW {_NAME}"
          r" AS (?P<query>.*)"),
    _form("DROP_VIEW", "DDL", rf"DROP VIEW(?P<exists>\s+IF\s+EXISTS)? {_NAME}"),
    _form("CREATE_TABLE_AS_SELECT", "DDL", r"CREATE TABLE(?P<exists>\s+IF\s+NOT\s+EXISTS)?"
          rf" {_NAME}(?:\s+WITH\s*\((?P<options>[^()]*(?:\([^()]*\)[^()]*)*)\))?\s+AS\s+"
          r"(?P<query>.*?)(?P<nodata>\s+WITH\s+NO\s+DATA)?"),
    _form("ALTER_TABLE", "DDL", rf"ALTER TABLE {_NAME} SET TBLPROPERTIES\s*"
          r"\((?P<properties>.*)\)"),
    _form("DROP_TABLE", "DDL", rf"DROP TABLE(?P<exists>\s+IF\s+EXISTS)? {_NAME}"),
    _form("UNLOAD", "DML", r"UNLOAD\s*\((?P<query>.*)\)\s*TO\s*'(?P<pattern>[^']*)'"
          r"(?:\s*WITH\s*\((?P<options>.*)\))?"),
    _form("PREPARE", "DDL", rf"PREPARE {_NAME} FROM (?P<query>.*)"),
    _form("EXECUTE", "DML", rf"EXECUTE {_NAME}(?:\s+USING\s+(?P<values>.*))?"),
    _form("DEALLOCATE", "DDL", rf"DEALLOCATE PREPARE {_NAME}"),
]  # fmt: skip


def parse(text: str) -> Statement:
    """Raises SqlError for a statement that is not offered."""
    sql = _bare(text)
    if not sql:
        raise SqlError("SYNTAX_ERROR", "line 1:1: mismatched input '<EOF>'")
    first = re.match(r"\(|\w+", sql)
    word = first[0].upper() if first else sql[0]
    if word in _READ:
        return Statement("SELECT", "DML", query=sql)
    for verb, kind, form in _FORMS:
        if found := form.fullmatch(sql):
            return _statement(verb, kind, found)
    if word in _REFUSED:
        raise SqlError(
            "NOT_SUPPORTED", f"{_REFUSED[word]} is not supported: tables of the lake are read only"
        )
    raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{word.lower()}'")


def _bare(text: str) -> str:
    """Without comments before it, and without a last semicolon."""
    sql = text.strip()
    while found := re.match(r"(--[^\n]*(\n|$)|/\*.*?\*/)\s*", sql, re.DOTALL):
        sql = sql[found.end() :]
    return re.sub(r"(\s*;)+\s*$", "", sql).strip()


def _statement(verb: str, kind: str, found: re.Match[str]) -> Statement:
    parts = found.groupdict()
    names = _names(parts.get("name") or "")
    if parts.get("database"):
        names = (*_names(parts["database"]), names[-1])
    flags = {
        flag for flag in ("exists", "replace", "nodata", "cascade") if parts.get(flag)
        and (parts[flag] or "").upper() != "RESTRICT"
    }  # fmt: skip
    return Statement(
        verb,
        kind,
        names,
        (parts.get("query") or "").strip(),
        parts.get("pattern"),
        _properties(parts["properties"])
        if parts.get("properties")
        else _options(parts.get("options") or ""),
        tuple(split(parts["values"])) if parts.get("values") else (),
        frozenset(flags),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip('"`').lower() for part in re.findall(_ID, text))


def _options(text: str) -> dict[str, str]:
    """`format = 'PARQUET', partitioned_by = ARRAY['a']`, names in small letters."""
    found = {}
    for part in split(text) if text.strip() else []:
        name, there, value = part.partition("=")
        if not there:
            raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{part.strip()}'")
        found[name.strip().lower()] = value.strip()
    return found


def _properties(text: str) -> dict[str, str]:
    """`'comment' = 'a', "classification" = "parquet"`, as it is written between the quotes."""
    found = {}
    for part in split(text):
        pair = re.fullmatch(r"(['\"])(.+?)\1\s*=\s*(['\"])(.*)\3", part, re.DOTALL)
        if not pair:
            raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{part}'")
        found[pair[2]] = pair[4]
    return found


def split(text: str) -> Sequence[str]:
    """At the commas outside of brackets and quotes."""
    try:
        tokens = AthenaText().tokenize(text)
    except Exception as error:
        raise SqlError("SYNTAX_ERROR", f"line 1:1: {str(error).splitlines()[0]}") from None
    parts, depth, start = [], 0, 0
    for token in tokens:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if token.text == "," and not depth and text[token.start] == ",":
            parts.append(text[start : token.start].strip())
            start = token.end + 1
    return [*parts, text[start:].strip()]
