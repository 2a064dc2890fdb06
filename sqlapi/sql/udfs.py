"""Functions in Python, for what must come out as Java writes it.

One value at a time: slow, and right.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from sqlapi.sql.code import FAILURE
from sqlapi.sql.errors import SqlError

__all__ = ["UDFS", "check_pattern", "java_double", "java_real", "null_safe"]

EPOCH = datetime(1970, 1, 1)


def _fail(kind: str, message: str) -> ValueError:
    return ValueError(f"{FAILURE}{kind}{FAILURE}{message}{FAILURE}")


def java_double(value: float) -> str:
    """As Java's Double.toString: 1.0, 1.0E-4, NaN, Infinity."""
    return _java(value, repr)


def java_real(value: float) -> str:
    """The same of a value that has 32 bits."""
    return _java(value, lambda x: str(np.float32(x)) if x else repr(x))


def _java(value: float, shortest: Callable[[float], str]) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0"
    mantissa, _, exponent = shortest(abs(value)).lower().partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    lead = len(whole.lstrip("0")) if whole.strip("0") else -(len(part) - len(part.lstrip("0")))
    point = lead + int(exponent or 0)
    digits = digits.rstrip("0") or "0"
    if -3 < point <= 7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        padded = digits.ljust(point, "0")
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _codepoint(value: str) -> int:
    if len(value) != 1:
        raise _fail("INVALID_FUNCTION_ARGUMENT", "Input string must be a single character string")
    return ord(value)


def _hamming(a: str, b: str) -> int:
    if len(a) != len(b):
        raise _fail("INVALID_FUNCTION_ARGUMENT", "The input strings must have the same length")
    return sum(x != y for x, y in zip(a, b, strict=True))


def _levenshtein(a: str, b: str) -> int:
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def _nfc(value: str) -> str:
    return unicodedata.normalize("NFC", value)


def _url(value: str, part: str) -> str | None:
    if re.search(r"[\s\"<>\\^`{|}%]", value) or not value.isascii():
        raise _fail("NOT_SUPPORTED", "An address with these characters")
    found = urlsplit(value)
    match part:
        case "host":
            return found.hostname and re.sub(r"^.*@|:\d*$", "", found.netloc)
        case "path":
            return found.path
        case "protocol":
            return value.partition(":")[0] if found.scheme else ""
    return found.query


def _json_load(value: str) -> Any:
    def constant(text: str) -> Any:
        raise ValueError(text)

    return json.loads(value, parse_float=_Number, parse_int=_Number, parse_constant=constant)


class _Number(str):
    """A number of JSON with the digits it was written with."""

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


def _json_parse(value: str) -> str:
    try:
        tree = _json_load(value)
    except ValueError:
        raise _fail("INVALID_FUNCTION_ARGUMENT", f"Cannot convert '{value}' to JSON") from None
    _check_numbers(tree)
    return _dump(tree, ordered=True)


def _check_numbers(tree: Any) -> None:
    """Trino writes 1e3 and 1.00 in a way of its own: such numbers are not offered."""
    if isinstance(tree, _Number):
        if not re.fullmatch(r"-?\d{1,18}(\.\d{0,14}[1-9])?", tree):
            raise _fail("NOT_SUPPORTED", f"The JSON number {tree} is not supported")
    elif isinstance(tree, dict):
        for value in tree.values():
            _check_numbers(value)
    elif isinstance(tree, list):
        for value in tree:
            _check_numbers(value)


_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[\"([^\"]*)\"\]")


def _walk(value: str, path: str) -> tuple[bool, Any]:
    try:
        tree = _json_load(value)
    except ValueError:
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


def _json_scalar_at(value: str, path: str) -> str | None:
    there, found = _walk(value, path)
    if not there or found is None or isinstance(found, dict | list):
        return None
    return str(found).lower() if isinstance(found, bool) else str(found)


def _json_at(value: str, path: str) -> str | None:
    there, found = _walk(value, path)
    if not there:
        return None
    _check_numbers(found)
    return _dump(found, ordered=False)


def _json_array_length(value: str) -> int | None:
    there, found = _walk(value, "$")
    return len(found) if there and isinstance(found, list) else None


def _json_scalar(value: str) -> bool | None:
    there, found = _walk(value, "$")
    if not there:
        raise _fail("INVALID_FUNCTION_ARGUMENT", "Invalid JSON value")
    return not isinstance(found, dict | list)


_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def _duration(value: str) -> int:
    found = re.fullmatch(r"\s*(\d+)\s*(ms|s|m|h|d)\s*", value)
    if not found:
        raise _fail(
            "INVALID_FUNCTION_ARGUMENT", f"duration is not a valid data duration string: {value}"
        )
    return int(found[1]) * _UNITS[found[2]]


def _from_unixtime(value: float) -> datetime:
    return EPOCH + timedelta(milliseconds=math.floor(value * 1000 + 0.5))


def _iso_date(value: str) -> Any:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise _fail("INVALID_FUNCTION_ARGUMENT", f'Invalid format: "{value}"')
    try:
        return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise _fail("INVALID_FUNCTION_ARGUMENT", f'Cannot parse "{value}"') from None


def _split_to_map(value: str, entry: str, pair: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in value.split(entry) if value else []:
        key, there, rest = part.partition(pair)
        if not there or key in found or pair in rest:
            raise _fail("INVALID_FUNCTION_ARGUMENT", f"Bad entry or duplicate key: {part}")
        found[key] = rest
    return found


def _width_bucket(x: float, low: float, high: float, count: int) -> int:
    if count <= 0 or low == high or not all(map(math.isfinite, (x, low, high))):
        raise _fail("INVALID_FUNCTION_ARGUMENT", "bucketCount must be greater than 0")
    if low > high:
        raise _fail("NOT_SUPPORTED", "width_bucket with bounds that fall")
    if x < low:
        return 0
    return count + 1 if x >= high else int(count * (x - low) / (high - low) + 1)


def _round_to(value: float, digits: int) -> float:
    if not math.isfinite(value):
        return value
    factor = math.pow(10, digits)
    scaled = abs(value) * factor
    if scaled >= 2**63:
        raise _fail("NOT_SUPPORTED", "round of a number of this size")
    return math.copysign(math.floor(scaled + 0.5) / factor, value)


def _from_base(value: str, radix: int) -> int:
    try:
        if not re.fullmatch(r"[+-]?[0-9a-zA-Z]+", value):
            raise ValueError(value)
        return int(value, radix)
    except ValueError:
        raise _fail(
            "INVALID_FUNCTION_ARGUMENT", f"Not a valid base-{radix} number: {value}"
        ) from None


def _java_math(compute: Callable[..., float], *values: float) -> float:
    """Outside of a function's range Java gives NaN, or an infinity."""
    try:
        return float(compute(*values))
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def _guarded(compute: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: _java_math(compute, x)


def _guarded_pair(compute: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda x, y: _java_math(compute, x, y)


def _ln(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


def _log10(x: float) -> float:
    return -math.inf if x == 0 else math.log10(x)


def _log2(x: float) -> float:
    return math.log(x) / math.log(2) if x else -math.inf


def _log(base: float, x: float) -> float:
    return math.log(x) / math.log(base)


def check_pattern(name: str, pattern: str) -> None:
    """Raises SqlError for a pattern of dates with parts that are not offered."""
    from sqlapi.sql.date_patterns import parts

    try:
        parts(name, pattern)
    except ValueError as error:
        raise SqlError("NOT_SUPPORTED", str(error)) from None


def null_safe(call: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """The same function with NULL for NULL. DuckDB counts the parameters it sees."""
    if arity == 1:
        return lambda a: None if a is None else call(a)
    if arity == 2:
        return lambda a, b: None if a is None or b is None else call(a, b)
    if arity == 3:
        return lambda a, b, c: None if None in (a, b, c) else call(a, b, c)
    return lambda a, b, c, d: None if None in (a, b, c, d) else call(a, b, c, d)


Udf = tuple[Callable[..., Any], list[str], str]
_DD = ["DOUBLE"]
UDFS: dict[str, Udf] = {
    "t_codepoint": (_codepoint, ["VARCHAR"], "INTEGER"),
    "t_hamming": (_hamming, ["VARCHAR", "VARCHAR"], "BIGINT"),
    "t_levenshtein": (_levenshtein, ["VARCHAR", "VARCHAR"], "BIGINT"),
    "t_nfc": (_nfc, ["VARCHAR"], "VARCHAR"),
    "t_url": (_url, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_parse": (_json_parse, ["VARCHAR"], "VARCHAR"),
    "t_json_scalar_at": (_json_scalar_at, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_at": (_json_at, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_array_length": (_json_array_length, ["VARCHAR"], "BIGINT"),
    "t_json_scalar": (_json_scalar, ["VARCHAR"], "BOOLEAN"),
    "t_duration": (_duration, ["VARCHAR"], "BIGINT"),
    "t_from_unixtime": (_from_unixtime, _DD, "TIMESTAMP"),
    "t_iso_date": (_iso_date, ["VARCHAR"], "DATE"),
    "t_split_to_map": (_split_to_map, ["VARCHAR"] * 3, "MAP(VARCHAR, VARCHAR)"),
    "t_width_bucket": (_width_bucket, ["DOUBLE"] * 3 + ["BIGINT"], "BIGINT"),
    "t_round_to": (_round_to, ["DOUBLE", "BIGINT"], "DOUBLE"),
    "t_from_base": (_from_base, ["VARCHAR", "BIGINT"], "BIGINT"),
    "t_ln": (_guarded(_ln), _DD, "DOUBLE"),
    "t_log2": (_guarded(_log2), _DD, "DOUBLE"),
    "t_log10": (_guarded(_log10), _DD, "DOUBLE"),
    "t_log": (_guarded_pair(_log), ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "t_power": (_guarded_pair(math.pow), ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "t_atan2": (_guarded_pair(math.atan2), ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "t_cbrt": (_guarded(math.cbrt), _DD, "DOUBLE"),
    **{
        f"t_{name}": (_guarded(getattr(math, name)), _DD, "DOUBLE")
        for name in (
            "sqrt", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians",
        )
    },
}  # fmt: skip


def _date_udf(name: str, formats: bool) -> Callable[[Any, str], Any]:
    from sqlapi.sql.date_patterns import formatted, parsed

    def call(value: Any, pattern: str) -> Any:
        try:
            return formatted(name, value, pattern) if formats else parsed(name, value, pattern)
        except ValueError as error:
            raise _fail("INVALID_FUNCTION_ARGUMENT", str(error)) from None

    return call


for _name in ("t_date_format", "t_format_datetime"):
    UDFS[_name] = (_date_udf(_name, True), ["TIMESTAMP", "VARCHAR"], "VARCHAR")
for _name in ("t_date_parse", "t_parse_datetime"):
    UDFS[_name] = (_date_udf(_name, False), ["VARCHAR", "VARCHAR"], "TIMESTAMP")
