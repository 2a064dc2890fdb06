"""The generated TICKIT data set: the original's row counts, types, relations and null patterns.

Deterministic: the same scale gives the same rows on every machine. Each table draws from its own
random stream, so that a change to one leaves the others as they were.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seeds import table_declarations
from seeds.columns import (
    Ints,
    Values,
    filled,
    join,
    money,
    null_where,
    pick,
    pick_from,
    stream,
    text,
    weighted,
)
from seeds.tickit import words
from seeds.tickit.market import Listings, draw_listings, draw_sales
from seeds.tickit.schema import TABLES
from seeds.tickit.year import DATES, DAY, date_ids, timestamps

__all__ = ["generate", "row_counts"]

_SEED = 2008
_CATEGORY_WEIGHTS = (2, 2, 2, 2, 2, 20, 20, 10, 30, 5, 5)
_CURTAIN_TIMES = tuple(60 * minutes for minutes in (14 * 60, 14 * 60 + 30, 15 * 60))
_EVENING_TIMES = tuple(60 * minutes for minutes in (19 * 60, 19 * 60 + 30, 20 * 60))
_FIRST_EVENT_DAY = 14
"""No event in the first fortnight: its tickets would have had to be listed the year before."""

Column: TypeAlias = "npt.NDArray[np.generic] | Values | Sequence[object]"


def row_counts(scale: float = 1.0) -> dict[str, int]:
    """Rows per table at a scale; LabError (usage) for one that makes no data set."""
    return table_declarations.row_counts(TABLES, scale)


def generate(scale: float = 1.0) -> dict[str, pa.Table]:
    """Generate all seven tables, with the schemas of `TABLES`, ordered by key.

    Raises `LabError` (usage) for a scale outside `0 < scale <= 1000`.
    """
    rows = row_counts(scale)
    venues = _venues(rows["venue"], _stream("venue"))
    events = _draw_events(rows["event"], _stream("event"))
    listings = draw_listings(
        rows["listing"], events=events.start, users=rows["user"], rng=_stream("listing")
    )
    return {
        "category": _table("category", list(zip(*words.CATEGORIES, strict=True))),
        "venue": venues,
        "event": _events(events),
        "date": _dates(),
        "listing": _listings(listings),
        "sale": _sales(rows["sale"], listings, events=events.start, users=rows["user"]),
        "user": _users(rows["user"], _stream("user")),
    }


def _stream(name: str) -> np.random.Generator:
    return stream(_SEED, name)


def _table(name: str, columns: Sequence[Column]) -> pa.Table:
    return filled(TABLES[name], columns)


def _venues(count: int, rng: np.random.Generator) -> pa.Table:
    city = np.sort(rng.integers(0, len(words.CITIES), count))
    kind = rng.integers(0, len(words.VENUE_KINDS), count)
    bounds = np.array([(low, high) for _, low, high in words.VENUE_KINDS])[kind]
    # Whole hundreds; a kind without known seats stays at 0, as unknown seats do in the original.
    seats = rng.integers(bounds[:, 0], bounds[:, 1] + 1) // 100 * 100
    # Distinct within the data set: a name and kind are used again only in another city.
    name = (np.arange(count) + rng.integers(len(words.VENUE_NAMES))) % len(words.VENUE_NAMES)
    title = join(
        pick(words.VENUE_NAMES, name),
        pick([k for k, _, _ in words.VENUE_KINDS], kind),
        separator=" ",
    )
    return _table(
        "venue",
        [
            np.arange(1, count + 1),
            title,
            pick([c for c, _ in words.CITIES], city),
            pick([s for _, s in words.CITIES], city),
            null_where(rng.random(count) < 0.08, pa.array(seats)),
        ],
    )


@dataclass(frozen=True)
class _Events:
    venue: Ints
    category: Ints
    name: Values
    start: Ints
    """Seconds into the data set's year."""
    announced: npt.NDArray[np.bool_]
    """False where the time of day is still to be announced."""


def _draw_events(count: int, rng: np.random.Generator) -> _Events:
    category = weighted(_CATEGORY_WEIGHTS, count, rng)
    name = pick_from([words.PROGRAMME[catid] for catid, *_ in words.CATEGORIES], category, rng)
    day = rng.integers(_FIRST_EVENT_DAY, len(DATES), count)
    times = np.array(_CURTAIN_TIMES + _EVENING_TIMES * 2)
    return _Events(
        venue=rng.integers(1, TABLES["venue"].rows + 1, count),
        category=category + 1,
        name=name,
        start=day * DAY + rng.choice(times, count),
        announced=rng.random(count) >= 0.004,
    )


def _events(events: _Events) -> pa.Table:
    return _table(
        "event",
        [
            np.arange(1, len(events.start) + 1),
            events.venue,
            events.category,
            date_ids(events.start),
            events.name,
            null_where(~events.announced, pa.array(timestamps(events.start))),
        ],
    )


def _dates() -> pa.Table:
    day_of_week = (DATES.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    month = DATES.astype("datetime64[M]").astype(np.int64) % 12
    return _table(
        "date",
        [
            date_ids(np.arange(len(DATES)) * DAY),
            DATES,
            pick(words.WEEKDAYS, day_of_week),
            np.arange(len(DATES)) // 7 + 1,
            pick(words.MONTHS, month),
            pick("1234", month // 3),
            np.full(len(DATES), 2008),
            np.isin(DATES, np.array(words.HOLIDAYS, "datetime64[D]")),
        ],
    )


def _listings(listings: Listings) -> pa.Table:
    return _table(
        "listing",
        [
            np.arange(1, len(listings.event) + 1),
            listings.seller,
            listings.event,
            date_ids(listings.time),
            listings.tickets,
            money(listings.price),
            money(listings.price * listings.tickets),
            timestamps(listings.time),
        ],
    )


def _sales(count: int, listings: Listings, *, events: Ints, users: int) -> pa.Table:
    sales = draw_sales(count, listings, events=events, users=users, rng=_stream("sale"))
    paid = listings.price[sales.listing] * sales.tickets
    return _table(
        "sale",
        [
            np.arange(1, count + 1),
            sales.listing + 1,
            listings.seller[sales.listing],
            sales.buyer,
            listings.event[sales.listing],
            date_ids(sales.time),
            sales.tickets,
            money(paid),
            money((paid * 15 + 50) // 100),  # 15 %, half a cent rounded up
            timestamps(sales.time),
        ],
    )


def _users(count: int, rng: np.random.Generator) -> pa.Table:
    first = rng.integers(0, len(words.FIRST_NAMES), count)
    last = rng.integers(0, len(words.LAST_NAMES), count)
    city = rng.integers(0, len(words.CITIES), count)
    homeless = rng.random(count) < 0.003
    mail = join(
        pick([_ascii(n) for n in words.FIRST_NAMES], first),
        pick([_ascii(n) for n in words.LAST_NAMES], last),
        text(np.arange(1, count + 1)),
        separator=".",
    )
    domain = pick(words.MAIL_DOMAINS, rng.integers(0, len(words.MAIL_DOMAINS), count))
    likes = [
        null_where(rng.random(count) < 0.4, pa.array(rng.random(count) < 0.5))
        for field in TABLES["user"].arrow
        if field.name.startswith("like")
    ]
    return _table(
        "user",
        [
            np.arange(1, count + 1),
            _usernames(count),
            pick(words.FIRST_NAMES, first),
            pick(words.LAST_NAMES, last),
            null_where(homeless, pick([c for c, _ in words.CITIES], city)),
            null_where(homeless, pick([s for _, s in words.CITIES], city)),
            join(mail, "@", domain),
            null_where(rng.random(count) < 0.01, _phones(count, rng)),
            *likes,
        ],
    )


def _ascii(name: str) -> str:
    """Write a name as a mail address has it."""
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o")).encode("ascii", "ignore")
    return plain.decode().replace("'", "").lower()


def _usernames(count: int) -> Values:
    """Three letters, two digits, three letters; all different.

    Multiplying by a number coprime to the size of that space visits it without repeating.
    """
    space = 26**6 * 100
    code = np.arange(1, count + 1) * 7_919_191_919 % space
    parts = []
    for radix in (26, 26, 26, 10, 10, 26, 26, 26):
        code, digit = np.divmod(code, radix)
        parts.append(pick("0123456789" if radix == 10 else "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digit))
    return join(*parts)


def _phones(count: int, rng: np.random.Generator) -> Values:
    """`(212) 555-0142`, with the exchange 555 that is kept free for fiction."""
    area = text(rng.integers(201, 990, count))
    line = text(rng.integers(0, 10_000, count), width=4)
    return join("(", area, ") 555-", line)
