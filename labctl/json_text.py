"""Results as JSON, for `--output json` and for files of measurements."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import json
from pathlib import Path
from typing import Any

__all__ = ["to_json", "to_json_line"]


def to_json(data: Any) -> str:
    """Return indented JSON with stable keys, ISO 8601 timestamps and decimals as strings."""
    return json.dumps(data, default=_plain, indent=2, ensure_ascii=False)


def to_json_line(data: Any) -> str:
    """Write the same in one line, for results that come one after the other."""
    return json.dumps(data, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal | Path):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"no JSON form for {type(value).__name__}")
