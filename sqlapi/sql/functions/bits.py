"""Shifts and counts of bits, hashes, and encodings of binary values."""

from __future__ import annotations

from collections.abc import Sequence

from sqlapi.sql.code import Code, coerced, failing
from sqlapi.sql.functions.aggregates import AGGREGATES, Call
from sqlapi.sql.functions.registry import function, simple, wrong_arguments
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    DOUBLE,
    INTEGER,
    REAL,
    TINYINT,
    UNKNOWN,
    VARBINARY,
    VARCHAR,
)

B, N, V = VARBINARY, BIGINT, VARCHAR
_WIDTHS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}

for _hash in ("md5", "sha1", "sha256", "sha512"):
    simple(f"hmac_{_hash}", [B, B], B, f"t_hmac({{0}}, {{1}}, '{_hash}')")
simple("xxhash64", [B], B, "t_xxhash64({0})")
simple(
    "substr substring", [B, N], B, "t_substr_bytes({0}, {1}, CAST(9223372036854775807 AS BIGINT))"
)
simple("substr substring", [B, N, N], B, "t_substr_bytes({0}, {1}, {2})")
simple("to_base64url", [B], V, "translate(to_base64({0}), '+/', '-_')")
simple("from_base64url", [V], B, "from_base64(translate({0}, '-_', '+/'))")
simple("to_base32", [B], V, "t_to_base32({0})")
simple("from_base32", [V], B, "t_from_base32({0})")
simple("to_big_endian_64", [N], B, "t_pack({0}, '>q')")
simple("to_big_endian_32", [INTEGER], B, "t_pack(CAST({0} AS BIGINT), '>i')")
simple("from_big_endian_64", [B], N, "t_unpack({0}, '>q')")
simple("from_big_endian_32", [B], INTEGER, "CAST(t_unpack({0}, '>i') AS INTEGER)")
simple("to_ieee754_64", [DOUBLE], B, "t_pack_float({0}, '>d')")
simple("to_ieee754_32", [REAL], B, "t_pack_float(CAST({0} AS DOUBLE), '>f')")


_SALT = 0x9E3779B185EBCA87
"""Number by which each hash is multiplied, and which a NULL counts."""


def _checksum(call: Call, codes: Sequence[Code]) -> Code:
    if len(codes) != 1:
        raise wrong_arguments("checksum", codes)
    sql, kind = codes[0].sql, codes[0].type
    if kind.is_integer or kind.name == "boolean":
        hashed = f"t_hash_number(CAST({sql} AS BIGINT))"
    elif kind == DOUBLE:
        hashed = f"t_hash_double({sql})"
    elif kind.name == "date":
        hashed = f"t_hash_number(CAST({sql} - DATE '1970-01-01' AS BIGINT))"
    elif kind.name == "varchar":
        hashed = f"t_hash_bytes(encode({sql}))"
    elif kind == VARBINARY:
        hashed = f"t_hash_bytes({sql})"
    else:
        raise SqlError("NOT_SUPPORTED", f"checksum of {kind} is not supported")
    number = f"CASE WHEN {sql} IS NULL THEN {_SALT}::HUGEINT ELSE CAST({hashed} AS HUGEINT) END"
    total = call(f"sum({number})")
    return Code(f"t_checksum(CAST({total} AS VARCHAR))", VARBINARY)


AGGREGATES["checksum"] = _checksum


def _shift(name: str, arithmetic: bool, left: bool) -> None:
    @function(name)
    def shifted(value: Code, by: Code) -> Code:
        if value.type == UNKNOWN:
            return Code("CAST(NULL AS TINYINT)", TINYINT)
        width = _WIDTHS.get(value.type.name)
        if width is None or not by.type.is_integer:
            raise wrong_arguments(name, [value, by])
        sql, number = coerced(value, BIGINT).sql, coerced(by, BIGINT).sql
        negative = failing(
            "INVALID_FUNCTION_ARGUMENT", "'Specified shift must be positive'", "BIGINT"
        )
        # Python's numbers have no width, and DuckDB fails for bits that are shifted out
        made = f"t_shift({sql}, {number}, {width}, {1 if left else 2 if arithmetic else 0})"
        test = f"CASE WHEN {number} < 0 THEN {negative} ELSE {made} END"
        return Code(f"CAST({test} AS {value.type.duck})", value.type)


_shift("bitwise_left_shift", arithmetic=False, left=True)
_shift("bitwise_right_shift", arithmetic=False, left=False)
_shift("bitwise_right_shift_arithmetic", arithmetic=True, left=False)


@function("bit_count")
def _bit_count(value: Code, bits: Code) -> Code:
    if not isinstance(bits.value, int) or not value.type.is_integer:
        raise wrong_arguments("bit_count", [value, bits])
    if not 2 <= bits.value <= 64:
        raise SqlError("INVALID_FUNCTION_ARGUMENT", "Bits specified in bit_count must be 2 to 64")
    sql, most = coerced(value, BIGINT).sql, 1 << (bits.value - 1)
    message = f"'Number must be representable with the bits specified: {bits.value}'"
    wide = failing("INVALID_FUNCTION_ARGUMENT", message, "BIGINT")
    outside = f"{sql}::HUGEINT < -{most} OR {sql}::HUGEINT >= {most}"
    # a negative number has ones in front of its bits
    extra = f"CASE WHEN {sql} < 0 THEN {64 - bits.value} ELSE 0 END"
    count = f"(CAST(bit_count({sql}) AS BIGINT) - {extra})"
    return Code(f"CASE WHEN {outside} THEN {wide} ELSE {count} END", BIGINT)
