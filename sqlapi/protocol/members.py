"""The members of a request, parsed from JSON and validated with AWS's model of the operation."""

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

from sqlapi.protocol.protocol_errors import ApiError

__all__ = ["INVALID", "AbsentError", "Members", "model", "read_members"]

Members = dict[str, Any]
"""An operation's input or output, by name."""

INVALID = {"athena": "InvalidRequestException", "glue": "InvalidInputException"}
"""The error code for an invalid request, by service."""
_DEEPEST = 100
"""Levels of nested objects and lists. No operation needs more than a dozen."""
_SHOWN = 60
_PAIRS = r"\uD800\uDC00-\uDBFF\uDFFF"
"""The notation in AWS's models for characters that take two units in UTF-16."""
_CLASSES = re.compile(r"\^?(?:\[(?:[^\]\\]|\\[^p])+\](?:[*+?]|\{\d+,\d+\})?){1,2}\$?")
"""Patterns of one or two character classes, which Python matches in linear time. Other patterns,
such as those of ARNs, are not checked."""


class AbsentError(Exception):
    """A member is missing that the operation needs, though AWS's model does not require it."""


class _Given(dict[str, Any]):
    """Members of a request; a lookup of a missing one raises AbsentError, the client's error."""

    def __missing__(self, key: str) -> NoReturn:
        raise AbsentError(f"Missing required parameter in input: {key}")


@cache
def model(service: str) -> ServiceModel:
    """Return AWS's model of a service, which botocore ships."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


def read_members(service: str, name: str, body: bytes) -> Members:
    """Return the members in a request's body. Raises ApiError for input that is not valid.

    The strings and numbers in the result are ones that PostgreSQL can store.
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
    """Return the value without null members, which count as absent. Raises ValueError."""
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
    """Yield violations that botocore does not check: maximum sizes, patterns and enums."""
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
