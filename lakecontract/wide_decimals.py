"""Decimals with more digits than Spark has, as exact text, from the bytes that Avro carries.

Avro's decimal is a whole number in two's complement, the highest byte first, and the number of its
digits after the point. Spark takes at most 38 digits, and refuses a wider type as a whole.
"""

from __future__ import annotations

__all__ = ["MOST_DIGITS", "exact_decimal", "scaled_text"]

MOST_DIGITS = 38
"""Most digits of a decimal, in Spark and in Parquet files."""

_HEX, _COMPLEMENT = "0123456789ABCDEF", "FEDCBA9876543210"
_LAST_DIGIT = "'^(.*?)([1-9A-F])(0*)$'"
"""Pattern of what precedes the last hexadecimal digit but zeros, that digit, and the zeros."""


def scaled_text(raw: str, scale: str) -> str:
    """Return Spark SQL of a decimal's text, as a template; null for no bytes at all.

    `raw` is Spark SQL of the bytes, `scale` of the number of digits after the point.
    """
    behind = f"greatest({scale}, 0)"
    # Put enough zeros in front, insert the point, then remove what is too much of both.
    padded = (
        f"concat(repeat('0', {behind} + 1), {_digits(f'hex({raw})')}, "
        f"repeat('0', greatest(-({scale}), 0)))"
    )
    pointed = f"regexp_replace({padded}, concat('([0-9]{{{{', {behind}, '}}}})$'), '.$1')"
    plain = f"regexp_replace(regexp_replace({pointed}, '[.]$', ''), '^0+([0-9])', '$1')"
    return f"CASE WHEN length({raw}) > 0 THEN concat(IF(hex({raw}) >= '8', '-', ''), {plain}) END"


def exact_decimal(raw: str, scale: int) -> str:
    """Return Spark SQL of a decimal of `MOST_DIGITS`; `raw` is Spark SQL of its bytes."""
    # Of a negative number its complement, which is one less without the sign: a half of the bytes
    # alone may be too large a number.
    is_negative = f"hex({raw}) >= '8'"
    plain = f"IF({is_negative}, translate(hex({raw}), '{_HEX}', '{_COMPLEMENT}'), hex({raw}))"
    high, low = (
        f"CAST(conv(substr(lpad({plain}, 32, '0'), {start}, 16), 16, 10) AS DECIMAL(20,0))"
        for start in (1, 17)
    )
    number = f"{high} * {2**64}BD + {low}"
    text = f"CAST(IF({is_negative}, -({number}) - 1, {number}) AS STRING)"
    return f"CAST(concat({text}, 'E-{scale}') AS DECIMAL({MOST_DIGITS},{scale}))"


def _digits(hexadecimal: str) -> str:
    """Return Spark SQL of the number without its sign.

    Spark has no function for so long a number. The class is from a library that Spark itself uses.
    """
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
