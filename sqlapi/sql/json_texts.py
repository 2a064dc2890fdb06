"""JSON as Trino reads and writes it, one string at a time."""

from __future__ import annotations

import json
import re
from typing import Any

from sqlapi.sql.code import failure

__all__ = [
    "check_numbers",
    "dumped",
    "json_array_get",
    "json_array_length",
    "json_at",
    "json_entries",
    "json_fields",
    "json_has",
    "json_items",
    "json_of_pairs",
    "json_parse",
    "json_quoted",
    "json_scalar",
    "json_scalar_at",
    "json_size",
    "json_value",
    "load_json",
    "scalar_text",
]


def load_json(value: str, *, last: bool = False) -> Any:
    """Parse a JSON text. With `last`, the last of several members with one name counts.

    Raises JSONDecodeError, and ValueError for JSON that is not supported, such as members with
    one name without `last`.
    """

    def constant(text: str) -> Any:
        raise json.JSONDecodeError("not a value of JSON", text, 0)

    try:
        return json.loads(
            value, parse_float=_Number, parse_int=_Number, parse_constant=constant,
            object_pairs_hook=dict if last else _object,
        )  # fmt: skip
    except RecursionError:
        raise failure("NOT_SUPPORTED", "JSON that is nested so deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise failure("NOT_SUPPORTED", "A JSON object with two members of one name")
    return found


class _Number(str):
    """A number in JSON, with its original digits."""

    __slots__ = ()


def _dump(value: Any, *, ordered: bool) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        pairs = sorted(value.items()) if ordered else value.items()
        inside = (f"{_dump(k, ordered=ordered)}:{_dump(v, ordered=ordered)}" for k, v in pairs)
        return "{" + ",".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_dump(v, ordered=ordered) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def json_parse(value: str) -> str:
    try:
        tree = load_json(value, last=True)
    except json.JSONDecodeError:
        raise failure("INVALID_FUNCTION_ARGUMENT", f"Cannot convert '{value}' to JSON") from None
    check_numbers(tree)
    return _dump(tree, ordered=True)


def check_numbers(tree: Any) -> None:
    """Raise ValueError for numbers such as 1e3 and 1.00, which Trino writes differently."""
    if isinstance(tree, _Number):
        if not re.fullmatch(r"-?\d{1,18}(\.\d{0,14}[1-9])?", tree) or tree == "-0":
            raise failure("NOT_SUPPORTED", f"The JSON number {tree} is not supported")
    elif isinstance(tree, dict):
        for value in tree.values():
            check_numbers(value)
    elif isinstance(tree, list):
        for value in tree:
            check_numbers(value)


_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[\"([^\"]*)\"\]")


def _walk(value: str, path: str) -> tuple[bool, Any]:
    try:
        tree = load_json(value)
    except json.JSONDecodeError:
        return False, None
    for name, index, quoted in _STEP.findall(path):
        if index:
            if not isinstance(tree, list) or int(index) >= len(tree):
                return False, None
            tree = tree[int(index)]
        else:
            if not isinstance(tree, dict) or (name or quoted) not in tree:
                return False, None
            tree = tree[name or quoted]
    return True, tree


def json_scalar_at(value: str, path: str) -> str | None:
    there, found = _walk(value, path)
    if not there or found is None or isinstance(found, dict | list):
        return None
    return str(found).lower() if isinstance(found, bool) else str(found)


def json_at(value: str, path: str) -> str | None:
    there, found = _walk(value, path)
    if not there:
        return None
    check_numbers(found)
    return _dump(found, ordered=False)


def json_array_length(value: str) -> int | None:
    there, found = _walk(value, "$")
    return len(found) if there and isinstance(found, list) else None


def json_scalar(value: str) -> bool | None:
    there, found = _walk(value, "$")
    if not there:
        raise failure("INVALID_FUNCTION_ARGUMENT", "Invalid JSON value")
    return not isinstance(found, dict | list)


def _text_of(tree: Any, wanted: str) -> str | None:
    """Return a value as the text of a number, double, boolean or varchar; None for null."""
    if tree is None:
        return None
    if isinstance(tree, bool):
        given, shown = "boolean", "true" if tree else "false"
    elif isinstance(tree, _Number):
        given, shown = ("number" if re.fullmatch(r"-?\d{1,18}", tree) else "double"), str(tree)
    elif isinstance(tree, str):
        given, shown = "varchar", tree
    else:
        raise failure("NOT_SUPPORTED", f"Cast of JSON to {wanted}")
    if wanted == given or (wanted == "double" and given == "number"):
        return shown
    if wanted == "varchar" and given != "double":
        return shown
    if wanted == "number" and given == "varchar" and re.fullmatch(r"-?\d{1,18}", shown):
        return shown
    raise failure("NOT_SUPPORTED", f"Cast of the JSON {shown} to {wanted}")


def json_size(value: str, path: str) -> int | None:
    """Return the number of members or elements: 0 for a scalar, None for no value."""
    there, found = _walk(value, path)
    if not there:
        return None
    return len(found) if isinstance(found, dict | list) else 0


def json_quoted(value: str) -> str:
    """Return a string as JSON."""
    if re.search(r"[\x00-\x1f\x7f]", re.sub(r"[\n\r\t]", "", value)):
        raise failure("NOT_SUPPORTED", "Cast of a text with control characters to JSON")
    return json.dumps(value, ensure_ascii=False)


def json_value(value: str, wanted: str) -> str | None:
    return _text_of(load_json(value), wanted)


def scalar_text(tree: Any) -> str | None:
    """Return a number, string or boolean as text; None for null."""
    if tree is None:
        return None
    return str(tree).lower() if isinstance(tree, bool) else str(tree)


def dumped(tree: Any) -> str:
    """Return a tree as JSON, members in their order."""
    return _dump(tree, ordered=False)


def _part(tree: Any) -> str | None:
    return None if tree is None else dumped(tree)


def json_items(value: str) -> list[str | None] | None:
    """Return the JSON of an array's elements; None for null."""
    tree = load_json(value)
    if tree is None:
        return None
    if not isinstance(tree, list):
        raise failure(
            "INVALID_CAST_ARGUMENT", f"Cannot cast to array. Expected a json array: {value}"
        )
    return [_part(item) for item in tree]


def json_entries(value: str) -> list[dict[str, str | None]] | None:
    """Return the members of an object, with the JSON of their values; None for null."""
    tree = load_json(value)
    if tree is None:
        return None
    if not isinstance(tree, dict):
        raise failure(
            "INVALID_CAST_ARGUMENT", f"Cannot cast to map. Expected a json object: {value}"
        )
    return [{"k": key, "v": _part(item)} for key, item in tree.items()]


def json_fields(value: str, names: list[str]) -> list[str | None] | None:
    """Return the JSON of a row's fields, from an object by name or an array by place."""
    tree = load_json(value)
    if tree is None:
        return None
    if isinstance(tree, dict):
        small = {key.lower(): item for key, item in tree.items()}
        if len(small) < len(tree) or len(set(names)) < len(names):
            raise failure("NOT_SUPPORTED", "Cast to a row with several fields of one name")
        return [_part(small.get(name)) for name in names]
    if not isinstance(tree, list) or len(tree) != len(names):
        raise failure("INVALID_CAST_ARGUMENT", f"Cannot cast to row: {value}")
    return [_part(item) for item in tree]


def json_of_pairs(keys: list[str], values: list[str | None]) -> str:
    """Return the object of names and JSON values, ordered by name, as CAST makes it of a map."""
    pairs = sorted(zip(keys, values, strict=True), key=lambda pair: pair[0])
    return "{" + ",".join(f"{json_quoted(k)}:{v or 'null'}" for k, v in pairs) + "}"


def json_array_get(value: str, index: int) -> str | None:
    """Return an element, of which Trino shows text without quotes; -1 is the last one."""
    there, tree = _walk(value, "$")
    if not there or not isinstance(tree, list) or not -len(tree) <= index < len(tree):
        return None
    item = tree[index]
    return scalar_text(item) if not isinstance(item, dict | list) else dumped(item)


def json_has(value: str, searched: str, wanted: str) -> bool | None:
    """Return whether an array has the value; None if it is no array."""
    there, tree = _walk(value, "$")
    if not there or not isinstance(tree, list):
        return None
    kinds: dict[str, type] = {"varchar": str, "number": _Number, "boolean": bool}
    for item in tree:
        if wanted == "number" and isinstance(item, _Number) and not item.lstrip("-").isdigit():
            raise failure("NOT_SUPPORTED", f"json_array_contains beside {item}")
        shown = str(item).lower() if wanted == "boolean" else item
        if type(item) is kinds[wanted] and shown == searched:
            return True
    return False
