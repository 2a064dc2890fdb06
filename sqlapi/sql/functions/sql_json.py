"""The functions of SQL/JSON, which have a syntax of their own: `json_object('a' : 1)`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlapi.sql.binding import bound, level_of
from sqlapi.sql.casts import cast, json_text, type_of
from sqlapi.sql.code import Code, coerced, failing, text
from sqlapi.sql.json_calls import JsonCall
from sqlapi.sql.json_paths import PATH
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BOOLEAN, DOUBLE, UNKNOWN, VARCHAR, Type

__all__ = ["json_call"]

_INTEGERS = r"-?\d{1,9}"
_NUMBER = r"-?\d+(\.\d+)?([eE][+-]?\d+)?"
_MAKES_JSON = ("json_object", "json_array", "json_query")


def json_call(code: Callable[[exp.Expr], Code], tree: JsonCall) -> Code:
    """Translate a call; `code` translates the expressions in it. Raises SqlError."""
    name = str(tree.this)
    if name == "json_object":
        return _object(code, tree)
    if name == "json_array":
        values = [_value(code, item) for item in tree.expressions]
        kept = [v.sql for v in values]
        return Code(_joined(kept, tree.args.get("nulls") == "null", "[", "]"), VARCHAR)
    value, path = code(tree.expressions[0]), code(tree.expressions[1]).value
    if value.type not in (UNKNOWN,) and value.type.name != "varchar":
        raise SqlError("TYPE_MISMATCH", f"Function {name} of {value.type}")
    if not isinstance(path, str) or not PATH.fullmatch(path):
        raise SqlError("NOT_SUPPORTED", f"Function {name} with the path {path}")
    given = f"{coerced(value, VARCHAR).sql}, {text(path)}"
    empty, error = tree.args.get("on_empty"), tree.args.get("on_error")
    if name == "json_exists":
        return Code(f"t_path_exists({given}, {text(error or 'false')})", BOOLEAN)
    if name == "json_query":
        parts = (tree.args.get("wrapper") or "", tree.args.get("quotes") or "",
                 empty or "null", error or "null")  # fmt: skip
        return Code(f"t_path_query({given}, {text(','.join(parts))})", VARCHAR)
    return _scalar(code, tree, given)


def _scalar(code: Callable[[exp.Expr], Code], tree: JsonCall, given: str) -> Code:
    returning = tree.args.get("returning")
    kind = type_of(returning) if returning is not None else VARCHAR
    name = f'"b{level_of(given)}"'
    found = _returned(Code(name, VARCHAR), kind)
    cases = []
    for state in ("empty", "error"):
        behaviour = tree.args.get(f"on_{state}")
        if behaviour == "error":
            other = failing("JSON_VALUE_RESULT_ERROR", "'cannot extract a scalar'", kind.duck)
        elif isinstance(behaviour, exp.Expr):
            other = cast(code(behaviour), kind).sql
        else:
            continue
        if returning is not None and state == "error" and kind.name != "varchar":
            raise SqlError("NOT_SUPPORTED", "json_value with RETURNING and ON ERROR")
        cases.append(f"WHEN t_path_state({given}) = '{state}' THEN {other}")
    made = bound([(name, f"t_path_value({given})")], found)
    return Code(f"CASE {' '.join(cases)} ELSE {made} END" if cases else made, kind)


def _returned(value: Code, kind: Type) -> str:
    """Return a scalar's text as a value of another type; NULL if it is none."""
    if kind.name == "varchar":
        return cast(value, kind).sql
    if not (kind.is_integer or kind in (DOUBLE, BOOLEAN)):
        raise SqlError("NOT_SUPPORTED", f"json_value with RETURNING {kind}")
    pattern = {DOUBLE: _NUMBER, BOOLEAN: "true|false"}.get(kind, _INTEGERS)
    made = f"CAST({value.sql} AS {kind.duck})"
    fits = f"WHEN regexp_full_match({value.sql}, {text(pattern)}) THEN {made}"
    refused = failing("NOT_SUPPORTED", f"'json_value of another number as {kind}'", kind.duck)
    other = f"WHEN regexp_full_match({value.sql}, {text(_NUMBER)}) THEN {refused}"
    return f"CASE {fits} {other} END"


def _value(code: Callable[[exp.Expr], Code], tree: exp.Expr) -> Code:
    """Return an item's JSON, NULL for NULL."""
    if isinstance(tree, JsonCall) and str(tree.this) == "format":
        return Code(f"t_json_parse({coerced(code(tree.expressions[0]), VARCHAR).sql})", VARCHAR)
    made = code(tree)
    if isinstance(tree, JsonCall) and str(tree.this) in _MAKES_JSON:
        return made
    if made.type.args or made.type.name == "json":
        raise SqlError("NOT_SUPPORTED", f"{made.type} in json_object or json_array")
    return Code(json_text(made), VARCHAR)


def _joined(texts: Sequence[str], with_null: bool, before: str, after: str) -> str:
    if with_null:
        texts = [f"coalesce({sql}, 'null')" for sql in texts]
    listed = f"CAST([{', '.join(texts)}] AS VARCHAR[])"
    kept = f"list_filter({listed}, lambda t_v: t_v IS NOT NULL)"
    return f"('{before}' || coalesce(array_to_string({kept}, ','), '') || '{after}')"


def _object(code: Callable[[exp.Expr], Code], tree: JsonCall) -> Code:
    keys = [code(key) for key in tree.expressions[::2]]
    values = [_value(code, value) for value in tree.expressions[1::2]]
    if any(key.type.name != "varchar" for key in keys):
        raise SqlError("TYPE_MISMATCH", "A key of json_object is no text")
    names = [key.value for key in keys]
    order = list(range(len(keys)))
    if len(keys) > 1:
        if len(keys) > _MOST_KEYS or len(set(names)) < len(names):
            raise SqlError("NOT_SUPPORTED", "json_object with so many, or equal, keys")
        if not all(isinstance(name, str) for name in names):
            raise SqlError("NOT_SUPPORTED", "json_object with several computed keys")
        order.sort(key=lambda i: _place(str(names[i])))
    members = []
    for i in order:
        key = (
            text(json.dumps(names[i], ensure_ascii=False) + ":")
            if isinstance(names[i], str)
            else f"t_json_quoted({keys[i].sql}) || ':'"
        )
        value = values[i].sql
        if tree.args.get("nulls") != "absent":
            value = f"coalesce({value}, 'null')"
        members.append(f"{key} || {value}")
    return Code(_joined(members, False, "{", "}"), VARCHAR)


_MOST_KEYS = 12
"""Number of keys up to which Java's hash table has 16 places."""


def _place(key: str) -> int:
    """Return the place of a text in Java's hash table, in whose order Trino writes members."""
    found = 0
    units = key.encode("utf-16-be")
    for i in range(0, len(units), 2):
        found = (31 * found + int.from_bytes(units[i : i + 2])) & 0xFFFFFFFF
    return (found ^ (found >> 16)) & 15
