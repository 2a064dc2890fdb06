"""The generated MoMA data set: the original's counts, gaps and unevenness, with invented values.

Deterministic: the same scale gives the same rows on every machine. Each table draws from its own
random stream, so that a change to one leaves the other as it was.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from seeds import table_declarations
from seeds.columns import Ints, filled, null_where, pick, stream, weighted
from seeds.moma import words
from seeds.moma.artworks import draw_artworks
from seeds.moma.people import artist_names
from seeds.moma.schema import TABLES

__all__ = ["FIRST_ID", "generate", "row_counts"]

FIRST_ID = 3
"""The first key of both tables, at every scale: the first that all original files have."""

_SEED = 1929
_ID_STEPS = {"artists": 8, "artworks": 3}
"""Keys have gaps, each of them smaller than this."""
_LAST_YEAR = 2017

_GAPS = (
    (5877, ("death_year",)),
    (4434, ()),
    (1578, ("nationality", "gender", "birth_year", "death_year")),
    (1005, ("birth_year", "death_year")),
    (629, ("gender", "birth_year", "death_year")),
    (622, ("nationality", "birth_year", "death_year")),
    (560, ("gender", "death_year")),
    (194, ("nationality", "gender", "death_year")),
    (85, ("gender",)),
    (40, ("nationality", "death_year")),
    (33, ("nationality",)),
    (19, ("nationality", "gender")),
    (13, ("birth_year",)),
)
"""Columns of an artist that are null together in the original, and how often."""


def row_counts(scale: float = 1.0) -> dict[str, int]:
    """Rows per table at a scale; LabError (usage) for one that makes no data set."""
    return table_declarations.row_counts(TABLES, scale)


def generate(scale: float = 1.0) -> dict[str, pa.Table]:
    """Both tables, with the schemas of `TABLES`, ordered by key.

    Raises `LabError` (usage) for a scale outside `0 < scale <= 1000`.
    """
    rows = row_counts(scale)
    artists = _artists(rows["artists"], stream(_SEED, "artists"))
    rng = stream(_SEED, "artworks")
    ids = _ids("artworks", rows["artworks"], rng)
    artworks = draw_artworks(ids, artists, rng)
    return {"artists": artists, "artworks": filled(TABLES["artworks"], artworks)}


def _ids(table: str, count: int, rng: np.random.Generator) -> Ints:
    steps = rng.integers(1, _ID_STEPS[table] + 1, count)
    steps[0] = FIRST_ID
    ids: Ints = np.cumsum(steps)
    return ids


def _artists(count: int, rng: np.random.Generator) -> pa.Table:
    gaps = weighted([weight for weight, _ in _GAPS], count, rng)
    missing = {
        column.name: np.array([column.name in columns for _, columns in _GAPS])[gaps]
        for column in TABLES["artists"].columns
    }
    nationality = weighted([weight for _, weight in words.NATIONALITIES], count, rng)
    gender = weighted([weight for _, weight in words.GENDERS], count, rng)
    is_dead = ~missing["death_year"]
    # Two uniform numbers make a hump: most of the dead were born around 1895, of the living 1950.
    hump = rng.integers(0, 60, count) + rng.integers(0, 60, count)
    born = np.where(is_dead, 1835, 1890) + hump
    born = np.where(rng.random(count) < 0.02, rng.integers(1730, 1840, count), born)
    died = np.minimum(
        born + 30 + rng.integers(0, 35, count) + rng.integers(0, 31, count), _LAST_YEAR
    )
    return filled(
        TABLES["artists"],
        [
            _ids("artists", count, rng),
            artist_names(
                np.where(missing["nationality"], -1, nationality),
                may_be_firm=missing["gender"] & missing["birth_year"],
                rng=rng,
            ),
            null_where(
                missing["nationality"], pick([name for name, _ in words.NATIONALITIES], nationality)
            ),
            null_where(missing["gender"], pick([name for name, _ in words.GENDERS], gender)),
            null_where(missing["birth_year"], pa.array(born)),
            null_where(missing["death_year"], pa.array(died)),
        ],
    )
