"""Draws artworks: whose they are, what they are, how large, and when they came to the museum."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seeds.columns import (
    Flags,
    Ints,
    Values,
    join,
    null_where,
    pick,
    pick_from,
    text,
    weighted,
    where,
)
from seeds.moma import words
from seeds.moma.people import donor_names
from seeds.moma.sizes import Sizes, draw_sizes

__all__ = ["draw_artworks"]

Columns: TypeAlias = "list[npt.NDArray[Any] | Values]"

_KINDS = words.CLASSIFICATIONS
_MEDIA = list(words.MEDIA)
_FIRST_DAY = np.datetime64("1929-11-19")
_DAYS = (np.datetime64("2016-10-01") - _FIRST_DAY).astype(int)
_MEETINGS = 1_600
"""Days on which artworks were acquired, some of them many at once."""
_LAST_YEAR = 2015


def draw_artworks(ids: Ints, artists: pa.Table, rng: np.random.Generator) -> Columns:
    """Draw the columns of artworks with these keys, by these artists."""
    count = len(ids)
    artist = _makers(artists.num_rows, count, rng)
    kind = weighted([one.weight for one in _KINDS], count, rng)
    # What was never catalogued has no department either, nor a number.
    is_uncatalogued = rng.random(count) < 0.088
    made = _years(artists["birth_year"].combine_chunks(), artist, rng)
    day = _acquired(made, rng)
    year = day.astype("datetime64[Y]").astype(np.int64) + 1970
    shape = np.array([one.shape for one in _KINDS])[kind]
    sizes = draw_sizes(shape, is_measured=~is_uncatalogued, rng=rng)
    return [
        ids,
        null_where(rng.random(count) < 0.0004, _titles(ids, rng)),
        artists["artist_id"].combine_chunks().take(artist),
        artists["name"].combine_chunks().take(artist),
        null_where(rng.random(count) < 0.37, pa.array(made)),
        null_where(rng.random(count) < 0.087, _media(kind, rng)),
        sizes.described,
        null_where(is_uncatalogued | (rng.random(count) < 0.029), pa.array(day).cast(pa.string())),
        null_where(is_uncatalogued & (rng.random(count) < 0.95), _credits(count, rng)),
        null_where(is_uncatalogued, where(rng.random(count) < 0.55, "Y", "N")),
        null_where(is_uncatalogued, pick([one.department for one in _KINDS], kind)),
        _classifications(kind, is_uncatalogued, rng),
        null_where(is_uncatalogued, _numbers(kind, year, rng)),
        *_columns(sizes),
        null_where(
            (shape != "moving") | (rng.random(count) < 0.45), pa.array(_durations(count, rng))
        ),
    ]


def _columns(sizes: Sizes) -> list[Values]:
    return [
        sizes.diameter,
        sizes.circumference,
        sizes.height,
        sizes.length,
        sizes.width,
        sizes.depth,
        sizes.weight,
    ]


def _makers(artists: int, count: int, rng: np.random.Generator) -> Ints:
    """Position of each artwork's artist: a few made very many of them."""
    share = rng.random(count)
    rank = (share * share * share * artists).astype(np.int64)
    makers: Ints = rng.permutation(artists)[rank]
    return makers


def _years(born: pa.Array[Any], artist: Ints, rng: np.random.Generator) -> Ints:
    """Draw the year of each artwork, within its artist's life where that is known."""
    births = born.fill_null(0).to_numpy()[artist].astype(np.int64)
    births = np.where(births == 0, rng.integers(1850, 1970, len(artist)), births)
    years: Ints = np.minimum(births + 20 + rng.integers(0, 46, len(artist)), _LAST_YEAR)
    return years


def _acquired(made: Ints, rng: np.random.Generator) -> npt.NDArray[np.datetime64]:
    """Draw the day each artwork came to the museum, after it was made: many on few days."""
    offsets = np.sort(rng.choice(_DAYS, _MEETINGS, replace=False))
    meetings = _FIRST_DAY + offsets.astype("timedelta64[D]")
    years = meetings.astype("datetime64[Y]").astype(np.int64) + 1970
    earliest = np.minimum(np.searchsorted(years, made, side="right"), _MEETINGS - 1)
    share = rng.random(len(made))
    popular = rng.permutation(_MEETINGS)[(share * share * share * _MEETINGS).astype(np.int64)]
    later = earliest + (rng.random(len(made)) * (_MEETINGS - earliest)).astype(np.int64)
    days: npt.NDArray[np.datetime64] = meetings[np.where(popular >= earliest, popular, later)]
    return days


def _titles(ids: Ints, rng: np.random.Generator) -> Values:
    count = len(ids)
    adjective, noun, other = (
        pick(of, rng.integers(0, len(of), count))
        for of in (words.ADJECTIVES, words.NOUNS, words.NOUNS)
    )
    series = pick(words.SERIES, rng.integers(0, len(words.SERIES), count))
    foreign = pick(words.FOREIGN_TITLES, rng.integers(0, len(words.FOREIGN_TITLES), count))
    plain = pick(words.PLAIN_TITLES, rng.integers(0, len(words.PLAIN_TITLES), count))
    folio = text(rng.integers(1, 120, count))
    ways: list[tuple[int, Values | str]] = [
        (180, join(noun, " with ", other)),
        (120, join("Plate (folio ", folio, ") from ", series)),
        (60, join(noun, " no. ", folio, " (", adjective, ")")),
        (56, "Untitled"),
        (40, join('Untitled, "', noun, '"')),
        (60, join(noun, "/", other)),
        (60, foreign),
        (24, plain),
    ]
    way = weighted([400, *(weight for weight, _ in ways)], count, rng)
    chosen = join(adjective, noun, separator=" ")
    for position, (_, title) in enumerate(ways, start=1):
        chosen = where(way == position, title, chosen)
    return chosen


def _media(kind: Ints, rng: np.random.Generator) -> Values:
    group = np.array([_MEDIA.index(one.medium) for one in _KINDS])[kind]
    return pick_from(list(words.MEDIA.values()), group, rng)


def _credits(count: int, rng: np.random.Generator) -> Values:
    usual = pick(words.CREDITS, rng.integers(0, len(words.CREDITS), count))
    donor = join("Gift of ", donor_names(count, rng))
    return where(rng.random(count) < 0.4, donor, usual)


def _classifications(kind: Ints, is_uncatalogued: Flags, rng: np.random.Generator) -> Values:
    name = where(is_uncatalogued, "(not assigned)", pick([one.name for one in _KINDS], kind))
    # Few have none at all, so that a partition for null is needed.
    return null_where(is_uncatalogued & (rng.random(len(kind)) < 0.03), name)


def _numbers(kind: Ints, year: Ints, rng: np.random.Generator) -> Values:
    """Numbers of accession, as `223.2005.1-12`: counted within the year, so all different."""
    order = np.argsort(year, kind="stable")
    ordered = year[order]
    within = np.empty(len(year), np.int64)
    within[order] = np.arange(len(year)) - np.searchsorted(ordered, ordered) + 1
    number = join(text(within), text(year), separator=".")
    suffix = pick(
        ["", ".1", ".2", ".1-12", ".a-b", ".x1-x6"],
        weighted([60, 17, 15, 3, 3, 2], len(year), rng),
    )
    is_fluxus = np.array([one.department == "Fluxus Collection" for one in _KINDS])[kind]
    return where(is_fluxus, join("FC", number), join(number, suffix))


def _durations(count: int, rng: np.random.Generator) -> Ints:
    """Seconds, most of them in whole minutes."""
    seconds = 10 + (7_000 * rng.random(count) ** 2).astype(np.int64)
    rounded: Ints = np.where(rng.random(count) < 0.7, (seconds + 59) // 60 * 60, seconds)
    return rounded
