"""Longer time limits for a machine whose load exceeds its number of cores."""

from __future__ import annotations

import os

__all__ = ["BUSY_AT_MOST", "when_busy"]

BUSY_AT_MOST = 5.0
"""Maximum factor by which a time limit grows on a busy machine."""


def when_busy(seconds: float) -> float:
    """Return a time limit for the current load; `seconds` is the limit on an idle machine.

    A load of twice the number of cores doubles the limit, and so on up to a factor of
    `BUSY_AT_MOST`.
    """
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * min(max(busy, 1.0), BUSY_AT_MOST)
