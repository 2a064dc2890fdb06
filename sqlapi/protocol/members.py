"""What a request asks with: read from JSON, and compared with AWS's own model of the operation."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NoReturn

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

from sqlapi.protocol.errors import ApiError

__all__ = ["INVALID", "AbsentError", "Members", "model", "read_members"]

Members = dict[str, Any]
"""What an operation is given, or answers, by name."""

INVALID = {"athena": "InvalidRequestException", "glue": "InvalidInputException"}
"""By service, the error of a request that is not what it must be."""
_DEEPEST = 100
"""Objects and lists in each other. No operation has more than a dozen."""
_SHOWN = 60
_PAIRS = r"\uD800\uDC00-\uDBFF\uDFFF"
"""How AWS's models write the characters that UTF-16 has two units for."""
_CLASSES = re.compile(r"\^?(?:\[(?:[^\]\\]|\\[^p])+\](?:[*+?]|\{\d+,\d+\})?){1,2}\$?")
"""Patterns of one or two classes of characters, which Python matches in as much time as a text is
long. Others, such as those of ARNs, are not checked."""


class AbsentError(Exception):
    """A member that an operation needs, though AWS's model does not say so."""


class _Given(dict[str, Any]):
    """Members of a request: to ask for one that is absent is the client's error."""

    def __missing__(self, key: str) -> NoReturn:
        raise AbsentError(f"Missing required parameter in input: {key}")


@cache
def model(service: str) -> ServiceModel:
    """AWS's own description of a service, which botocore carries."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


def read_members(service: str, name: str, body: bytes) -> Members:
    """Return the members in a request's body. Raises ApiError for what the operation cannot have.

    Afterwards no text has a character, and no number a value, that PostgreSQL cannot keep.
    """
    try:
        members = json.loads(body or b"{}", parse_constant=_no_number)
        plain = _plain(members, 0)
    except (ValueError, RecursionError):
        raise ApiError("SerializationException", "The request is no JSON.") from None
    if not isinstance(plain, dict):
        raise ApiError("SerializationException", "The request is no JSON object.")
    _validate(service, model(service).operation_model(name), plain)
    return plain


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _plain(value: Any, depth: int) -> Any:
    """The value without members that are null, which count as absent. Raises ValueError."""
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(value, dict):
        kept = ((key, one) for key, one in value.items() if one is not None)
        return _Given((_plain(key, depth), _plain(one, depth + 1)) for key, one in kept)
    if isinstance(value, list):
        return [_plain(v, depth + 1) for v in value]
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text has the character U+0000")
        value.encode()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _validate(service: str, operation: OperationModel, members: Members) -> None:
    shape = operation.input_shape
    if shape is None:
        return
    try:
        report = ParamValidator().validate(members, shape)
    except (OverflowError, RuntimeError, OSError):
        raise ApiError(INVALID[service], "A time is out of range.") from None
    if report.has_errors():
        raise ApiError(INVALID[service], report.generate_report())
    for problem in _beyond(shape, members, ""):
        raise ApiError(INVALID[service], problem)


def _beyond(shape: Shape, value: Any, name: str) -> Iterator[str]:
    """What botocore leaves to the service: greatest lengths and numbers, patterns, choices."""
    limits = shape.metadata
    size = value if isinstance(value, int | float) else len(value)
    if "max" in limits and size > limits["max"]:
        yield f"Invalid length or value for parameter {name}: {_short(value)} > {limits['max']}"
    if isinstance(value, str):
        if "enum" in limits and value not in limits["enum"]:
            yield f"Invalid value for parameter {name}: {_short(value)}, one of {limits['enum']}"
        pattern = _pattern(limits.get("pattern", ""))
        if pattern and not pattern.fullmatch(value):
            yield (
                f"Invalid value for parameter {name}: {_short(value)} does not match "
                f"{limits['pattern']}"
            )
    if isinstance(shape, StructureShape):
        for key, one in value.items():
            if key in shape.members:
                yield from _beyond(shape.members[key], one, f"{name}.{key}".lstrip("."))
    elif isinstance(shape, ListShape):
        for number, one in enumerate(value):
            yield from _beyond(shape.member, one, f"{name}[{number}]")
    elif isinstance(shape, MapShape):
        for key, one in value.items():
            yield from _beyond(shape.key, key, f"{name} (key)")
            yield from _beyond(shape.value, one, f"{name}.{_short(key)}")


def _short(value: Any) -> str:
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


@cache
def _pattern(text: str) -> re.Pattern[str] | None:
    plain = text.replace(_PAIRS, r"\U00010000-\U0010ffff")
    return re.compile(plain) if _CLASSES.fullmatch(plain) else None
