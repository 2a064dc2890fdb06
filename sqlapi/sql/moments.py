"""Skewness and kurtosis by one pass over the values, as Trino computes them."""

from __future__ import annotations

import math

__all__ = ["kurtosis", "skewness"]


def skewness(values: list[float | None]) -> float | None:
    """Return the skewness; None for fewer than three values."""
    n, _, m2, m3, _ = _moments(values)
    return None if n < 3 else _ratio(math.sqrt(n) * m3, math.pow(m2, 1.5))


def kurtosis(values: list[float | None]) -> float | None:
    """Return the excess kurtosis of a sample; None for fewer than four values."""
    n, _, m2, _, m4 = _moments(values)
    if n < 4:
        return None
    factor = (n - 1) * n * (n + 1) / ((n - 2) * (n - 3))
    return _ratio(factor * m4, m2 * m2) - 3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3))


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.nan


def _moments(values: list[float | None]) -> tuple[int, float, float, float, float]:
    """Return the number of values, their mean, and the second to fourth central sums.

    The formulas are Pebay's for one more value (Sandia report SAND2008-6212).
    """
    n, mean, m2, m3, m4 = 0, 0.0, 0.0, 0.0, 0.0
    for value in values:
        if value is None:
            continue
        n += 1
        delta = value - mean
        step = delta / n
        spread = delta * step * (n - 1)
        mean += step
        square = step * step
        m4 += spread * square * (n * n - 3 * n + 3) + 6 * square * m2 - 4 * step * m3
        m3 += spread * step * (n - 2) - 3 * step * m2
        m2 += spread
    return n, mean, m2, m3, m4
