"""Draws sizes: in words, with inches and centimetres, and as the texts of single measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from seeds.columns import Flags, Ints, Values, join, null_where, pick, text, where

__all__ = ["Sizes", "draw_sizes"]

_FRACTIONS = tuple(
    "" if n == 0 else next(f" {n // d}/{16 // d}" for d in (8, 4, 2, 1) if n % d == 0)
    for n in range(16)
)
"""Sixteenths of an inch, reduced: ` 3/8`."""


@dataclass(frozen=True)
class Sizes:
    """One value an artwork; null where it was not measured."""

    described: Values
    """`8 9/16 x 11 3/16" (21.7 x 28.4 cm)`"""
    diameter: Values
    circumference: Values
    height: Values
    length: Values
    width: Values
    depth: Values
    weight: Values


def draw_sizes(
    shape: npt.NDArray[np.str_], *, is_measured: Flags, rng: np.random.Generator
) -> Sizes:
    """Sizes of artworks of these shapes (`Classification.shape`)."""
    count = len(shape)
    # In sixteenths of an inch; products of uniform numbers: many are small, few very large.
    height, width, depth = (
        24 + (spread * rng.random(count) ** 2).astype(np.int64) for spread in (760, 900, 400)
    )
    is_moving, is_solid = shape == "moving", shape == "solid"
    has_depth = is_solid & (rng.random(count) < 0.7)
    is_described = ~is_moving & (rng.random(count) >= 0.06)
    mark = where(rng.random(count) < 0.8, '"', "'")
    sign = where(rng.random(count) < 0.85, " x ", " × ")
    described = join(
        pick(["", "", "", "Approx. ", "irreg. composition  ", "Each: "], rng.integers(0, 6, count)),
        _inches(height),
        sign,
        _inches(width),
        where(has_depth, join(sign, _inches(depth)), ""),
        mark,
        " (",
        _short(height),
        sign,
        _short(width),
        where(has_depth, join(sign, _short(depth)), ""),
        " cm)",
    )
    measured = is_measured & is_described & (rng.random(count) < 0.92)

    def some(share: float, values: Values) -> Values:
        return null_where(~is_measured | ~is_solid | (rng.random(count) >= share), values)

    zero = rng.random(count) < 0.02
    return Sizes(
        described=null_where(~is_described, described),
        diameter=some(0.07, _cm(depth)),
        circumference=some(0.004, _cm(depth * 3)),
        height=null_where(~measured, where(zero, "0", _cm(height))),
        length=some(0.05, _cm(width)),
        width=null_where(~measured, where(zero, "0", _cm(width))),
        depth=null_where(~measured | ~has_depth, where(rng.random(count) < 0.3, "0", _cm(depth))),
        # Pounds in grams, as texts of kilograms.
        weight=some(0.03, _decimal(depth * 4_536, 4)),
    )


def _inches(sixteenths: Ints) -> Values:
    return join(text(sixteenths // 16), pick(_FRACTIONS, sixteenths % 16))


def _cm(sixteenths: Ints) -> Values:
    """Centimetres, exactly: `35.56125`."""
    return _decimal(sixteenths * 15_875, 5)


def _short(sixteenths: Ints) -> Values:
    """Centimetres, to the millimetre: `35.6`."""
    return _decimal((sixteenths * 15_875 + 5_000) // 10_000, 1)


def _decimal(number: Ints, places: int) -> Values:
    """Write a number with so many decimal places, without zeros at its end."""
    digits = join(
        text(number // 10**places), text(number % 10**places, width=places), separator="."
    )
    trimmed: Values = pc.utf8_rtrim(pc.utf8_rtrim(digits, "0"), ".")
    return trimmed
