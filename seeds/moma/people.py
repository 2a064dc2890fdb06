"""Draws invented names: of persons, in the scripts of their nationality, and of firms."""

from __future__ import annotations

import numpy as np

from seeds.columns import Flags, Ints, Values, join, pick, pick_from, where
from seeds.moma.names import CITIES, LATIN_OF, NATIVE_OF, NICKNAMES, PEOPLES
from seeds.moma.words import NATIONALITIES

__all__ = ["artist_names", "donor_names"]

_POSITION = {people: position for position, people in enumerate(PEOPLES)}
_LATIN = np.array(
    [_POSITION[LATIN_OF.get(name, "other")] for name, _ in NATIONALITIES] + [_POSITION["english"]]
)
"""Position in `PEOPLES` by nationality; the last for an unknown one (-1)."""
_NATIVE = np.array(
    [
        _POSITION[NATIVE_OF[name]] if name in NATIVE_OF else latin
        for (name, _), latin in zip(NATIONALITIES, _LATIN[:-1], strict=True)
    ]
    + [_POSITION["english"]]
)


def artist_names(nationality: Ints, *, may_be_firm: Flags, rng: np.random.Generator) -> Values:
    """Return a name for each artist of these positions in `NATIONALITIES` (-1: unknown)."""
    count = len(nationality)
    people = np.where(rng.random(count) < 0.15, _NATIVE[nationality], _LATIN[nationality])
    family = _families(people, rng)
    names = _person(people, family, rng)
    is_firm = may_be_firm & (rng.random(count) < 0.6)
    return where(is_firm, _firm(family, _families(people, rng), rng), names)


def donor_names(count: int, rng: np.random.Generator) -> Values:
    """Names of those that give artworks away."""
    people = rng.integers(0, _POSITION["cyrillic"], count)
    return _person(people, _families(people, rng), rng)


def _families(people: Ints, rng: np.random.Generator) -> Values:
    return pick_from([p.family for p in PEOPLES.values()], people, rng)


def _person(people: Ints, family: Values, rng: np.random.Generator) -> Values:
    given = pick_from([p.given for p in PEOPLES.values()], people, rng)
    separator = pick([p.separator for p in PEOPLES.values()], people)
    family_first = np.array([p.family_first for p in PEOPLES.values()])[people]
    kind = rng.random(len(people))
    nick = pick(NICKNAMES, rng.integers(0, len(NICKNAMES), len(people)))
    # Only where the given name comes first: a nickname in quotes or parentheses, a second name.
    name = where(
        kind < 0.01,
        join(given, ' "', nick, '" ', family),
        where(
            kind < 0.014,
            join(given, " (", nick, ") ", family),
            where(
                kind > 0.99, join(given, separator, family, ", Jr."), join(given, separator, family)
            ),
        ),
    )
    return where(family_first, join(family, separator, given), name)


def _firm(one: Values, two: Values, rng: np.random.Generator) -> Values:
    count = len(one)
    city = pick(CITIES, rng.integers(0, len(CITIES), count))
    kind = rng.random(count)
    return where(
        kind < 0.4,
        join(one, " & ", two),
        where(
            kind < 0.6,
            join("Atelier ", one, ", ", city),
            where(
                kind < 0.8,
                join(one, "/", two, " GmbH"),
                where(
                    kind < 0.9,
                    join(one, " | ", two, " Corporation"),
                    join("Studio ", one, " (", city, ")"),
                ),
            ),
        ),
    )
