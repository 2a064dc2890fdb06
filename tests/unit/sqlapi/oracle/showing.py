"""Values of Trino's client protocol, as the texts in which Athena shows them."""

from __future__ import annotations

import base64
import re
from typing import Any

__all__ = ["shown", "type_name"]

_TIME = re.compile(r"(\d\d:\d\d:\d\d)(?:\.(\d+))?")
Signature = dict[str, Any]
"""A type as the protocol tells it: `rawType`, and `arguments`."""


def type_name(column: dict[str, Any]) -> str:
    """A column's type in the spelling of `sqlapi`."""
    return re.sub(r"(\d), (\d)", r"\1,\2", str(column["type"]).replace("INTERVAL", "interval")
                  .replace("DAY TO SECOND", "day to second")
                  .replace("YEAR TO MONTH", "year to month"))  # fmt: skip


def shown(value: Any, kind: Signature) -> str | None:
    """The text in a result; None is NULL."""
    return None if value is None else _text(value, kind)


def _text(value: Any, kind: Signature) -> str:  # noqa: PLR0911
    name = kind["rawType"]
    arguments = [argument["value"] for argument in kind["arguments"]]
    match name:
        case "boolean":
            return "true" if value else "false"
        case "varbinary":
            return base64.b64decode(value).hex(" ")
        case "array":
            return f"[{', '.join(_inside(item, arguments[0]) for item in value)}]"
        case "map":
            pairs = (f"{key}={_inside(item, arguments[1])}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
        case "row":
            pairs = (
                f"{_field(argument, i)}={_inside(item, argument['typeSignature'])}"
                for i, (argument, item) in enumerate(zip(arguments, value, strict=True))
            )
            return f"{{{', '.join(pairs)}}}"
    if name.startswith("time"):
        # Athena shows milliseconds where there are fewer digits
        return _TIME.sub(lambda m: f"{m[1]}.{(m[2] or '').ljust(3, '0')}", value, count=1)
    return str(value)


def _inside(value: Any, kind: Signature) -> str:
    return "null" if value is None else _text(value, kind)


def _field(argument: dict[str, Any], index: int) -> str:
    name = argument.get("fieldName")
    return str(name["name"]) if name else f"field{index}"
