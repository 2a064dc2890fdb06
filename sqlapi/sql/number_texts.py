"""Texts that Java makes of doubles and reals."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np

__all__ = [
    "double_cast",
    "format_bits",
    "format_fixed",
    "java_double",
    "java_real",
    "real_cast",
    "short_number",
]


def java_double(value: float) -> str:
    """Return the string of Java's Double.toString: 1.0, 1.0E-4, NaN, Infinity."""
    return _java(value, repr)


def java_real(value: float) -> str:
    """Return the string of Java's Float.toString, for a 32-bit value."""
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
    if len(digits) == 1:
        # two digits are closer to the smallest numbers: 4.9E-324
        near, _, exponent = f"{abs(value):.1e}".partition("e")
        digits, point = near.replace(".", "").rstrip("0"), int(exponent) + 1
    if -3 < point <= 7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        padded = digits.ljust(point, "0")
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def double_cast(value: float) -> str:
    """Return the text that CAST makes of a double: 1.5E0, 0E0, NaN."""
    return _scientific(value, java_double(value))


def real_cast(value: float) -> str:
    """Return the text that CAST makes of a real."""
    if value and math.isfinite(value):
        # a real is shown with seven digits
        mantissa, _, exponent = f"{value:.6e}".partition("e")
        whole, _, part = mantissa.partition(".")
        return f"{whole}.{part.rstrip('0') or '0'}E{int(exponent)}"
    return _scientific(value, java_double(value))


def format_fixed(shown: str, digits: int, grouped: bool) -> str:
    """Return a number with so many digits, half of the last one rounded up, as Java's `%.2f`."""
    if shown in ("NaN", "Infinity", "-Infinity"):
        return shown
    with localcontext() as context:
        context.prec = 400 + digits
        rounded = Decimal(shown).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        return format(rounded, ",f" if grouped else "f")


def short_number(value: int) -> str:
    """Return a number with a unit and about three digits: 1.24K, 12.3M."""
    size, units = float(abs(value)), ["", "K", "M", "B", "T", "Q"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    digits = 2 if size < 10 else 1 if size < 100 else 0
    rounded = Decimal(size).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    shown = format(rounded, "f")
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return f"{'-' if value < 0 else ''}{shown}{units[0]}"


def format_bits(value: int, width: int, letter: str) -> str:
    """Return the bits of a number of `width` bits as `%x`, `%X` or `%o` writes them."""
    return format(value & ((1 << width) - 1), letter)


def _scientific(value: float, shown: str) -> str:
    if not math.isfinite(value):
        return shown
    if value == 0:
        return "-0E0" if shown.startswith("-") else "0E0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = shown.lstrip("-").partition("E")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) - (len(whole + part) - len(digits)) - 1 + int(exponent or 0)
    return f"{sign}{digits[0]}.{digits[1:].rstrip('0') or '0'}E{point}"
