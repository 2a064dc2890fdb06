"""Athena's strings for values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.sql.number_texts import java_double, java_real
from sqlapi.sql.types import Type

__all__ = ["as_text"]


def as_text(column: pa.ChunkedArray[Any], kind: Type) -> pa.ChunkedArray[Any]:
    """Return a result's column as strings; NULL stays NULL."""
    if kind.name in ("varchar", "json"):
        return column.cast(pa.string())
    if kind.is_integer:
        return column.cast(pa.string())
    if kind.name == "date":
        shown = column.cast(pa.string())
        # Java writes a plus before a year of five digits
        return pc.replace_substring_regex(shown, r"^(\d{5})", r"+\1")
    show = _shower(kind)
    return pa.chunked_array([pa.array([_none(show, v) for v in column.to_pylist()], pa.string())])


def _none(show: Callable[[Any], str], value: Any) -> str | None:
    return None if value is None else show(value)


def _shower(kind: Type) -> Callable[[Any], str]:  # noqa: PLR0911
    match kind.name:
        case "boolean":
            return lambda v: "true" if v else "false"
        case "double":
            return java_double
        case "real":
            return java_real
        case "decimal":
            return lambda v: format(v, "f")
        case "timestamp" | "timestamp with time zone":
            return lambda v: _timestamp(v, kind)
        case "varbinary":
            return lambda v: bytes(v).hex(" ")
        case "interval day to second":
            return _days
        case "interval year to month":
            return lambda v: f"{'-' if v < 0 else ''}{abs(v) // 12}-{abs(v) % 12}"
        case "array":
            inner = _inside(kind.args[0])
            return lambda v: f"[{', '.join(inner(x) for x in v)}]"
        case "map":
            key, value = _inside(kind.args[0]), _inside(kind.args[1])
            return lambda v: "{" + ", ".join(f"{key(k)}={value(x)}" for k, x in _pairs(v)) + "}"
        case "row":
            shows = [_inside(t) for t in kind.args]
            names = [n or f"field{i}" for i, n in enumerate(kind.fields)]
            return lambda v: (
                "{"
                + ", ".join(
                    f"{n}={show(x)}" for n, show, x in zip(names, shows, v.values(), strict=True)
                )
                + "}"
            )
    return str


def _pairs(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else value


def _inside(kind: Type) -> Callable[[Any], str]:
    show = _shower(kind)
    return lambda v: "null" if v is None else show(v)


def _timestamp(value: datetime, kind: Type) -> str:
    zone = ""
    if kind.zone:
        if kind.zone != "UTC":
            value = value.replace(tzinfo=UTC).astimezone(ZoneInfo(kind.zone))
        zone = f" {kind.zone}"
    digits = max(3, kind.size or 0)
    return f"{value:%Y-%m-%d %H:%M:%S.%f}"[: 20 + digits] + zone


def _days(value: int) -> str:
    sign, rest = ("-", -value) if value < 0 else ("", value)
    days, rest = divmod(rest, 86_400_000)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{sign}{days} {hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
