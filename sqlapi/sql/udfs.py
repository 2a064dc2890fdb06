"""Python functions for results that must be exactly those of Java.

They take one value at a time, which is slow.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlapi.sql.addresses import url, url_decode, url_encode, url_parameter
from sqlapi.sql.code import failure
from sqlapi.sql.encodings import (
    checksum,
    from_base32,
    hash_bytes,
    hash_double,
    hash_number,
    keyed_hash,
    pack,
    pack_float,
    part_of,
    shift,
    to_base32,
    unpack,
    xxhash64,
)
from sqlapi.sql.java_math import (
    cbrt,
    guarded,
    guarded_pair,
    ln,
    log,
    log2,
    log10,
    round_to,
    width_bucket,
)
from sqlapi.sql.json_paths import path_exists, path_query, path_state, path_value
from sqlapi.sql.json_texts import (
    json_array_get,
    json_array_length,
    json_at,
    json_entries,
    json_fields,
    json_has,
    json_items,
    json_of_pairs,
    json_parse,
    json_quoted,
    json_scalar,
    json_scalar_at,
    json_size,
    json_value,
)
from sqlapi.sql.moments import kurtosis, skewness
from sqlapi.sql.number_texts import (
    double_cast,
    format_bits,
    format_fixed,
    java_double,
    real_cast,
    short_number,
)
from sqlapi.sql.scalar_functions import combinations, luhn, soundex, split_to_pairs
from sqlapi.sql.statement_errors import SqlError

__all__ = ["UDFS", "check_pattern", "null_safe"]

EPOCH = datetime(1970, 1, 1)
_MOST_STEPS = 1_000_000
"""Trino's limit on the product of two strings' lengths."""


def _codepoint(value: str) -> int:
    if len(value) != 1:
        raise failure("INVALID_FUNCTION_ARGUMENT", "Input string must be a single character string")
    return ord(value)


def _hamming(a: str, b: str) -> int:
    if len(a) != len(b):
        raise failure("INVALID_FUNCTION_ARGUMENT", "The input strings must have the same length")
    return sum(x != y for x, y in zip(a, b, strict=True))


def _levenshtein(a: str, b: str) -> int:
    if len(a) * (len(b) - 1) > _MOST_STEPS:
        raise failure(
            "INVALID_FUNCTION_ARGUMENT",
            "The combined inputs for Levenshtein distance are too large",
        )
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def _normalize(value: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> str:
    return unicodedata.normalize(form, value)


def _from_utf8(value: bytes) -> str:
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        # Trino replaces invalid bytes by its own rules
        raise failure("NOT_SUPPORTED", "from_utf8 of what is not UTF-8") from None


def _strpos(value: str, search: str, instance: int) -> int:
    if instance == 0:
        raise failure("INVALID_FUNCTION_ARGUMENT", "'instance' must not be zero")
    if not search:
        return 1
    if instance < 0:
        at = len(value)
        for _ in range(-instance):
            at = value.rfind(search, 0, at + len(search) - 1) if at >= 0 else -1
        return at + 1
    at = -1
    for _ in range(instance):
        at = value.find(search, at + 1)
        if at < 0:
            return 0
    return at + 1


def _split_limit(value: str, delimiter: str, limit: int) -> list[str]:
    if limit <= 0 or not delimiter:
        raise failure("INVALID_FUNCTION_ARGUMENT", "Limit must be positive")
    return value.split(delimiter, limit - 1)


_UNITS = {
    "ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
}  # fmt: skip


def _duration(value: str) -> int:
    found = re.fullmatch(r"\s*+(\d{1,18}(?:\.\d{1,18})?)\s*+(ns|us|ms|s|m|h|d)\s*+", value)
    if not found:
        raise failure(
            "INVALID_FUNCTION_ARGUMENT", f"duration is not a valid data duration string: {value}"
        )
    return math.floor(float(found[1]) * _UNITS[found[2]] + 0.5)


def _from_unixtime(value: float) -> datetime:
    return EPOCH + timedelta(milliseconds=math.floor(value * 1000 + 0.5))


_ISO_DATES = {
    r"\d{4}(-\d{1,2}(-\d{1,2})?)?": ("%Y", "%Y-%m", "%Y-%m-%d"),
    r"\d{4}-\d{3}": ("%Y-%j",),
    r"\d{4}-W\d{1,2}(-\d)?": ("%G-W%V-%u",),
}


def _iso_date(value: str) -> Any:
    for pattern, formats in _ISO_DATES.items():
        if re.fullmatch(pattern, value):
            whole = f"{value}-1" if "W" in value and value.count("-") == 1 else value
            try:
                form = formats[whole.count("-") if len(formats) > 1 else 0]
                return datetime.strptime(whole, form).replace(tzinfo=UTC).date()
            except ValueError:
                raise failure("INVALID_FUNCTION_ARGUMENT", f'Cannot parse "{value}"') from None
    raise failure("INVALID_FUNCTION_ARGUMENT", f'Invalid format: "{value}"')


def _iso_timestamp(value: str) -> datetime:
    """Parse an ISO 8601 time in UTC; refuse other zones, which would be part of the result."""
    found = re.fullmatch(
        r"(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2})?(?:[.,](\d{1,3}))?(Z)?)?", value
    )
    if not found or (found[4] and not found[3]):
        raise failure("NOT_SUPPORTED", f"from_iso8601_timestamp of {value}")
    clock = f"{found[1]} {found[2] or '00:00'}{found[3] or ':00'}.{(found[4] or '0').ljust(3, '0')}"
    try:
        return datetime.strptime(clock, "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        raise failure("INVALID_FUNCTION_ARGUMENT", f'Cannot parse "{value}"') from None


def _split_to_map(value: str, entry: str, pair: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in value.split(entry) if value else []:
        key, there, rest = part.partition(pair)
        if not there or key in found or pair in rest:
            raise failure("INVALID_FUNCTION_ARGUMENT", f"Bad entry or duplicate key: {part}")
        found[key] = rest
    return found


def _from_base(value: str, radix: int) -> int:
    try:
        if not re.fullmatch(r"[+-]?[0-9a-zA-Z]+", value):
            raise ValueError(value)
        number = int(value, radix)
        if not -(2**63) <= number < 2**63:
            raise ValueError(value)
        return number
    except ValueError:
        raise failure(
            "INVALID_FUNCTION_ARGUMENT", f"Not a valid base-{radix} number: {value}"
        ) from None


def check_pattern(name: str, pattern: str) -> None:
    """Raise SqlError for a date pattern with parts that are not supported."""
    from sqlapi.sql.date_patterns import parts

    try:
        parts(name, pattern)
    except ValueError as error:
        raise SqlError("NOT_SUPPORTED", str(error)) from None


def null_safe(call: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """Return the function with NULL for NULL, and with a signature that DuckDB can inspect."""
    if arity == 1:
        return lambda a: None if a is None else call(a)
    if arity == 2:
        return lambda a, b: None if a is None or b is None else call(a, b)
    if arity == 3:
        return lambda a, b, c: None if None in (a, b, c) else call(a, b, c)
    return lambda a, b, c, d: None if None in (a, b, c, d) else call(a, b, c, d)


REFUSING = (
    "t_url", "t_json_parse", "t_json_at", "t_json_scalar_at", "t_json_array_length",
    "t_json_scalar", "t_json_value", "t_json_items", "t_json_entries", "t_json_fields",
    "t_json_of_pairs", "t_path_exists", "t_path_query", "t_path_state", "t_path_value",
    "t_json_has",
    "t_json_quoted", "t_json_size", "t_url_parameter", "t_url_decode", "t_strpos",
    "t_iso_timestamp", "t_round_to", "t_cbrt", "t_soundex", "t_from_utf8",
)  # fmt: skip
"""Names of the functions in UDFS that refuse some values."""
Udf = tuple[Callable[..., Any], list[str], str]
_DD = ["DOUBLE"]
UDFS: dict[str, Udf] = {
    "t_codepoint": (_codepoint, ["VARCHAR"], "INTEGER"),
    "t_hamming": (_hamming, ["VARCHAR", "VARCHAR"], "BIGINT"),
    "t_levenshtein": (_levenshtein, ["VARCHAR", "VARCHAR"], "BIGINT"),
    "t_normalize": (_normalize, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_from_utf8": (_from_utf8, ["BLOB"], "VARCHAR"),
    "t_sha1": (lambda value: hashlib.sha1(value).digest(), ["BLOB"], "BLOB"),  # noqa: S324
    "t_sha512": (lambda value: hashlib.sha512(value).digest(), ["BLOB"], "BLOB"),
    "t_crc32": (zlib.crc32, ["BLOB"], "BIGINT"),
    "t_url_parameter": (url_parameter, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_url_encode": (url_encode, ["VARCHAR"], "VARCHAR"),
    "t_url_decode": (url_decode, ["VARCHAR"], "VARCHAR"),
    "t_strpos": (_strpos, ["VARCHAR", "VARCHAR", "BIGINT"], "BIGINT"),
    "t_split_limit": (_split_limit, ["VARCHAR", "VARCHAR", "BIGINT"], "VARCHAR[]"),
    "t_json_quoted": (json_quoted, ["VARCHAR"], "VARCHAR"),
    "t_json_size": (json_size, ["VARCHAR", "VARCHAR"], "BIGINT"),
    "t_json_items": (json_items, ["VARCHAR"], "VARCHAR[]"),
    "t_json_entries": (json_entries, ["VARCHAR"], "STRUCT(k VARCHAR, v VARCHAR)[]"),
    "t_json_fields": (json_fields, ["VARCHAR", "VARCHAR[]"], "VARCHAR[]"),
    "t_json_of_pairs": (json_of_pairs, ["VARCHAR[]", "VARCHAR[]"], "VARCHAR"),
    "t_json_array_get": (json_array_get, ["VARCHAR", "BIGINT"], "VARCHAR"),
    "t_path_exists": (path_exists, ["VARCHAR"] * 3, "BOOLEAN"),
    "t_path_query": (path_query, ["VARCHAR"] * 3, "VARCHAR"),
    "t_path_state": (path_state, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_path_value": (path_value, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_double_text": (java_double, ["DOUBLE"], "VARCHAR"),
    "t_json_value": (json_value, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_has": (json_has, ["VARCHAR", "VARCHAR", "VARCHAR"], "BOOLEAN"),
    "t_iso_timestamp": (_iso_timestamp, ["VARCHAR"], "TIMESTAMP"),
    "t_reversed_bytes": (lambda value: bytes(value)[::-1], ["BLOB"], "BLOB"),
    "t_reversed": (lambda value: value[::-1], ["VARCHAR"], "VARCHAR"),
    "t_url": (url, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_parse": (json_parse, ["VARCHAR"], "VARCHAR"),
    "t_json_scalar_at": (json_scalar_at, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_at": (json_at, ["VARCHAR", "VARCHAR"], "VARCHAR"),
    "t_json_array_length": (json_array_length, ["VARCHAR"], "BIGINT"),
    "t_json_scalar": (json_scalar, ["VARCHAR"], "BOOLEAN"),
    "t_duration": (_duration, ["VARCHAR"], "BIGINT"),
    "t_from_unixtime": (_from_unixtime, _DD, "TIMESTAMP"),
    "t_iso_date": (_iso_date, ["VARCHAR"], "DATE"),
    "t_split_to_map": (_split_to_map, ["VARCHAR"] * 3, "MAP(VARCHAR, VARCHAR)"),
    "t_width_bucket": (width_bucket, ["DOUBLE"] * 3 + ["BIGINT"], "BIGINT"),
    "t_round_to": (round_to, ["DOUBLE", "BIGINT"], "DOUBLE"),
    "t_from_base": (_from_base, ["VARCHAR", "BIGINT"], "BIGINT"),
    "t_cbrt": (cbrt, _DD, "DOUBLE"),
    "t_double_cast": (double_cast, ["DOUBLE"], "VARCHAR"),
    "t_real_cast": (real_cast, ["DOUBLE"], "VARCHAR"),
    "t_soundex": (soundex, ["VARCHAR"], "VARCHAR"),
    "t_luhn": (luhn, ["VARCHAR"], "BOOLEAN"),
    "t_split_to_pairs": (split_to_pairs, ["VARCHAR"] * 3, "STRUCT(k VARCHAR, v VARCHAR)[]"),
    "t_combinations": (combinations, ["BIGINT", "BIGINT"], "BIGINT[][]"),
    "t_hmac": (keyed_hash, ["BLOB", "BLOB", "VARCHAR"], "BLOB"),
    "t_xxhash64": (xxhash64, ["BLOB"], "BLOB"),
    "t_substr_bytes": (part_of, ["BLOB", "BIGINT", "BIGINT"], "BLOB"),
    "t_hash_number": (hash_number, ["BIGINT"], "BIGINT"),
    "t_hash_double": (hash_double, ["DOUBLE"], "BIGINT"),
    "t_hash_bytes": (hash_bytes, ["BLOB"], "BIGINT"),
    "t_checksum": (checksum, ["VARCHAR"], "BLOB"),
    "t_format_number": (short_number, ["BIGINT"], "VARCHAR"),
    "t_format_fixed": (format_fixed, ["VARCHAR", "BIGINT", "BOOLEAN"], "VARCHAR"),
    "t_format_bits": (format_bits, ["BIGINT", "BIGINT", "VARCHAR"], "VARCHAR"),
    "t_to_base32": (to_base32, ["BLOB"], "VARCHAR"),
    "t_from_base32": (from_base32, ["VARCHAR"], "BLOB"),
    "t_pack": (pack, ["BIGINT", "VARCHAR"], "BLOB"),
    "t_pack_float": (pack_float, ["DOUBLE", "VARCHAR"], "BLOB"),
    "t_unpack": (unpack, ["BLOB", "VARCHAR"], "BIGINT"),
    "t_shift": (shift, ["BIGINT"] * 4, "BIGINT"),
    "t_skewness": (skewness, ["DOUBLE[]"], "DOUBLE"),
    "t_kurtosis": (kurtosis, ["DOUBLE[]"], "DOUBLE"),
    "t_ln": (guarded(ln), _DD, "DOUBLE"),
    "t_log2": (guarded(log2), _DD, "DOUBLE"),
    "t_log10": (guarded(log10), _DD, "DOUBLE"),
    "t_log": (guarded_pair(log), ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "t_power": (guarded_pair(math.pow), ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "t_atan2": (guarded_pair(math.atan2), ["DOUBLE", "DOUBLE"], "DOUBLE"),
    **{
        f"t_{name}": (guarded(getattr(math, name)), _DD, "DOUBLE")
        for name in (
            "sinh", "tanh",
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
            raise failure("INVALID_FUNCTION_ARGUMENT", str(error)) from None

    return call


for _name in ("t_date_format", "t_format_datetime"):
    UDFS[_name] = (_date_udf(_name, True), ["TIMESTAMP", "VARCHAR"], "VARCHAR")
for _name in ("t_date_parse", "t_parse_datetime"):
    UDFS[_name] = (_date_udf(_name, False), ["VARCHAR", "VARCHAR"], "TIMESTAMP")
