"""Decimals with more digits than Spark has, as exact text, from the bytes that Avro carries.

Avro's decimal is a whole number in two's complement, the highest byte first, and how many of its
digits stand behind the point. Spark takes 38 digits of it at most, and refuses a wider type whole.
"""

from __future__ import annotations

__all__ = ["MOST_DIGITS", "scaled_text"]

MOST_DIGITS = 38
"""Of a decimal, in Spark and in Parquet files."""

_HEX, _COMPLEMENT = "0123456789ABCDEF", "FEDCBA9876543210"
_LAST_DIGIT = "'^(.*?)([1-9A-F])(0*)$'"
"""What stands before the last hexadecimal digit that is not zero, that digit, and the zeros."""


def scaled_text(raw: str, scale: str) -> str:
    """Return Spark SQL of a decimal's text; null for no bytes at all.

    `raw` is Spark SQL of the bytes, `scale` of the number of digits behind the point.
    """
    digits = _digits(f"hex({raw})")
    padded = f"lpad({digits}, greatest(length({digits}), {scale} + 1), '0')"
    return (
        f"CASE WHEN length({raw}) > 0 THEN concat(IF(hex({raw}) >= '8', '-', ''), "
        f"IF({scale} <= 0, IF({digits} = '0', '0', concat({digits}, repeat('0', -({scale})))), "
        f"concat(left({padded}, length({padded}) - {scale}), '.', right({padded}, {scale})))) END"
    )


def _digits(hexadecimal: str) -> str:
    """Spark SQL of the number without its sign. Spark has no function for so long a number; the
    class is of a library that Spark itself uses."""
    parts = [f"regexp_extract({hexadecimal}, {_LAST_DIGIT}, {group})" for group in (1, 2, 3)]
    negated = (
        f"concat(translate({parts[0]}, '{_HEX}', '{_COMPLEMENT}'), "
        f"translate({parts[1]}, '{_HEX[1:]}', '{_COMPLEMENT[:-1]}'), {parts[2]})"
    )
    magnitude = f"IF({hexadecimal} >= '8', {negated}, {hexadecimal})"
    return (
        "reflect('org.apache.commons.lang3.math.NumberUtils', 'createBigInteger', "
        f"concat('0x', {magnitude}))"
    )
