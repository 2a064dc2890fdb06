"""Values that PostgreSQL did not send: Debezium writes a placeholder, which is no value.

If an update leaves a large value unchanged, the log does not have it, unless the table's replica
identity is FULL. Debezium then writes a text, in the form of the column's type.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Literal

__all__ = ["PLACEHOLDER", "Form", "form_of", "is_unavailable", "unavailable_reason"]

PLACEHOLDER = "__debezium_unavailable_value"
_BYTES = PLACEHOLDER.encode()

Form = Literal["text", "bytes", "texts", "ints", "longs", "dates"]
"""The kinds of columns for which the text has a form."""

_TEXTS = (
    PLACEHOLDER,
    _BYTES.hex(),
    base64.b64encode(_BYTES).decode(),
    f'{{"{PLACEHOLDER}":"{PLACEHOLDER}"}}',
)
"""The text as text, as bytes in hexadecimal digits or in base 64, and as `hstore`."""
_FORMS: Mapping[Form, tuple[str, ...]] = {
    "text": tuple(f"'{text}'" for text in _TEXTS),
    "bytes": (f"X'{_BYTES.hex()}'",),
    "texts": (f"array('{PLACEHOLDER}')",),
    "ints": (f"array({', '.join(map(str, _BYTES))})",),
    "longs": (f"array({', '.join(f'{byte}L' for byte in _BYTES)})",),
    "dates": (f"array({', '.join(f'date_from_unix_date({byte})' for byte in _BYTES)})",),
}
"""Spark SQL of each form."""
_OF_ITEMS: Mapping[tuple[object, object], Form] = {
    ("string", None): "texts",
    ("int", None): "ints",
    ("long", None): "longs",
    ("int", "date"): "dates",
}
"""Forms by the type of an array's items and its logical type: moments are not numbers."""


def form_of(node: Any) -> Form | None:
    """Return the form of an Avro type, as it is decoded; None if it has none."""
    plain = _plain(node)
    if not isinstance(plain, dict):
        return "text" if plain == "string" else "bytes" if plain == "bytes" else None
    if plain["type"] == "array":
        item = _plain(plain["items"])
        kind, meaning = (
            (item.get("type"), item.get("logicalType")) if isinstance(item, dict) else (item, None)
        )
        return _OF_ITEMS.get((kind, meaning)) if isinstance(kind, str) else None
    if plain["type"] == "bytes" and plain.keys() & {"logicalType", "connect.name"}:
        return None
    return form_of(plain["type"])


def _plain(node: Any) -> Any:
    """Return an Avro type without NULL; None if it is a union of several types."""
    if not isinstance(node, list):
        return node
    branches = [branch for branch in node if branch != "null"]
    return branches[0] if len(branches) == 1 else None


def is_unavailable(columns: Iterable[tuple[str, Form]]) -> str | None:
    """Return Spark SQL that is true if one of the columns has no value of its own.

    Columns are Spark SQL, too. Returns None without columns.
    """
    by_form: dict[Form, list[str]] = {}
    for column, form in columns:
        by_form.setdefault(form, []).append(column)
    # One test for all columns and texts: for 200 columns, single tests take as long as decoding.
    tests = [
        f"coalesce(arrays_overlap(array({', '.join(names)}), array({', '.join(_FORMS[form])})), "
        "FALSE)"
        for form, names in by_form.items()
    ]
    return " OR ".join(tests) or None


def unavailable_reason(name: str) -> str:
    """Return why a record with such a column is bad, and what to do."""
    return (
        f"its {name} is {PLACEHOLDER}, which no column may hold: Debezium writes it where "
        "PostgreSQL does not send a large value that an update leaves as it is. Of another engine, "
        "or where it is the text itself, change the value. Else have it sent (ALTER TABLE … "
        "REPLICA IDENTITY FULL), or have Debezium read it (post.processors=reselector, as labctl "
        "init writes it); then labctl "
        "connectors snapshot loads the table again"
    )
