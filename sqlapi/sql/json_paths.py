"""SQL/JSON paths: members, elements and `[*]`, in lax and strict mode."""

from __future__ import annotations

import json
import re
from typing import Any

from sqlapi.sql.code import failure
from sqlapi.sql.json_texts import check_numbers, dumped, load_json, scalar_text

__all__ = ["PATH", "path_exists", "path_query", "path_state", "path_value"]

_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\.\"([^\"\\]*)\"|\[([0-9]{1,9})\]|(\[\*\])")
PATH = re.compile(rf"(lax|strict) \$({_STEP.pattern})*")


class _PathError(Exception):
    """The value has no such part, in strict mode, or is no JSON."""


def _items(value: str, path: str) -> list[Any]:
    """Return what a path finds. Raises _PathError."""
    try:
        tree = load_json(value)
    except json.JSONDecodeError:
        raise _PathError from None
    mode, _, steps = path.partition(" ")
    found = [tree]
    for name, quoted, index, every in _STEP.findall(steps):
        found = [
            item
            for one in found
            for item in _step(one, name or quoted, index, bool(every), mode == "lax")
        ]
    for item in found:
        check_numbers(item)
    return found


def _step(item: Any, name: str, index: str, every: bool, lax: bool) -> list[Any]:
    if every or index:
        # in lax mode, another value stands for an array of it
        elements = item if isinstance(item, list) else [item]
        if not lax and not isinstance(item, list):
            raise _PathError
        if every:
            return list(elements)
        if int(index) < len(elements):
            return [elements[int(index)]]
    elif isinstance(item, dict):
        if name in item:
            return [item[name]]
    elif lax and isinstance(item, list):
        # in lax mode, a member of an array is that of its objects
        return [one[name] for one in item if isinstance(one, dict) and name in one]
    if lax:
        return []
    raise _PathError


def path_exists(value: str, path: str, on_error: str) -> bool | None:
    """Return whether a path finds something; `on_error` decides for what is no JSON."""
    try:
        return bool(_items(value, path))
    except _PathError:
        if on_error == "error":
            raise failure("PATH_EVALUATION_ERROR", "path evaluation failed") from None
        return {"true": True, "false": False}.get(on_error)


def path_query(value: str, path: str, form: str) -> str | None:
    """Return what a path finds as JSON; `form` is `wrapper,quotes,on_empty,on_error`."""
    wrapper, quotes, on_empty, on_error = form.split(",")
    try:
        found = _items(value, path)
    except _PathError:
        return _other(on_error, "path evaluation failed")
    if not found:
        return _other(on_empty, "JSON path found no items")
    is_wrapped = wrapper == "unconditional" or (
        wrapper == "conditional" and (len(found) > 1 or not isinstance(found[0], dict | list))
    )
    if is_wrapped:
        return dumped(found)
    if len(found) > 1:
        return _other(on_error, "JSON path found multiple items")
    if quotes == "omit" and type(found[0]) is str:
        return found[0]
    return dumped(found[0])


def _other(behaviour: str, message: str) -> str | None:
    if behaviour == "error":
        raise failure("JSON_OUTPUT_CONVERSION_ERROR", message)
    return {"empty array": "[]", "empty object": "{}"}.get(behaviour)


def path_state(value: str, path: str) -> str:
    """Return whether a path finds one scalar (`found`), nothing (`empty`), or fails (`error`)."""
    try:
        found = _items(value, path)
    except _PathError:
        return "error"
    if not found:
        return "empty"
    return "error" if len(found) > 1 or isinstance(found[0], dict | list) else "found"


def path_value(value: str, path: str) -> str | None:
    """Return the scalar at a path as text; None for JSON's null, no value, and several."""
    if path_state(value, path) != "found":
        return None
    return scalar_text(_items(value, path)[0])
