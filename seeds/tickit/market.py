"""Who offers which tickets, and who buys them.

A sale follows its listing in time and precedes the event, takes no more tickets than were
offered, and has the listing's seller and event.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seeds.columns import Ints
from seeds.tickit.year import DAY

__all__ = ["Listings", "Sales", "draw_listings", "draw_sales"]

_LEAD = 90 * DAY
"""Tickets are offered at most this long before the event."""
_LAST_LISTING = 6 * 3600
_LAST_SALE = 1 * 3600
"""Seconds before the event after which nothing is offered or sold."""
_MAX_SALES_PER_LISTING = 3


@dataclass(frozen=True)
class Listings:
    """Offers in the order of `listid`; the first has `listid` 1."""

    seller: Ints
    event: Ints
    tickets: Ints
    price: Ints
    """Cents per ticket."""
    time: Ints
    """Seconds into the data set's year."""


@dataclass(frozen=True)
class Sales:
    """Sales in the order of `salesid`; the first has `salesid` 1."""

    listing: Ints
    """Position in `Listings`, from 0."""
    buyer: Ints
    tickets: Ints
    time: Ints
    """Seconds into the data set's year."""


def draw_listings(count: int, *, events: Ints, users: int, rng: np.random.Generator) -> Listings:
    """`count` listings for events that start at the given seconds into the year."""
    event = rng.integers(0, len(events), count)
    earliest = np.maximum(0, events[event] - _LEAD)
    # The square root puts more of them near the event than long before it.
    moment = np.sqrt(rng.random(count))
    time = earliest + (moment * (events[event] - _LAST_LISTING - earliest)).astype(np.int64)
    # Squares of a uniform number, not exp or log, whose last bit depends on the processor.
    tickets = 1 + (29 * rng.random(count) ** 2).astype(np.int64)
    tickets = np.where(rng.random(count) < 0.7, (tickets + 1) // 2 * 2, tickets)
    dollars = 20 + (2_480 * (rng.random(count) ** 2) ** 2).astype(np.int64)
    odd_cents = rng.choice(np.array([0, 0, 0, 0, 0, 50, 95, 99, 25, 37]), count)
    return Listings(
        seller=rng.integers(1, users + 1, count),
        event=event + 1,
        tickets=tickets,
        price=dollars * 100 + odd_cents,
        time=time,
    )


def draw_sales(
    count: int, listings: Listings, *, events: Ints, users: int, rng: np.random.Generator
) -> Sales:
    """`count` sales out of the listings, of which there must be at least as many."""
    # Each listing offers as many chances of a sale as it can have sales; draw among those.
    chances = np.repeat(
        np.arange(len(listings.event)), np.minimum(listings.tickets, _MAX_SALES_PER_LISTING)
    )
    listing = np.sort(rng.permutation(chances)[:count])
    # Shares of the offer that cannot add up to more than the offer, however many sales it has.
    share = listings.tickets[listing] // np.bincount(listing)[listing]
    tickets = 1 + (rng.random(count) * share).astype(np.int64)
    # A buyer is somebody else; with a single user there is nobody else.
    other = rng.integers(1, max(users, 2), count)
    buyer = (listings.seller[listing] - 1 + other) % users + 1
    earliest = listings.time[listing] + 60
    latest = events[listings.event[listing] - 1] - _LAST_SALE
    time = earliest + (rng.random(count) * (latest - earliest)).astype(np.int64)
    return Sales(listing=listing, buyer=buyer, tickets=tickets, time=time)
