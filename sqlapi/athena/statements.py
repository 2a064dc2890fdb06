"""The parser of statements. Only few kinds besides SELECT are needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlapi.athena.hive_statements import parse_hive
from sqlapi.sql.budget import check_length
from sqlapi.sql.statement_errors import SqlError

__all__ = ["Statement", "parse"]

_ID = r"(?:\"(?:[^\"]|\"\")+\"|`[^`]+`|[A-Za-z_][\w$]*)"
_NAME = rf"(?P<name>{_ID}(?:\s*\.\s*{_ID}){{0,2}})"
_FLAGS = re.IGNORECASE | re.DOTALL
_READ = ("SELECT", "WITH", "VALUES", "TABLE", "(")
_ICEBERG = ("UPDATE", "DELETE", "MERGE", "VACUUM", "OPTIMIZE")
_REFUSED = ("ALTER", "TRUNCATE", "GRANT", "REVOKE", "CALL", "SET")


@dataclass(frozen=True)
class Statement:
    """A statement's parts."""

    verb: str
    """SELECT, EXPLAIN, SHOW_TABLES, CREATE_VIEW and so on; Athena's SubstatementType."""
    kind: str
    """DML, DDL or UTILITY."""
    names: tuple[str, ...] = ()
    """The dotted name of its object, in lower case."""
    query: str = ""
    pattern: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    details: Mapping[str, Any] = field(default_factory=dict)
    """The parts of Hive's statements on tables; see `sqlapi.athena.hive_statements`."""


def _form(verb: str, kind: str, pattern: str) -> tuple[str, str, re.Pattern[str]]:
    # spaces match possessively: backtracking over them is quadratic or worse
    spaces = re.sub(r"(\\s[*+])(?!\+)", r"\1+", pattern.replace(" ", r"\s+"))
    return verb, kind, re.compile(spaces, _FLAGS)


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
    _form("SHOW_TBLPROPERTIES", "UTILITY", rf"SHOW TBLPROPERTIES {_NAME}"
          r"(?:\s*\(\s*(?P<quote>['\"])(?P<pattern>[^'\"]*)(?P=quote)\s*\))?"),
    _form("DESCRIBE", "UTILITY", rf"(?:DESCRIBE|DESC)(?:\s+(?:EXTENDED|FORMATTED))? {_NAME}"),
    _form("EXPLAIN", "UTILITY", r"EXPLAIN(?!\s+ANALYZE)(?:\s*\((?P<pattern>\s*(?:TYPE|FORMAT)\b"
          r"[^()]*)\))? (?P<query>.*)"),
    _form("CREATE_DATABASE", "DDL", r"CREATE (?:DATABASE|SCHEMA)(?P<exists>\s+IF\s+NOT\s+EXISTS)?"
          rf" {_NAME}(?:\s+COMMENT\s+'[^']*')?(?:\s+LOCATION\s+'[^']*')?"),
    _form("DROP_DATABASE", "DDL", r"DROP (?:DATABASE|SCHEMA)(?P<exists>\s+IF\s+EXISTS)?"
          rf" {_NAME}(?:\s+(?P<cascade>CASCADE|RESTRICT))?"),
    _form("CREATE_VIEW", "DDL", rf"CREATE(?P<replace>\s+OR\s+REPLACE)? VIEW {_NAME}"
          r" AS (?P<query>.*)"),
    _form("DROP_VIEW", "DDL", rf"DROP VIEW(?P<exists>\s+IF\s+EXISTS)? {_NAME}"),
    _form("CREATE_TABLE_AS_SELECT", "DDL", r"CREATE TABLE(?P<exists>\s+IF\s+NOT\s+EXISTS)?"
          rf" {_NAME}(?:\s+WITH\s*\((?P<options>[^()]*+(?:\([^()]*+\)[^()]*+)*+)\))?\s+AS\s+"
          r"(?P<query>.*)"),
    _form("ALTER_TABLE", "DDL", rf"ALTER TABLE {_NAME} SET TBLPROPERTIES\s*"
          r"\((?P<properties>.*)\)"),
    _form("DROP_TABLE", "DDL", rf"DROP TABLE(?P<exists>\s+IF\s+EXISTS)? {_NAME}"),
    _form("INSERT", "DML", rf"INSERT INTO {_NAME}(?:\s*\((?P<into>\s*{_ID}(?:\s*,\s*{_ID})*\s*)\))?"
          r"\s*(?P<query>(?:\(|\b(?:SELECT|WITH|VALUES|TABLE)\b).*)"),
    _form("PREPARE", "DDL", rf"PREPARE {_NAME} FROM (?P<query>.*)"),
    _form("EXECUTE", "DML", rf"EXECUTE {_NAME}(?:\s+USING\s+(?P<values>.*))?"),
    _form("DEALLOCATE", "DDL", rf"DEALLOCATE PREPARE {_NAME}"),
]  # fmt: skip


_UNLOAD = re.compile(r"UNLOAD\s*+(?=\()", _FLAGS)
_UNLOADED = _form(
    "UNLOAD", "DML", r"\s*TO\s*'(?P<pattern>[^']*)'(?:\s*WITH\s*\((?P<options>.*)\))?"
)
_COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/", re.DOTALL)
_ENDING = ";" + "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_NO_DATA = ["WITH", "NO", "DATA"]
_EQUALS = re.compile(r"(['\"])\s*+=\s*+(['\"])")


def parse(text: str) -> Statement:
    """Return the parts of a statement. Raises SqlError for one that is not supported."""
    check_length(text)
    sql = _bare(text)
    if not sql:
        raise SqlError("SYNTAX_ERROR", "line 1:1: mismatched input '<EOF>'")
    first = re.match(r"\(|\w+", sql)
    word = first[0].upper() if first else sql[0]
    if word in _READ:
        return Statement("SELECT", "DML", query=sql)
    if head := _UNLOAD.match(sql):
        inner, rest = _in_brackets(sql, head.end())
        if found := _UNLOADED[2].fullmatch(rest):
            return replace(_statement("UNLOAD", "DML", found), query=inner.strip())
    for verb, kind, form in _FORMS:
        if found := form.fullmatch(sql):
            return _statement(verb, kind, found)
    if hive := parse_hive(sql):
        verb, names, details = hive
        return Statement(verb, "DDL", names, details=details)
    if word in _ICEBERG:
        raise SqlError(
            "NOT_SUPPORTED", f"{word} is not supported: Athena offers it for Iceberg tables alone,"
            " which this endpoint does not have",
        )  # fmt: skip
    if re.match(r"EXPLAIN\s+ANALYZE\b", sql, re.IGNORECASE):
        raise SqlError("NOT_SUPPORTED", "EXPLAIN ANALYZE is not supported")
    if word in _REFUSED:
        raise SqlError("NOT_SUPPORTED", f"{word} is not supported")
    raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{word[:100].lower()}'")


def _bare(text: str) -> str:
    """Return the text without leading comments and a final semicolon."""
    start = 0
    while found := _COMMENT.match(text, start):
        start = found.end()
    return text[start:].rstrip(_ENDING)


def _in_brackets(sql: str, start: int) -> tuple[str, str]:
    """Return the text in the brackets that open at `start`, and the text after them."""
    # Imported here, as in `split`.
    from sqlglot.tokenizer_core import TokenType

    from sqlapi.sql.dialect import tokens

    depth, rest = 0, sql[start:]
    for token in tokens(rest):
        kind = token.token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if not depth:
            return rest[1 : token.start], rest[token.end + 1 :]
    raise SqlError("SYNTAX_ERROR", "line 1:1: mismatched input '<EOF>'. Expecting: ')'")


def _statement(verb: str, kind: str, found: re.Match[str]) -> Statement:
    parts = found.groupdict()
    names = _names(parts.get("name") or "")
    if parts.get("database"):
        names = (*_names(parts["database"]), names[-1])
    flags = {
        flag for flag in ("exists", "replace", "nodata", "cascade") if parts.get(flag)
        and (parts[flag] or "").upper() != "RESTRICT"
    }  # fmt: skip
    query = (parts.get("query") or "").strip()
    words = query.rsplit(None, 3)
    if verb == "CREATE_TABLE_AS_SELECT" and [word.upper() for word in words[1:]] == _NO_DATA:
        query = words[0]
        flags.add("nodata")
    return Statement(
        verb,
        kind,
        names,
        query,
        parts.get("pattern"),
        _properties(parts["properties"])
        if parts.get("properties")
        else _options(parts.get("options") or ""),
        tuple(split(parts["values"])) if parts.get("values") else _names(parts.get("into") or ""),
        frozenset(flags),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip('"`').lower() for part in re.findall(_ID, text))


def _options(text: str) -> dict[str, str]:
    """Parse `format = 'PARQUET', partitioned_by = ARRAY['a']`; names are in lower case."""
    found = {}
    for part in split(text) if text.strip() else []:
        name, there, value = part.partition("=")
        if not there:
            raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{part.strip()[:100]}'")
        found[name.strip().lower()] = value.strip()
    return found


def _properties(text: str) -> dict[str, str]:
    """Parse `'comment' = 'a', "classification" = "parquet"`; quoted texts stay as they are."""
    found = {}
    for part in split(text):
        for pair in _EQUALS.finditer(part, 1):
            if pair[1] == part[0] and part.endswith(pair[2], pair.end()):
                found[part[1 : pair.start()]] = part[pair.end() : -1]
                break
        else:
            raise SqlError("SYNTAX_ERROR", f"line 1:1: mismatched input '{part[:100]}'")
    return found


def split(text: str) -> Sequence[str]:
    """Split a text at the commas that are outside of brackets and quotes."""
    # Imported here: workers translate most statements, so this process seldom needs the grammar.
    from sqlapi.sql.dialect import tokens

    parts, depth, start = [], 0, 0
    for token in tokens(text):
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if token.text == "," and not depth and text[token.start] == ",":
            parts.append(text[start : token.start].strip())
            start = token.end + 1
    return [*parts, text[start:].strip()]
