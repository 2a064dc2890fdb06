"""Functions of numbers with the results that Java has outside of their range."""

from __future__ import annotations

import math
from collections.abc import Callable

from sqlapi.sql.code import failure

__all__ = [
    "cbrt",
    "guarded",
    "guarded_pair",
    "ln",
    "log",
    "log2",
    "log10",
    "round_to",
    "width_bucket",
]


def width_bucket(x: float, low: float, high: float, count: int) -> int:
    if count <= 0 or low == high or not all(map(math.isfinite, (x, low, high))):
        raise failure("INVALID_FUNCTION_ARGUMENT", "bucketCount must be greater than 0")
    if low > high:
        return count + 1 - width_bucket(x, high, low, count)
    if x < low:
        return 0
    return count + 1 if x >= high else int(count * (x - low) / (high - low) + 1)


def round_to(value: float, digits: int) -> float:
    if not math.isfinite(value):
        return value
    factor = math.pow(10, digits)
    scaled = abs(value) * factor
    if scaled >= 2**63:
        raise failure("NOT_SUPPORTED", "round of a number of this size")
    return math.copysign(math.floor(scaled + 0.5) / factor, value)


def java_math(compute: Callable[..., float], *values: float) -> float:
    """Compute a function; outside of its range return NaN or infinity, as Java does."""
    if compute is math.pow and abs(values[0]) == 1 and not math.isfinite(values[1]):
        return math.nan
    try:
        return float(compute(*values))
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def guarded(compute: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: java_math(compute, x)


def guarded_pair(compute: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda x, y: java_math(compute, x, y)


def cbrt(x: float) -> float:
    """Return the cube root of a cube; Java's others differ in the last digit."""
    root = math.cbrt(x)
    if math.isfinite(x) and round(root) ** 3 != x:
        raise failure("NOT_SUPPORTED", "cbrt of other numbers than cubes")
    return float(round(root)) if math.isfinite(x) else root


def ln(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


def log10(x: float) -> float:
    return -math.inf if x == 0 else math.log10(x)


def log2(x: float) -> float:
    return math.log(x) / math.log(2) if x else -math.inf


def log(base: float, x: float) -> float:
    return math.log(x) / math.log(base)
