"""Regular expressions."""

from __future__ import annotations

import re
import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.sql.code import Code, coerced, text
from sqlapi.sql.functions.registry import constant, function
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BIGINT, BOOLEAN, INTEGER, UNKNOWN, VARCHAR, array

_LONGEST_PATTERN = 2_000
_REFUSED = re.compile(
    r"\\[pPkKGXRhHvVcuxQEzZ]|\(\?[<=!>#]|\(\?[a-z]*[^:a-z)i]|[*+?}]\+|&&|\[\[|\\$"
)


def _pattern(code: Code, name: str) -> str:
    """Return a pattern with the same meaning in Joni and RE2. Raises SqlError for others."""
    pattern = constant(code, name)
    if len(pattern) > _LONGEST_PATTERN:
        raise SqlError("NOT_SUPPORTED", f"A regular expression of more than {_LONGEST_PATTERN:,}")
    if _REFUSED.search(pattern) or not (pattern.isascii() or _plain_signs(pattern)):
        raise SqlError("NOT_SUPPORTED", f"Regular expression {pattern} is not supported")
    return _with_java_signs(pattern)


def _plain_signs(pattern: str) -> bool:
    """Return whether each non-ASCII character stands for itself alone."""
    return "(?i" not in pattern and all(
        unicodedata.normalize("NFC", sign) == sign for sign in pattern
    )


_SIGN = re.compile(r"\\.|.", re.DOTALL)


def _with_java_signs(pattern: str) -> str:
    """Return a pattern in which \\s includes the vertical tab. Raises SqlError for an early `$`."""
    made, inside = [], False
    signs = _SIGN.findall(pattern)
    for i, sign in enumerate(signs):
        is_early = sign == "$" and not inside and i < len(signs) - 1
        if is_early or (sign == r"\S" and inside):
            raise SqlError("NOT_SUPPORTED", f"Regular expression {pattern} is not supported")
        if sign == r"\s":
            made.append(r"\t-\r " if inside else r"[\t-\r ]")
        else:
            made.append(r"[^\t-\r ]" if sign == r"\S" else sign)
        inside = (inside or sign == "[") and sign != "]"
    return "".join(made)


def _without_end(source: str) -> tuple[str, bool]:
    """Return a pattern without its last `$`, and whether it had one. Raises SqlError.

    Java's `$` also matches before a final line break, which RE2's does not.
    """
    if not source.endswith("$") or source.endswith("\\$"):
        return source, False
    if "|" in source:
        raise SqlError("NOT_SUPPORTED", f"Regular expression {source} is not supported")
    return source[:-1], True


@function("regexp_like")
def _regexp_like(value: Code, pattern: Code) -> Code:
    if pattern.type == UNKNOWN:
        return Code("CAST(NULL AS BOOLEAN)", BOOLEAN)
    source = _pattern(pattern, "regexp_like")
    if source.endswith("$") and not source.endswith("\\$"):
        source = source[:-1] + r"(?:\n?\z)"
    return Code(f"regexp_matches({coerced(value, VARCHAR).sql}, {text(source)})", BOOLEAN)


@function("regexp_extract")
def _regexp_extract(value: Code, pattern: Code, group: Code | None = None) -> Code:
    source, at_end = _without_end(_pattern(pattern, "regexp_extract"))
    number = _group(source, group, "regexp_extract")
    if number and "(" in source and re.search(r"\)[?*{]|\|", source):
        # an unmatched group is NULL in Trino and '' in DuckDB
        raise SqlError("NOT_SUPPORTED", f"Regular expression {source} is not supported")
    sql = coerced(value, VARCHAR).sql
    if at_end:
        source, number = (f"({source}){_END}", 1) if not number else (f"{source}{_END}", number)
    found = f"regexp_extract({sql}, {text(source)}, {number})"
    return Code(f"CASE WHEN regexp_matches({sql}, {text(source)}) THEN {found} END", VARCHAR)


@function("regexp_extract_all")
def _regexp_extract_all(value: Code, pattern: Code, group: Code | None = None) -> Code:
    source, at_end = _without_end(_pattern(pattern, "regexp_extract_all"))
    number = _group(source, group, "regexp_extract_all")
    _check_not_empty(source)
    if number and re.search(r"\)[?*{]|\|", source):
        raise SqlError("NOT_SUPPORTED", f"Regular expression {source} is not supported")
    if at_end:
        source, number = (f"({source}){_END}", 1) if not number else (f"{source}{_END}", number)
    sql = coerced(value, VARCHAR).sql
    return Code(f"regexp_extract_all({sql}, {text(source)}, {number})", array(VARCHAR))


@function("regexp_split")
def _regexp_split(value: Code, pattern: Code) -> Code:
    source = _pattern(pattern, "regexp_split")
    _no_dollar(source)
    _check_not_empty(source)
    return Code(
        f"regexp_split_to_array({coerced(value, VARCHAR).sql}, {text(source)})", array(VARCHAR)
    )


@function("regexp_position")
def _regexp_position(value: Code, pattern: Code) -> Code:
    source, at_end = _without_end(_pattern(pattern, "regexp_position"))
    source += _END if at_end else ""
    if source.startswith("(?"):
        raise SqlError("NOT_SUPPORTED", f"Regular expression {source} is not supported")
    sql = coerced(value, VARCHAR).sql
    before = f"regexp_extract({sql}, {text(f'^((?s:.*?))(?:{source})')}, 1)"
    found = f"regexp_matches({sql}, {text(source)})"
    return Code(f"CASE WHEN {sql} IS NULL THEN NULL WHEN {found} THEN length({before}) + 1"
                " ELSE -1 END", INTEGER)  # fmt: skip


@function("regexp_count")
def _regexp_count(value: Code, pattern: Code) -> Code:
    source, at_end = _without_end(_pattern(pattern, "regexp_count"))
    _check_not_empty(source)
    source += _END if at_end else ""
    sql = coerced(value, VARCHAR).sql
    return Code(f"CAST(len(regexp_extract_all({sql}, {text(source)})) AS BIGINT)", BIGINT)


def _check_not_empty(source: str) -> None:
    """Raise SqlError for a pattern that matches the empty string.

    RE2 checks this, as in DuckDB: Python's own engine can take years for a short pattern.
    """
    try:
        empty = pc.match_substring_regex(pa.array([""]), f"^(?:{source})")[0].as_py()
    except pa.ArrowInvalid:
        empty = False
    if empty:
        raise SqlError("NOT_SUPPORTED", f"Regular expression {source} is not supported")


@function("regexp_replace")
def _regexp_replace(value: Code, pattern: Code, other: Code | None = None) -> Code:
    source, at_end = _without_end(_pattern(pattern, "regexp_replace"))
    _check_not_empty(source)
    replacement = constant(other, "regexp_replace") if other else ""
    if "\\" in replacement or re.search(r"\$(?!\d(?!\d))", replacement):
        raise SqlError("NOT_SUPPORTED", f"Replacement {replacement} is not supported")
    groups = _groups(source)
    if any(int(n) > groups for n in re.findall(r"\$(\d)", replacement)):
        raise SqlError("INVALID_FUNCTION_ARGUMENT", f"Illegal replacement sequence: {replacement}")
    to = re.sub(r"\$(\d)", r"\\\1", replacement)
    if at_end:
        if groups + 1 > _MOST_GROUPS:
            raise SqlError("NOT_SUPPORTED", f"Regular expression {source}$ is not supported")
        # a final line break is no part of the match
        source, to = rf"{source}(\n?)\z", rf"{to}\{groups + 1}"
    sql = coerced(value, VARCHAR).sql
    return Code(f"t_regexp_replace({sql}, {text(source)}, {text(to)})", VARCHAR)


_END = r"(?:\n?\z)"
_MOST_GROUPS = 9
"""Number of groups that a replacement of RE2 can name."""


def _no_dollar(source: str) -> None:
    if source.endswith("$") and not source.endswith("\\$"):
        raise SqlError("NOT_SUPPORTED", f"Regular expression {source} is not supported")


def _groups(source: str) -> int:
    """Return the number of groups of a pattern. Raises SqlError for an invalid pattern."""
    try:
        return re.compile(source).groups
    except (re.error, OverflowError, RecursionError):
        raise SqlError("INVALID_FUNCTION_ARGUMENT", f"Invalid pattern: {source}") from None


def _group(source: str, code: Code | None, name: str) -> int:
    if code is None:
        return 0
    if not isinstance(code.value, int):
        raise SqlError("NOT_SUPPORTED", f"Function {name} with a computed group")
    groups = _groups(source)
    if not 0 <= code.value <= groups:
        raise SqlError(
            "INVALID_FUNCTION_ARGUMENT",
            f"Pattern has {groups} groups. Cannot access group {code.value}",
        )
    return code.value
